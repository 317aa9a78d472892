import { useState } from 'preact/hooks';
import { serializeBocBase64 } from '#formats/cells/boc-serialize.js';
import type { BlockId } from '../../api/answers.js';
import { commentCell } from '../../chain/wallet-transfer.js';
import { hexOf } from '../../format/chain-text.js';
import { useSubmit } from '../../live/use-submit.js';
import { Act, Field } from '../../parts/act.js';
import { McBlockLink } from '../../parts/reference.js';
import { pathOf } from '../../routing/location.js';
import { Link } from '../../routing/router.js';
import { control, typedAddress, typedTon } from '../local.js';

/** A message from any address, without its consent. */
export function Impersonation() {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [value, setValue] = useState('1');
  const [body, setBody] = useState('');
  const submit = useSubmit(async () => {
    const request = {
      ...{ from: typedAddress(from), to: typedAddress(to), value: String(typedTon(value)) },
      ...(body.trim() === '' ? {} : { body: bodyOf(body.trim()) }),
    };
    return control<{ readonly message_hash: string; readonly block: BlockId }>('impersonate', request);
  });
  return (
    <Act
      submit={submit}
      label="Deliver"
      done={({ message_hash }) => <Link to={pathOf(['message', hexOf(message_hash)])}>Follow the message.</Link>}
    >
      <Field label="From" value={from} onChange={setFrom} placeholder="any address" required />
      <Field label="To" value={to} onChange={setTo} required />
      <Field label="Value in TON" value={value} onChange={setValue} mode="decimal" required />
      <Field label="Body: a BoC, or a comment" value={body} onChange={setBody} rows={2} />
    </Act>
  );
}

/** A BoC as it is; any other text as a comment. */
function bodyOf(text: string): string {
  return /^(te6cc|b5ee9c72)/i.test(text) ? text : serializeBocBase64(commentCell(text));
}

/** Imports an account of the forked network. */
export function ForkTouch() {
  const [address, setAddress] = useState('');
  const submit = useSubmit(() =>
    control<{ readonly block: BlockId | null }>('touch', { address: typedAddress(address) }),
  );
  return (
    <Act
      submit={submit}
      label="Import"
      done={({ block }) =>
        block === null ? (
          'It was imported before.'
        ) : (
          <>
            Imported in masterchain block <McBlockLink seqno={block.seqno} />.
          </>
        )
      }
    >
      <Field label="Account of the forked network" value={address} onChange={setAddress} required />
    </Act>
  );
}
