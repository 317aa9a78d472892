import { useState } from 'preact/hooks';
import { fromHex } from '#kernel/bytes.js';
import type { BlockId, LocalStatus } from '../api/answers.js';
import { ApiProblem, ask, postV2 } from '../api/ask.js';
import { ed25519Signer, type SendingWallet, transferBoc } from '../chain/wallet-transfer.js';
import { countText, parseAmount } from '../format/amount.js';
import { addressOf, hexOf } from '../format/chain-text.js';
import { networkWatch } from '../live/network-watch.js';
import { useLoad } from '../live/use-load.js';
import { useNetwork } from '../live/use-network.js';
import { useSubmit } from '../live/use-submit.js';
import { Act, Field } from '../parts/act.js';
import { AccountLink } from '../parts/address.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Loading, Notice } from '../parts/notice.js';
import { BlockLink, McBlockLink } from '../parts/reference.js';
import { TableFrame } from '../parts/table-frame.js';
import { pathOf } from '../routing/location.js';
import { Link, useNavigation } from '../routing/router.js';
import { BlockControls, Snapshots } from './local/controls.js';
import { ForkTouch, Impersonation } from './local/interventions.js';

export interface LocalWallet {
  readonly version: string;
  readonly address: string;
  readonly user_friendly: string;
  readonly mnemonic: readonly string[] | null;
  /** Hex. */
  readonly seed: string;
  readonly wallet_id: number;
  readonly balance: string;
}

/** Calls a method of the control API, and looks at once what became of the network. */
export async function control<Result>(method: string, body: object = {}): Promise<Result> {
  const { value } = await ask<Result>(`/localnet/${method}`, { body });
  networkWatch.pollNow();
  return value;
}

/** The address that somebody typed. @throws TypeError */
export function typedAddress(text: string): string {
  const address = addressOf(text.trim());
  if (address === null) throw new TypeError(text.trim() === '' ? 'The address is missing.' : 'This is no address.');
  return address.toRaw();
}

/** The amount in nanotons that somebody typed in TON. @throws TypeError */
export function typedTon(text: string): bigint {
  const amount = parseAmount(text, 9);
  if (amount === null) throw new TypeError('This is no amount: write TON with at most 9 decimals.');
  return amount;
}

/** Everything that a local network lets its owner do. */
export function LocalPage() {
  const { local } = useNetwork();
  const wallets = useLoad(
    local == null ? null : 'wallets',
    async (signal) =>
      (await ask<{ readonly wallets: readonly LocalWallet[] }>('/localnet/wallets', { signal })).value.wallets,
    { live: true },
  );
  if (local === undefined) return <Loading what="the local network" />;
  if (local === null) {
    return (
      <Notice title="This is not a local network.">
        Faucet, blocks on demand, time travel and snapshots belong to <code>tern dev</code>.
      </Notice>
    );
  }
  return (
    <>
      <h1>Local network</h1>
      <StatusFacts local={local} />
      <div class="columns columns-even">
        <Section title="Faucet">
          <Faucet wallets={wallets.value ?? []} />
        </Section>
        <Section title="Send from a wallet">
          <SendFromWallet wallets={wallets.value ?? []} now={local.now} />
        </Section>
      </div>
      <Section title="Funded wallets">
        <Notice kind="warning" title="Their keys are public: never use them on another network." />
        {wallets.value === null ? <Loading what="wallets" /> : <WalletTable wallets={wallets.value} />}
      </Section>
      <Section title="Blocks and time">
        <BlockControls local={local} />
      </Section>
      <div class="columns columns-even">
        <Section title="Snapshots">
          <Snapshots />
        </Section>
        <Section title="Impersonation">
          <Impersonation />
        </Section>
      </div>
      {local.fork !== null && (
        <Section title="Fork">
          <ForkTouch />
        </Section>
      )}
    </>
  );
}

function StatusFacts({ local }: { readonly local: LocalStatus }) {
  return (
    <section class="card">
      <Facts>
        <Fact name="Head">
          <BlockLink block={local.head} />
        </Fact>
        <Fact name="Time of the network">
          <Moment at={local.now} full />
          {local.time_offset !== 0 && <span class="muted"> ({countText(local.time_offset)} s ahead of the clock)</span>}
        </Fact>
        <Fact name="Block time">{local.paused ? 'paused: blocks on demand' : `${countText(local.block_time)} ms`}</Fact>
        <Fact name="Shards">{local.shards.length}</Fact>
        <Fact name="Waiting messages">{countText(local.waiting_messages)}</Fact>
        <Fact name="Chain">
          <span class="mono">{local.chain}</span>
        </Fact>
        {local.fork !== null && (
          <Fact name="Fork of">
            {local.fork.source} at masterchain block {countText(local.fork.block.seqno)}
          </Fact>
        )}
      </Facts>
    </section>
  );
}

interface Sent {
  readonly message_hash: string;
  readonly block: BlockId;
}

/** Addresses of wallets, to choose from in a form. */
function suggested(wallets: readonly LocalWallet[]): readonly (readonly [string, string])[] {
  return wallets.flatMap(({ mnemonic, user_friendly, version }) =>
    mnemonic === null ? [] : [[user_friendly, `wallet ${version}`]],
  );
}

function Faucet({ wallets }: { readonly wallets: readonly LocalWallet[] }) {
  const [address, setAddress] = useState('');
  const [amount, setAmount] = useState('10');
  const [comment, setComment] = useState('');
  const submit = useSubmit(async () => {
    const body = {
      address: typedAddress(address),
      amount: String(typedTon(amount)),
      ...(comment === '' ? {} : { comment }),
    };
    return control<Sent>('faucet', body);
  });
  return (
    <Act
      submit={submit}
      label="Take coins"
      done={({ message_hash, block }) => (
        <>
          Sent in masterchain block <McBlockLink seqno={block.seqno} />:{' '}
          <Link to={pathOf(['message', hexOf(message_hash)])}>follow it</Link>.
        </>
      )}
    >
      <Field
        label="Address"
        value={address}
        onChange={setAddress}
        placeholder="EQ… or 0:…"
        suggestions={suggested(wallets)}
        required
      />
      <Field label="Amount in TON" value={amount} onChange={setAmount} mode="decimal" required />
      <Field label="Comment" value={comment} onChange={setComment} />
    </Act>
  );
}

const SENDING: Readonly<Record<string, SendingWallet>> = { v3r2: 'v3r2', v4r2: 'v4r2', v5r1: 'v5r1' };

/** How long a transfer may wait for its block. */
const VALID_SECONDS = 120;

interface SendProps {
  readonly wallets: readonly LocalWallet[];
  /** Time of the network, which may be ahead of the clock. Unix seconds. */
  readonly now: number;
}

function SendFromWallet({ wallets, now }: SendProps) {
  const { go } = useNavigation();
  const able = wallets.filter(({ version, mnemonic }) => SENDING[version] !== undefined && mnemonic !== null);
  const [chosen, setChosen] = useState('');
  const [to, setTo] = useState('');
  const [amount, setAmount] = useState('1');
  const [comment, setComment] = useState('');
  const wallet = able.find(({ address }) => address === chosen) ?? able[0];
  const submit = useSubmit(async () => {
    if (wallet === undefined) throw new TypeError('There is no wallet that could send.');
    const destination = addressOf(typedAddress(to))!;
    const value = typedTon(amount);
    const sign = await ed25519Signer(fromHex(wallet.seed)!);
    const transfer = {
      ...{ version: SENDING[wallet.version]!, from: addressOf(wallet.address)!, walletId: wallet.wallet_id },
      ...{ seqno: await seqnoOf(wallet.address), validUntil: now + VALID_SECONDS },
      ...{ to: destination, value, bounce: false, comment },
    };
    const boc = await transferBoc(transfer, sign);
    const { hash_norm } = await postV2<{ readonly hash_norm: string }>('sendBocReturnHash', { boc });
    go(pathOf(['message', hexOf(hash_norm)]));
    return hash_norm;
  });
  return (
    <Act submit={submit} label="Send">
      <label>
        From
        <select value={wallet?.address} onChange={(event) => setChosen(event.currentTarget.value)}>
          {able.map(({ address, version, user_friendly }) => (
            <option key={address} value={address}>
              {version} {user_friendly.slice(0, 10)}…{user_friendly.slice(-4)}
            </option>
          ))}
        </select>
      </label>
      <Field
        label="To"
        value={to}
        onChange={setTo}
        placeholder="EQ… or 0:…"
        suggestions={suggested(wallets)}
        required
      />
      <Field label="Amount in TON" value={amount} onChange={setAmount} mode="decimal" required />
      <Field label="Comment" value={comment} onChange={setComment} />
    </Act>
  );
}

/** The seqno of a wallet; 0 for one that has not sent anything yet. */
async function seqnoOf(address: string): Promise<number> {
  const body = { address, method: 'seqno', stack: [] };
  const { exit_code, stack } = await postV2<{
    readonly exit_code: number;
    readonly stack: readonly (readonly [string, string])[];
  }>('runGetMethod', body);
  const value = stack[0]?.[1];
  if (exit_code !== 0 || value === undefined)
    throw new ApiProblem('failed', 0, `The wallet gave no seqno (exit code ${exit_code}).`, null);
  return Number(BigInt(value));
}

function WalletTable({ wallets }: { readonly wallets: readonly LocalWallet[] }) {
  return (
    <TableFrame>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Wallet</th>
            <th scope="col">Address</th>
            <th scope="col" class="number">
              Balance
            </th>
            <th scope="col">Mnemonic</th>
          </tr>
        </thead>
        <tbody>
          {wallets.map(({ version, address, balance, mnemonic }) => (
            <tr key={address}>
              <td>{mnemonic === null ? 'faucet' : version}</td>
              <td>
                <AccountLink address={address} />
              </td>
              <td class="number">
                <Ton nano={balance} />
              </td>
              <td>
                {mnemonic !== null && (
                  <details>
                    <summary class="muted">{mnemonic.length} words</summary>
                    <span class="mono small">{mnemonic.join(' ')}</span>
                  </details>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}
