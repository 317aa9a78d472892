import { useEffect, useState } from 'preact/hooks';
import type { Action, AddressFacts, Trace, TraceNode, Transaction } from '../api/answers.js';
import { type Answer, type ApiProblem, ask, postV2, type Query } from '../api/ask.js';
import { type ExternalIn, MOST_TEXT, readMessage } from '../chain/message-boc.js';
import { countText } from '../format/amount.js';
import { hashOf, hexOf, rawAddress } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { useNetwork } from '../live/use-network.js';
import { useSubmit } from '../live/use-submit.js';
import { Act, Field } from '../parts/act.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Fact, Facts, Section } from '../parts/facts.js';
import { Notice } from '../parts/notice.js';
import { HashText } from '../parts/reference.js';
import { pathOf } from '../routing/location.js';
import { useNavigation } from '../routing/router.js';
import { DecodedBody } from '../trace/transaction-details.js';
import { TracePage, TraceView } from './trace.js';

/** Where a message is pasted: decoded, emulated, sent. @param boc from the address of the page */
export function MessagePage({ boc }: { readonly boc: string }) {
  const { go } = useNavigation();
  const [text, setText] = useState(boc);
  const hash = hashOf(text.trim());
  const message = text.trim() === '' || hash !== null || text.length > MOST_TEXT ? null : readMessage(text);
  useEffect(() => {
    if (hash !== null) go(pathOf(['message', hexOf(hash)]));
  }, [hash]);
  return (
    <>
      <h1>Message</h1>
      <section class="card">
        <p class="muted">
          Paste an external-in message as a BoC (base64 or hex): it is decoded and run on the newest state before
          anything is sent. Paste a hash to follow a message that was sent.
        </p>
        <div class="form form-wide">
          <Field label="BoC or hash" value={text} onChange={setText} rows={5} placeholder="te6cc…" />
        </div>
      </section>
      {text.trim() !== '' && hash === null && message === null && (
        <Notice
          kind="error"
          title={
            text.length > MOST_TEXT
              ? `This is longer than ${countText(MOST_TEXT)} characters: no message is.`
              : 'This is neither a bag of cells nor a hash.'
          }
        />
      )}
      {message !== null && 'problem' in message && (
        <Notice kind="warning" title="This is no external-in message.">
          {message.problem} <HashText hash={message.hash} what="cell hash" />
        </Notice>
      )}
      {message !== null && !('problem' in message) && <MessageView key={message.hash} message={message} />}
    </>
  );
}

interface Decoded {
  readonly bodies: readonly (Readonly<Record<string, unknown>> | null)[];
}

interface Emulated extends AddressFacts {
  readonly mc_block_seqno: number;
  readonly trace: TraceNode;
  readonly transactions: Readonly<Record<string, Transaction>>;
  readonly actions: readonly Action[];
  readonly is_incomplete: boolean;
}

function MessageView({ message }: { readonly message: ExternalIn }) {
  const { go } = useNavigation();
  const { head } = useNetwork();
  const decoded = useLoad(`decode:${message.hash}`, async () => {
    const { value } = await ask<Decoded>('/api/v3/decode', { body: { bodies: [message.body] } });
    return value.bodies[0] ?? null;
  });
  const emulated = useLoad(`emulate:${message.hash}`, async (signal) => {
    const body = { boc: message.boc, with_actions: true, include_address_book: true, include_metadata: true };
    return (await ask<Emulated>('/api/emulate/v1/emulateTrace', { body, signal })).value;
  });
  const send = useSubmit(async () => {
    const { hash_norm } = await postV2<{ readonly hash_norm: string }>('sendBocReturnHash', { boc: message.boc });
    go(pathOf(['message', hexOf(hash_norm)]));
    return hash_norm;
  });
  return (
    <>
      <Section title="External-in message">
        <Facts>
          <Fact name="To">
            <AccountLink address={rawAddress(message.destination)} />
          </Fact>
          <Fact name="Hash">
            <HashText hash={message.hash} what="message hash" />
          </Fact>
          <Fact name="Normalized hash" hint="TEP-467: the same for all ways to write this message">
            <HashText hash={message.hashNorm} what="normalized hash" />
          </Fact>
          <Fact name="State init">{message.hasInit ? 'with it, the contract is deployed' : 'none'}</Fact>
        </Facts>
        {decoded.value !== null && <DecodedBody decoded={decoded.value} />}
        <Act submit={send} label="Send it" />
      </Section>
      {emulated.problem !== null && <EmulationProblem problem={emulated.problem} />}
      {emulated.value !== null && (
        <KnownAddresses of={emulated.value}>
          <Notice
            title={`What would happen on the state of masterchain block ${emulated.value.mc_block_seqno || head}: nothing was sent.`}
          />
          <TraceView trace={emulatedTrace(emulated.value)} marked={null} />
        </KnownAddresses>
      )}
    </>
  );
}

function EmulationProblem({ problem }: { readonly problem: ApiProblem }) {
  if (problem.kind === 'not-served') return <Notice title="This server does not emulate messages." />;
  return (
    <Notice kind="warning" title="The message would not be accepted, or could not be run.">
      {problem.message}
    </Notice>
  );
}

/** The answer of an emulation as a trace. */
function emulatedTrace({ trace, transactions, actions, is_incomplete, mc_block_seqno }: Emulated): Trace {
  const all = Object.values(transactions);
  const times = all.map(({ now }) => now);
  return {
    ...{ trace_id: null, mc_seqno_start: `${mc_block_seqno}`, mc_seqno_end: `${mc_block_seqno}`, start_lt: '0' },
    start_utime: Math.min(...times),
    end_utime: Math.max(...times),
    trace_info: {
      ...{ trace_state: 'emulated', messages: 0, transactions: all.length, pending_messages: 0 },
      classification_state: 'ok',
    },
    ...{ is_incomplete, actions, trace, transactions },
  };
}

interface Followed {
  readonly status: string;
  readonly settled: boolean;
  readonly exit_code: number | null;
  readonly problem: string | null;
}

/** How long one request waits for the next stage, in seconds. */
const WAIT_SECONDS = 20;

/** What became of a message that was sent. @param hash as it stands in the address */
export function FollowPage({ hash: given }: { readonly hash: string }) {
  const hash = hashOf(given);
  const followed = useFollowed(hash);
  if (hash === null) return <Notice kind="error" title="This is no hash of a message." />;
  const isRefused = followed?.settled === true && followed.status !== 'finalized';
  return (
    <>
      {followed !== null && (
        <p class="lead">
          Message <HashText hash={hash} what="message hash" />{' '}
          <span class={`badge badge-${isRefused ? 'bad' : followed.settled ? 'good' : 'wait'}`}>{followed.status}</span>
        </p>
      )}
      {isRefused && (
        <Notice kind="error" title={followed.problem ?? 'The message was not put into a block.'}>
          {followed.exit_code !== null && `Exit code ${followed.exit_code}.`}
        </Notice>
      )}
      {!isRefused && <TracePage hash={hexOf(hash)} />}
    </>
  );
}

/** The stage of a message, by long polls; null where the server follows no messages. The trace is looked for in any case. */
function useFollowed(hash: string | null): Followed | null {
  const [followed, setFollowed] = useState<Followed | null>(null);
  const { chain } = useNetwork();
  useEffect(() => {
    if (hash === null) return;
    const controller = new AbortController();
    const follow = async () => {
      let after: string | null = 'unknown';
      while (!controller.signal.aborted && after !== null) {
        const query: Query = { timeout: WAIT_SECONDS, after };
        const { value }: Answer<Followed> = await ask<Followed>(`/api/v3/follow/${hexOf(hash)}`, {
          query,
          signal: controller.signal,
        });
        setFollowed(value);
        after = value.settled ? null : value.status;
      }
    };
    // Not served, or not known here: the trace says the same when it is in a block.
    follow().catch(() => {});
    return () => controller.abort();
  }, [hash, chain]);
  return followed;
}
