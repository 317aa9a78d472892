import type { AddressFacts } from '../api/answers.js';
import { askV3 } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { durationText } from '../format/time.js';
import { useLoad } from '../live/use-load.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, JsonText, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { Untrusted } from '../parts/untrusted.js';
import { BocText } from './account/contract.js';
import type { DnsAnswer, DnsRecord } from './account/holdings.js';
import { FoundContract } from './found-contract.js';

interface OrderAction {
  readonly destination?: string | null;
  readonly value?: string | null;
  readonly parsed_body_type: string;
  readonly parsed: boolean;
  readonly send_mode: number;
  readonly parsed_body?: unknown;
}

interface MultisigOrder {
  readonly address: string;
  readonly order_seqno: string;
  readonly threshold?: number | null;
  readonly sent_for_execution?: boolean | null;
  readonly approvals_num?: number | null;
  readonly expiration_date?: number | null;
  readonly order_boc?: string | null;
  readonly actions?: readonly OrderAction[] | null;
}

interface Multisig {
  readonly address: string;
  readonly next_order_seqno: string;
  readonly threshold: number;
  readonly signers: readonly string[];
  readonly proposers: readonly string[];
  readonly orders?: readonly MultisigOrder[] | null;
}

/** A multisig with its orders. */
export function MultisigPage({ address }: { readonly address: string }) {
  return (
    <FoundContract<Multisig>
      address={address}
      what="multisig"
      load={async (raw, signal) => {
        const query = { address: [raw], include_orders: true };
        const { value, coverage } = await askV3<AddressFacts & { readonly multisigs: readonly Multisig[] }>(
          'multisig/wallets',
          query,
          signal,
        );
        const orders = await askV3<{ readonly orders: readonly MultisigOrder[] }>(
          'multisig/orders',
          { multisig_address: [raw], parse_actions: true, limit: 100, sort: 'desc' },
          signal,
        );
        const found = value.multisigs[0] ?? null;
        return { found: found === null ? null : { ...found, orders: orders.value.orders }, facts: value, coverage };
      }}
    >
      {(multisig) => (
        <>
          <h1>Multisig</h1>
          <section class="card">
            <Facts>
              <Fact name="Contract">
                <AccountLink address={multisig.address} />
              </Fact>
              <Fact name="Threshold">
                {countText(multisig.threshold)} of {countText(multisig.signers.length)} signers
              </Fact>
              <Fact name="Signers">
                <Addresses of={multisig.signers} />
              </Fact>
              <Fact name="Proposers">
                <Addresses of={multisig.proposers} />
              </Fact>
            </Facts>
          </section>
          <Section title="Orders">
            {(multisig.orders ?? []).length === 0 && <p class="muted">No orders yet.</p>}
            {multisig.orders?.map((order) => (
              <OrderView key={order.address} order={order} />
            ))}
          </Section>
        </>
      )}
    </FoundContract>
  );
}

function Addresses({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <span class="muted">none</span>;
  return (
    <ul>
      {of.map((address) => (
        <li key={address}>
          <AccountLink address={address} />
        </li>
      ))}
    </ul>
  );
}

function OrderView({ order }: { readonly order: MultisigOrder }) {
  const isDone = order.sent_for_execution === true;
  return (
    <article class="order">
      <h3>
        Order {order.order_seqno.slice(0, 12)}{' '}
        <span class={`badge ${isDone ? 'badge-good' : 'badge-wait'}`}>
          {isDone ? 'executed' : `${order.approvals_num ?? 0} of ${order.threshold ?? '?'} approvals`}
        </span>
      </h3>
      <p>
        <AccountLink address={order.address} />
        {order.expiration_date != null && (
          <span class="muted">
            {' '}
            expires <Moment at={order.expiration_date} full />
          </span>
        )}
      </p>
      <ul>
        {order.actions?.map((action, index) => (
          <li key={index}>
            {action.parsed_body_type.replaceAll('_', ' ')}: <Ton nano={action.value ?? '0'} /> to{' '}
            <AccountLink address={action.destination} />
            {action.parsed_body != null && (
              <details class="raw">
                <summary>Body</summary>
                <JsonText value={action.parsed_body} />
              </details>
            )}
          </li>
        ))}
      </ul>
      {order.order_boc != null && <BocText title="Order" boc={order.order_boc} />}
    </article>
  );
}

interface Vesting {
  readonly address: string;
  readonly start_time: number;
  readonly total_duration: number;
  readonly unlock_period: number;
  readonly cliff_duration: number;
  readonly sender_address?: string | null;
  readonly owner_address?: string | null;
  readonly total_amount: string;
  readonly whitelist: readonly string[];
}

/** What a vesting contract still holds back at a moment. Nanotons. */
function lockedAmount(vesting: Vesting, now: number): bigint {
  const { start_time, total_duration, unlock_period, cliff_duration } = vesting;
  const total = BigInt(vesting.total_amount);
  if (now >= start_time + total_duration || unlock_period <= 0) return 0n;
  if (now < start_time + cliff_duration) return total;
  const periods = BigInt(Math.floor((now - start_time) / unlock_period));
  return total - (total * periods * BigInt(unlock_period)) / BigInt(total_duration);
}

/** A vesting contract with its schedule. */
export function VestingPage({ address }: { readonly address: string }) {
  return (
    <FoundContract<Vesting>
      address={address}
      what="vesting"
      load={async (raw, signal) => {
        const { value, coverage } = await askV3<AddressFacts & { readonly vesting_contracts: readonly Vesting[] }>(
          'vesting',
          { contract_address: [raw] },
          signal,
        );
        return { found: value.vesting_contracts[0] ?? null, facts: value, coverage };
      }}
    >
      {(vesting) => (
        <>
          <h1>Vesting</h1>
          <section class="card">
            <Facts>
              <Fact name="Contract">
                <AccountLink address={vesting.address} />
              </Fact>
              <Fact name="Amount">
                <Ton nano={vesting.total_amount} />
              </Fact>
              <Fact name="Locked now" hint="By the clock of this browser">
                <Ton nano={lockedAmount(vesting, Math.floor(Date.now() / 1000))} />
              </Fact>
              <Fact name="Begins">
                <Moment at={vesting.start_time} full />
              </Fact>
              <Fact name="Ends">
                <Moment at={vesting.start_time + vesting.total_duration} full />
              </Fact>
              <Fact name="Cliff">{durationText(vesting.cliff_duration)}</Fact>
              <Fact name="Unlocks every">{durationText(vesting.unlock_period)}</Fact>
              <Fact name="Owner">
                <AccountLink address={vesting.owner_address} />
              </Fact>
              <Fact name="Sender">
                <AccountLink address={vesting.sender_address} />
              </Fact>
              <Fact name="Whitelist">
                <Addresses of={vesting.whitelist} />
              </Fact>
            </Facts>
          </section>
        </>
      )}
    </FoundContract>
  );
}

/** A domain with its records. */
export function DnsPage({ domain }: { readonly domain: string }) {
  const { value, problem } = useLoad(
    `dns:${domain}`,
    async (signal) => {
      const { value: answer, coverage } = await askV3<DnsAnswer>('dns/records', { domain, limit: 10 }, signal);
      return { ...answer, coverage };
    },
    { live: true },
  );
  if (value === null)
    return problem === null ? <Loading what="the domain" /> : <ProblemNotice problem={problem} what="domain" />;
  const [record] = value.records;
  if (record === undefined) return <NotFound what="domain" coverage={value.coverage} />;
  return (
    <KnownAddresses of={value}>
      <h1>
        <Untrusted text={record.domain} most={126} />
      </h1>
      {/[^\u0020-\u007e]/.test(record.domain) && (
        <Notice kind="warning" title="This domain has letters that are not Latin: it may look like another one." />
      )}
      <section class="card">
        <RecordFacts record={record} />
      </section>
    </KnownAddresses>
  );
}

function RecordFacts({ record }: { readonly record: DnsRecord }) {
  return (
    <Facts>
      <Fact name="NFT">
        <AccountLink address={record.nft_item_address} whole />
      </Fact>
      <Fact name="Owner">
        <AccountLink address={record.nft_item_owner} />
      </Fact>
      {record.dns_wallet != null && (
        <Fact name="Wallet">
          <AccountLink address={record.dns_wallet} />
        </Fact>
      )}
      {record.dns_next_resolver != null && (
        <Fact name="Next resolver">
          <AccountLink address={record.dns_next_resolver} />
        </Fact>
      )}
      {record.dns_site_adnl != null && (
        <Fact name="Site (ADNL)">
          <Untrusted text={record.dns_site_adnl} />
        </Fact>
      )}
      {record.dns_storage_bag_id != null && (
        <Fact name="Storage bag">
          <Untrusted text={record.dns_storage_bag_id} />
        </Fact>
      )}
    </Facts>
  );
}
