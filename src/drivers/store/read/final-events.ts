import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { addressBytes, firstIdOf } from '#drivers/store/keys.js';
import { contractReader, type StoredContract } from '#drivers/store/read/contract-rows.js';
import type { IndexedJettonWallet, IndexedTransaction } from '#drivers/store/read/index-types.js';
import { all, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import {
  assembleTransactions,
  TRANSACTION_COLUMNS,
  type TransactionFound,
} from '#drivers/store/read/transaction-assembly.js';
import { transactionHead } from '#drivers/store/stored-transaction.js';
import { CLASSIFICATION_STATES, type ClassificationState } from '#drivers/store/write/actions.js';
import { Address } from '#formats/address/address.js';

/*
 * What became final with a masterchain block, for streams: traces by the block in which they end, states by the block of
 * the last transaction, jetton wallets by the block of the state that their rows were read from.
 */

/** A trace that has ended, by the masterchain block in which it did. */
export interface EndedTrace {
  readonly root: bigint;
  readonly trace_id: Uint8Array;
  readonly mc_seqno_end: number;
  readonly nodes: number;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  /** `account_key` of its accounts, or of the participants of its actions; of a read by accounts only those asked for. */
  readonly accounts: readonly bigint[];
  readonly classification_state: ClassificationState;
  /** Of the message that it began with; null: it began without one, or is not classified. */
  readonly external_hash: Uint8Array | null;
  /** Null: as `external_hash`. */
  readonly external_hash_norm: Uint8Array | null;
}

/** Traces by their roots, or by the hash that {@link readEndedTracesBy} finds them under. */
export type TraceNames = { readonly roots: readonly bigint[] } | { readonly hashes: readonly Uint8Array[] };

interface EndedFound extends Omit<EndedTrace, 'classification_state'> {
  readonly classification: number | null;
}

/** Logical times differ between shards: a block that is committed later may begin so much earlier. 100 blocks. */
const LT_SLACK = 100_000_000n;

const ENDED_COLUMNS = raw(
  `x.root, x.trace_id, x.mc_seqno_end, x.nodes, x.start_lt, x.end_lt, c.state AS classification, c.external_hash,
   c.external_hash_norm`,
);
const CLASSIFIED = raw(
  'LEFT JOIN LATERAL (SELECT * FROM classified_traces c WHERE c.root = x.root LIMIT 1) AS c ON true',
);

/** Who belongs to a trace: the accounts of its transactions, or the participants of its actions. */
export type TraceMembers = 'transactions' | 'actions';

const COMPLETE = raw('x.state = 0');

/**
 * Members of a trace, and when it has ended. The transactions of a broken trace are sent once none of its messages is pending; it is
 * not classified, so it has no actions.
 */
const MEMBERS: Readonly<Record<TraceMembers, { readonly ended: Sql; readonly of: string; readonly found: string }>> = {
  transactions: {
    ended: raw('(x.state = 0 OR x.state = 2 AND x.pending_edges = 0)'),
    of: 'SELECT DISTINCT t.account_key FROM transactions t WHERE t.trace_root = x.root AND t.id >= x.root',
    found: 'trace_accounts',
  },
  actions: {
    ended: COMPLETE,
    of: 'SELECT DISTINCT a.account_key FROM action_accounts a WHERE a.root = x.root',
    found: 'action_accounts',
  },
};

/**
 * Traces that ended in a range of masterchain blocks; by the block, then by root.
 *
 * @param members what `accounts` means; of broken traces only the accounts of their transactions are known
 * @param accounts only traces with one of these `account_key`; null: all
 * @param most so many are read at most: when there are as many, the range has to be read in parts
 */
export async function readEndedTraces(
  session: IndexSession,
  range: SeqnoRange,
  members: TraceMembers,
  accounts: readonly bigint[] | null,
  most: number,
): Promise<readonly EndedTrace[]> {
  const { from, to } = range;
  const { ended, of, found: table } = MEMBERS[members];
  const inRange = sql`${ended} AND x.mc_seqno_end >= ${from}::integer AND x.mc_seqno_end <= ${to}::integer`;
  let statement: Sql;
  if (accounts === null) {
    statement = sql`SELECT ${ENDED_COLUMNS}, ARRAY(${raw(of)}) AS accounts
      FROM (SELECT * FROM traces x WHERE ${inRange} ORDER BY x.mc_seqno_end, x.root LIMIT ${most}) AS x ${CLASSIFIED}
      ORDER BY x.mc_seqno_end, x.root`;
  } else {
    if (accounts.length === 0) return [];
    const { low, high } = await ltRange(session, range);
    statement = sql`SELECT ${ENDED_COLUMNS}, x.accounts FROM (
        SELECT x.root, x.trace_id, x.mc_seqno_end, x.nodes, x.start_lt, x.end_lt, array_agg(DISTINCT k.key) AS accounts
        FROM unnest(${opaqueToPlanner(accounts, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (
          SELECT DISTINCT a.root FROM ${raw(table)} a
          WHERE a.account_key = k.key AND a.end_lt >= ${low}::bigint AND a.end_lt <= ${high}::bigint OFFSET 0
        ) AS a
        CROSS JOIN LATERAL (SELECT * FROM traces x WHERE x.root = a.root LIMIT 1) AS x
        WHERE ${inRange}
        GROUP BY x.root, x.trace_id, x.mc_seqno_end, x.nodes, x.start_lt, x.end_lt
        ORDER BY x.mc_seqno_end, x.root LIMIT ${most}
      ) AS x ${CLASSIFIED} ORDER BY x.mc_seqno_end, x.root`;
  }
  return (await session.rows<EndedFound>(statement)).map(endedTrace);
}

/**
 * Of complete traces that ended in a range of masterchain blocks those with some names, without their accounts; by the block, then by
 * root. A hash is the normalised one of the external-in message that the trace began with; else the trace id.
 */
export async function readEndedTracesBy(
  session: IndexSession,
  { from, to }: SeqnoRange,
  names: TraceNames,
): Promise<readonly EndedTrace[]> {
  const inRange = sql`${COMPLETE} AND x.mc_seqno_end >= ${from}::integer AND x.mc_seqno_end <= ${to}::integer`;
  const columns = sql`SELECT ${ENDED_COLUMNS}, '{}'::bigint[] AS accounts`;
  const statement =
    'roots' in names
      ? sql`${columns} FROM unnest(${opaqueToPlanner(names.roots, 'bigint[]')}) AS k(root)
          CROSS JOIN LATERAL (SELECT * FROM traces x WHERE x.root = k.root LIMIT 1) AS x ${CLASSIFIED}
          WHERE ${inRange} ORDER BY x.mc_seqno_end, x.root`
      : sql`${columns} FROM traces x ${CLASSIFIED}
          WHERE ${inRange}
            AND coalesce(c.external_hash_norm, c.external_hash, x.trace_id) = ANY(${names.hashes}::bytea[])
          ORDER BY x.mc_seqno_end, x.root`;
  return (await session.rows<EndedFound>(statement)).map(endedTrace);
}

function endedTrace({ classification, ...trace }: EndedFound): EndedTrace {
  return { ...trace, classification_state: CLASSIFICATION_STATES[classification ?? 0] ?? 'unclassified' };
}

/** Bounds of the logical times of what ends in a range of masterchain blocks; generous. */
async function ltRange(
  session: IndexSession,
  { from, to }: SeqnoRange,
): Promise<{ readonly low: bigint; readonly high: bigint }> {
  const edge = (seqno: number) => sql`b.id >= ${firstIdOf(seqno)}::bigint AND b.id < ${firstIdOf(seqno + 1)}::bigint`;
  const [row] = await session.rows<{ low: bigint | null; high: bigint | null }>(
    sql`SELECT (SELECT min(b.start_lt) FROM blocks b WHERE ${edge(from)}) AS low,
        (SELECT max(b.end_lt) FROM blocks b WHERE ${edge(to)}) AS high`,
  );
  const low = row?.low ?? null;
  const high = row?.high ?? null;
  return {
    low: low === null ? 0n : low - LT_SLACK,
    high: high === null ? (1n << 63n) - 1n : high + LT_SLACK,
  };
}

/** Which transactions of {@link readFinalTransactions}. */
export interface FinalTransactionsFilter {
  /** `account_key` */
  readonly accounts: readonly bigint[];
  /** Of each account only the last one of each masterchain block: that with the state after the block. */
  readonly isLast: boolean;
}

/** Transactions of accounts in a range of masterchain blocks; by the block, then account, then lt. */
export async function readFinalTransactions(
  session: IndexSession,
  range: SeqnoRange,
  { accounts, isLast }: FinalTransactionsFilter,
  most: number,
): Promise<readonly IndexedTransaction[]> {
  if (accounts.length === 0) return [];
  const { low, high } = await ltRange(session, range);
  const conditions = all([
    sql`t.lt >= ${low}::bigint AND t.lt <= ${high}::bigint`,
    sql`t.id >= ${firstIdOf(range.from)}::bigint AND t.id < ${firstIdOf(range.to + 1)}::bigint`,
  ]);
  const distinct = raw(isLast ? 'DISTINCT ON (t.id >> 24, t.account_key)' : '');
  const rows = await session.rows<TransactionFound>(
    sql`SELECT ${TRANSACTION_COLUMNS} FROM (
        SELECT ${distinct} t.* FROM unnest(${opaqueToPlanner(accounts, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (
          SELECT * FROM transactions t WHERE t.account_key = k.key AND ${conditions} OFFSET 0
        ) AS t
        ORDER BY t.id >> 24, t.account_key, t.lt ${raw(isLast ? 'DESC' : 'ASC')} LIMIT ${most}
      ) AS t ORDER BY t.id >> 24, t.account_key, t.lt`,
  );
  return assembleTransactions(session, rows);
}

/** Accounts with transactions in a range of masterchain blocks, each once. */
export async function readTouchedAccounts(
  session: IndexSession,
  { from, to }: SeqnoRange,
): Promise<readonly Address[]> {
  const rows = await session.rows<{ workchain: number; boc: Uint8Array }>(
    sql`SELECT DISTINCT ON (t.account_key) t.workchain, t.boc FROM transactions t
      WHERE t.id >= ${firstIdOf(from)}::bigint AND t.id < ${firstIdOf(to + 1)}::bigint ORDER BY t.account_key`,
  );
  return rows.map(({ workchain, boc }) => Address.ofParts(workchain, transactionHead(boc).account_addr));
}

const WALLETS = contractReader(jettonWallet);

/** A jetton wallet, and the masterchain block of the state that its row was read from. */
export interface ChangedJettonWallet {
  readonly wallet: IndexedJettonWallet;
  readonly mc_seqno: number;
}

/** Which wallets of {@link readChangedJettonWallets}: of these addresses, and of these owners. */
export interface ChangedWalletsFilter {
  readonly addresses: readonly Address[];
  readonly owners: readonly Address[];
}

/** Jetton wallets whose rows were read from states of a range of masterchain blocks; by the block, then address. */
export async function readChangedJettonWallets(
  session: IndexSession,
  { from, to }: SeqnoRange,
  { addresses, owners }: ChangedWalletsFilter,
  most: number,
): Promise<readonly ChangedJettonWallet[]> {
  if (addresses.length === 0 && owners.length === 0) return [];
  const isChanged = sql`w.lapsed IS NULL AND w.mc_seqno >= ${from}::integer AND w.mc_seqno <= ${to}::integer`;
  const keys = (list: readonly Address[]) => opaqueToPlanner(list.map(addressBytes), 'bytea[]');
  const rows = await session.rows<StoredContract<typeof jettonWallet> & { readonly mc_seqno: number }>(
    sql`SELECT ${raw(WALLETS.columns('w'))}, w.mc_seqno FROM (
        SELECT w.* FROM unnest(${keys(addresses)}) AS k(address)
        CROSS JOIN LATERAL (SELECT * FROM jetton_wallets w WHERE w.address = k.address AND ${isChanged} OFFSET 0) AS w
        UNION
        SELECT w.* FROM unnest(${keys(owners)}) AS k(owner)
        CROSS JOIN LATERAL (
          SELECT * FROM jetton_wallets w WHERE w.owner = k.owner AND w.id > 0 AND ${isChanged} OFFSET 0
        ) AS w
      ) AS w ORDER BY w.mc_seqno, w.address LIMIT ${most}`,
  );
  return rows.map(({ mc_seqno, ...found }) => ({ wallet: WALLETS.row(found as never), mc_seqno }));
}

/** How far rows that are derived after a block was committed are known. */
export interface SettledRows {
  /** The first masterchain block of the range whose traces are not all classified; null: all are. */
  readonly unclassified: number | null;
  /** The same of traces that wait for contracts to be detected, or are too long to be classified with others. */
  readonly uncertain: number | null;
  /** Accounts of the range that are queued for contract detection for the first time. */
  readonly undetected: number;
}

/**
 * What of a range of masterchain blocks is not derived yet.
 *
 * @param actions key of the derivation of actions in the table `derivations`
 * @param accounts addresses that detection is asked about
 */
export async function readSettledRows(
  session: IndexSession,
  { from, to }: SeqnoRange,
  { actions, accounts }: { readonly actions: string; readonly accounts: readonly Address[] },
): Promise<SettledRows> {
  const [row] = await session.rows<{
    unclassified: number | null;
    uncertain: number | null;
    undetected: bigint;
  }>(
    sql`SELECT (
        SELECT min(lower(r)) FROM unnest(
          int4multirange(int4range(${from}::integer, ${to + 1}::integer))
            - coalesce((SELECT d.rounds FROM derivations d WHERE d.name = ${actions}::text), '{}')
        ) AS r
      ) AS unclassified,
      (SELECT min(x.mc_seqno_end) FROM traces x
        LEFT JOIN LATERAL (SELECT c.state FROM classified_traces c WHERE c.root = x.root LIMIT 1) AS c ON true
        WHERE x.state = 0 AND x.mc_seqno_end >= ${from}::integer AND x.mc_seqno_end <= ${to}::integer
          AND coalesce(c.state, 0) = 0) AS uncertain,
      (SELECT count(*) FROM contract_queue q
        WHERE q.address = ANY(${accounts.map(addressBytes)}::bytea[]) AND q.attempts = 0) AS undetected`,
  );
  const { unclassified = null, uncertain = null } = row ?? {};
  return { unclassified, uncertain, undetected: Number(row?.undetected ?? 0) };
}
