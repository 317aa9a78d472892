import type { AddressFacts } from '../api/answers.js';
import { type Answer, askV3 } from '../api/ask.js';
import { decimalsOf } from '../format/amount.js';
import { addressOf, rawAddress } from '../format/chain-text.js';
import { symbolWarning } from '../format/untrusted-text.js';
import { useFacts } from '../live/use-facts.js';
import { useJettonWallets } from '../live/use-jetton-wallets.js';
import { useLoad } from '../live/use-load.js';
import { usePages } from '../live/use-pages.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses, useKnownAddress } from '../parts/address-facts.js';
import { Amount } from '../parts/amount.js';
import { Copy } from '../parts/copy.js';
import { Fact, Facts } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { MorePages } from '../parts/more-pages.js';
import { CoverageNotice, Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { HashText, TraceLink, TransactionLink } from '../parts/reference.js';
import { TableFrame } from '../parts/table-frame.js';
import { Tabs } from '../parts/tabs.js';
import { ClaimedName, TokenName } from '../parts/token-name.js';
import { TokenPicture } from '../parts/token-picture.js';
import { Untrusted } from '../parts/untrusted.js';

interface JettonMaster {
  readonly address: string;
  readonly total_supply: string;
  readonly mintable: boolean;
  readonly admin_address?: string | null;
  readonly jetton_content?: Readonly<Record<string, unknown>> | null;
  readonly jetton_wallet_code_hash: string;
  readonly code_hash?: string | null;
}

interface MastersAnswer extends AddressFacts {
  readonly jetton_masters: readonly JettonMaster[];
}

/** A jetton: supply, holders, transfers. @param address in any form */
export function JettonPage({ address: given }: { readonly address: string }) {
  const address = addressOf(given);
  const raw = address === null ? null : rawAddress(address);
  const { value, problem } = useLoad(
    raw === null ? null : `jetton:${raw}`,
    async (signal) => {
      const { value: answer, coverage } = await askV3<MastersAnswer>('jetton/masters', { address: [raw!] }, signal);
      return { ...answer, coverage };
    },
    { live: true },
  );
  if (raw === null) return <Notice kind="error" title="This is no address." />;
  if (value === null)
    return problem === null ? <Loading what="the jetton" /> : <ProblemNotice problem={problem} what="jetton" />;
  const [master] = value.jetton_masters;
  if (master === undefined) return <NotFound what="jetton" coverage={value.coverage} />;
  return (
    <KnownAddresses of={value}>
      <JettonView master={master} />
    </KnownAddresses>
  );
}

/** Why a name or symbol deserves distrust, as a sentence. */
function claimWarning(what: string, text: string | null | undefined): string[] {
  const warning = text == null ? null : symbolWarning(text);
  return warning === null ? [] : [`The ${what} ${warning}.`];
}

function JettonView({ master }: { readonly master: JettonMaster }) {
  const { address, total_supply, mintable, admin_address } = master;
  const { token } = useKnownAddress(address);
  const decimals = decimalsOf(token?.extra?.decimals);
  const symbol = token?.symbol ?? null;
  const text = addressOf(address)!.toFriendly();
  const warnings = [...claimWarning('name', token?.name), ...claimWarning('symbol', symbol)];
  return (
    <>
      <header class="token-head">
        <div class="token-picture">
          <TokenPicture token={token} address={address} />
        </div>
        <div>
          <h1>
            {token === null || (token.name ?? symbol) == null ? (
              'Jetton'
            ) : (
              <ClaimedName name={token.name ?? symbol ?? ''} token={token} address={address} most={60} />
            )}{' '}
            {symbol !== null && token?.name != null && <TokenName token={token} address={address} />}
          </h1>
          <p class="account-address">
            <AccountLink address={address} whole />
          </p>
        </div>
      </header>
      <Notice
        kind={warnings.length === 0 ? 'info' : 'warning'}
        title="Name, symbol and picture are what this contract says of itself. Nobody has verified them."
      >
        {warnings.length > 0 && `${warnings.join(' ')} Compare the address.`}
      </Notice>
      <section class="card">
        <Facts>
          <Fact name="Supply">
            <Amount units={total_supply} decimals={decimals} />
          </Fact>
          <Fact name="Decimals">{decimals}</Fact>
          <Fact name="Mintable">{mintable ? 'yes' : 'no'}</Fact>
          <Fact name="Admin">
            <AccountLink address={admin_address} />
          </Fact>
          <Fact name="Code of wallets">
            <HashText hash={master.jetton_wallet_code_hash} what="code hash of wallets" />
          </Fact>
          {token?.description != null && token.description !== '' && (
            <Fact name="Description">
              <Untrusted text={token.description} most={300} block />
            </Fact>
          )}
          {typeof token?.extra?.uri === 'string' && (
            <Fact name="Metadata at">
              <Untrusted text={token.extra.uri} most={120} />{' '}
              <Copy text={token.extra.uri} what="address of the metadata" />
            </Fact>
          )}
          <Fact name="Contract">
            <span class="mono wrap">{text}</span>
            <Copy text={text} what="address" />
          </Fact>
        </Facts>
      </section>
      <Tabs
        name="show"
        tabs={[
          {
            id: 'holders',
            title: 'Holders',
            content: () => <Holders master={address} supply={total_supply} decimals={decimals} />,
          },
          { id: 'transfers', title: 'Transfers', content: () => <Transfers master={address} decimals={decimals} /> },
        ]}
      />
    </>
  );
}

interface HoldersProps {
  readonly master: string;
  readonly supply: string;
  readonly decimals: number;
}

/** Share of the supply in per cent, with two decimals, rounded down. */
function shareText(balance: string, supply: string): string {
  const whole = BigInt(supply);
  if (whole <= 0n) return '–';
  const hundredths = (BigInt(balance) * 10_000n) / whole;
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')}\u00a0%`;
}

function Holders({ master, supply, decimals }: HoldersProps) {
  const { pages, facts } = useJettonWallets({ jetton_address: master });
  return (
    <KnownAddresses of={facts}>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="holder" />}
      <TableFrame>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Owner</th>
              <th scope="col" class="number">
                Balance
              </th>
              <th scope="col" class="number">
                Share
              </th>
              <th scope="col">Wallet</th>
            </tr>
          </thead>
          <tbody>
            {pages.rows.map(({ address, balance, owner }) => (
              <tr key={address}>
                <td>
                  <AccountLink address={owner} />
                </td>
                <td class="number">
                  <Amount units={balance} decimals={decimals} />
                </td>
                <td class="number">{shareText(balance, supply)}</td>
                <td>
                  <AccountLink address={address} bare />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">Nobody holds any.</p>}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}

interface JettonTransfer {
  readonly source: string;
  readonly destination: string;
  readonly amount: string;
  readonly transaction_hash: string;
  readonly transaction_now: number;
  readonly transaction_aborted: boolean;
  readonly trace_id?: string | null;
}

interface TransfersAnswer extends AddressFacts {
  readonly jetton_transfers: readonly JettonTransfer[];
}

const PAGE = 50;

function Transfers({ master, decimals }: { readonly master: string; readonly decimals: number }) {
  const [facts, addFacts] = useFacts();
  const pages = usePages<JettonTransfer>(
    `transfers:${master}`,
    async (cursor, signal) => {
      const query = { jetton_master: master, cursor, limit: PAGE, sort: 'desc' };
      const answer: Answer<TransfersAnswer> = await askV3('jetton/transfers', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.jetton_transfers };
    },
    ({ transaction_hash }) => transaction_hash,
    { live: true },
  );
  return (
    <KnownAddresses of={facts}>
      <CoverageNotice coverage={pages.coverage} />
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="transfer" />}
      <TableFrame>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col" class="number">
                Amount
              </th>
              <th scope="col">Trace</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {pages.rows.map((transfer) => (
              <tr key={transfer.transaction_hash}>
                <td>
                  <AccountLink address={transfer.source} bare />
                </td>
                <td>
                  <AccountLink address={transfer.destination} bare />
                </td>
                <td class="number">
                  <Amount units={transfer.amount} decimals={decimals} />
                  {transfer.transaction_aborted && <span class="badge badge-bad">failed</span>}
                </td>
                <td>
                  {transfer.trace_id == null ? (
                    <TransactionLink hash={transfer.transaction_hash} bare />
                  ) : (
                    <TraceLink id={transfer.trace_id} />
                  )}
                </td>
                <td>
                  <Moment at={transfer.transaction_now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      {pages.rows.length === 0 && !pages.isLoading && pages.problem === null && <p class="muted">No transfers yet.</p>}
      <MorePages pages={pages} />
    </KnownAddresses>
  );
}
