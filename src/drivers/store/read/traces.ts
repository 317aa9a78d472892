import { accountKey, addressBytes, hashKey, seqnoOfId } from '#drivers/store/keys.js';
import type {
  HeldTransaction,
  HeldTransactions,
  IndexedTrace,
  IndexedTraceState,
  IndexedTransaction,
  Listed,
  Page,
  TraceFilter,
} from '#drivers/store/read/index-types.js';
import {
  hasLt,
  hasTime,
  isSystemTrace,
  type RowWindow,
  readPage,
  storableTimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import { all, type IndexSession, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
import {
  assembleOthers,
  assembleTransactions,
  beginsWithAccount,
  heldOrFound,
  isFound,
  TRANSACTION_COLUMNS,
  TRANSACTION_KEY_COLUMNS,
  type TransactionFound,
  type TransactionKeysFound,
  transactionBegin,
} from '#drivers/store/read/transaction-assembly.js';
import { StoredMessages, transactionHead } from '#drivers/store/stored-transaction.js';
import { type StoredRowOf, selectList, TRACES } from '#drivers/store/tables.js';
import { CLASSIFICATION_STATES } from '#drivers/store/write/actions.js';
import { compareBytes, toHex } from '#kernel/bytes.js';

type TraceFound = StoredRowOf<typeof TRACES> & {
  /** Whether a transaction that is found by the key of the account of the filter is of that account; null: there is none. */
  readonly of_account: boolean | null;
  /** `classified_traces.state`; null: it is not classified. */
  readonly classification: number | null;
};

const STATES: readonly IndexedTraceState[] = ['complete', 'pending', 'broken'];
const TRACE_COLUMNS = raw(selectList(TRACES, 'x'));

/** A page of traces by end_lt or end_utime, then root. */
export async function readTraces(
  session: IndexSession,
  filter: TraceFilter,
  page: Page,
): Promise<Listed<IndexedTrace>> {
  const column = hasTime(filter) ? 'end_utime' : 'end_lt';
  const roots = await rootsOf(session, filter);
  const { rows, next } = await readPage<TraceFound, IndexedTrace>(
    {
      name: 'traces',
      filter,
      keyParts: 2,
      read: async (window) => {
        if (roots?.length === 0) return [];
        const statement = await tracesStatement(session, filter, roots, column, page.sort, window);
        return session.rows<TraceFound>(statement, window.offset === 0 ? {} : { planned: 'each time' });
      },
      check: (found) => found.map((row) => (isOfAccount(filter, row) ? indexedTrace(row) : null)),
      keyOf: (row) => [row[column], row.root],
    },
    page,
  );
  return { rows, next };
}

/** Roots of the traces that contain the hashes of a filter; null: the filter has no hashes. At most one statement per kind. */
export async function rootsOf(
  session: IndexSession,
  filter: Pick<TraceFilter, 'trace_id' | 'tx_hash' | 'msg_hash'>,
): Promise<readonly bigint[] | null> {
  const { trace_id, tx_hash, msg_hash } = filter;
  const sets: Set<bigint>[] = [];
  if (trace_id !== undefined || tx_hash !== undefined) {
    const keys = [...new Set([...(trace_id ?? []), ...(tx_hash ?? [])].map(hashKey))];
    const found = await session.rows<{ id: bigint; trace_root: bigint; boc: Uint8Array }>(
      sql`SELECT t.id, t.trace_root, t.boc FROM unnest(${opaqueToPlanner(keys, 'bigint[]')}) AS k(key)
        CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.hash_key = k.key OFFSET 0) AS t`,
    );
    const hashed = found.map((row) => ({ ...row, hash: toHex(new StoredMessages(row.boc).hash) }));
    if (trace_id !== undefined) {
      const wanted = new Set(trace_id.map(toHex));
      sets.push(new Set(hashed.filter((row) => row.id === row.trace_root && wanted.has(row.hash)).map(({ id }) => id)));
    }
    if (tx_hash !== undefined) {
      const wanted = new Set(tx_hash.map(toHex));
      sets.push(new Set(hashed.filter((row) => wanted.has(row.hash)).map(({ trace_root }) => trace_root)));
    }
  }
  if (msg_hash !== undefined) {
    const keys = [...new Set(msg_hash.map(hashKey))];
    const wanted = new Set(msg_hash.map(toHex));
    const found = await session.rows<{ trace_root: bigint; position: number; boc: Uint8Array }>(
      sql`SELECT t.trace_root, m.position, t.boc FROM (
          SELECT m.tx_id, m.position FROM messages m WHERE m.msg_key = ANY(${keys}::bigint[])
          UNION
          SELECT m.tx_id, m.position FROM messages m WHERE m.norm_key = ANY(${keys}::bigint[])
        ) AS m
        CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = m.tx_id LIMIT 1) AS t`,
    );
    const meant = found.filter(({ position, boc }) => {
      const message = new StoredMessages(boc).at(position);
      return message?.hashes.some((hash) => wanted.has(toHex(hash))) === true;
    });
    sets.push(new Set(meant.map(({ trace_root }) => trace_root)));
  }
  const [first, ...others] = sets;
  return first === undefined ? null : [...first].filter((root) => others.every((set) => set.has(root)));
}

async function tracesStatement(
  session: IndexSession,
  filter: TraceFilter,
  roots: readonly bigint[] | null,
  column: 'end_lt' | 'end_utime',
  sort: 'asc' | 'desc',
  { after, offset, count }: RowWindow,
): Promise<Sql> {
  const { account, mc_seqno } = filter;
  const key = account === undefined ? null : accountKey(addressBytes(account));
  const given = storableTimeRange(filter);
  const isWalk = roots === null && mc_seqno === undefined;
  const bounds = isWalk && hasTime(given) && hasLt(given) ? await translateTimeRange(session, given) : given;
  const conditions = (alias: string) => {
    const list = withinTimeRange(bounds, raw(`${alias}.end_lt`), raw(`${alias}.end_utime`));
    if (after !== null) {
      const [value, root] = after;
      const place = raw(`(${alias}.${column}, ${alias}.root)`);
      list.push(sql`${place} ${raw(sort === 'desc' ? '<' : '>')} (${value}::bigint, ${root}::bigint)`);
    }
    if (filter.exclude_system === true) list.push(sql`NOT ${isSystemTrace(raw(`${alias}.root`))}`);
    return list;
  };
  const end = (alias: string) =>
    sql`ORDER BY ${raw(alias)}.${raw(column)} ${raw(sort)}, ${raw(alias)}.root ${raw(sort)} LIMIT ${raw(count)} ${raw(offset === 0 ? '' : `OFFSET ${offset}`)}`;
  let source: Sql;
  if (isWalk && key !== null) {
    source = sql`(SELECT a.root FROM trace_accounts a WHERE a.account_key = ${key}::bigint AND ${all(conditions('a'))} ${end('a')}) AS p
      CROSS JOIN LATERAL (SELECT * FROM traces x WHERE x.root = p.root LIMIT 1) AS x`;
  } else {
    const list = conditions('x');
    if (key !== null) {
      list.push(sql`EXISTS (
        SELECT FROM trace_accounts a
        WHERE a.account_key = ${key}::bigint AND a.end_lt = x.end_lt AND a.root = x.root OFFSET 0
      )`);
    }
    if (mc_seqno !== undefined) list.push(sql`x.mc_seqno_end = ${mc_seqno}::integer`, sql`x.state = 0`);
    const from =
      roots !== null
        ? sql`unnest(${roots}::bigint[]) AS k(root) CROSS JOIN LATERAL (SELECT * FROM traces x WHERE x.root = k.root LIMIT 1) AS x`
        : mc_seqno !== undefined
          ? sql`(SELECT * FROM traces x WHERE x.mc_seqno_end = ${mc_seqno}::integer OFFSET 0) AS x`
          : sql`traces x`;
    source = sql`(SELECT x.* FROM ${from} WHERE ${all(list)} ${end('x')}) AS x`;
  }
  const ofAccount =
    key === null
      ? raw('NULL::boolean')
      : sql`(SELECT ${beginsWithAccount(raw('t.boc'), sql`${transactionBegin(account!)}::text`)} FROM transactions t
          WHERE t.account_key = ${key}::bigint AND t.lt >= x.start_lt AND t.lt <= x.end_lt AND t.trace_root = x.root
            AND t.id >= x.root LIMIT 1)`;
  return sql`SELECT ${TRACE_COLUMNS}, ${ofAccount} AS of_account,
      (SELECT c.state FROM classified_traces c WHERE c.root = x.root) AS classification FROM ${source}
    ORDER BY x.${raw(column)} ${raw(sort)}, x.root ${raw(sort)}`;
}

function isOfAccount({ account }: TraceFilter, { of_account }: TraceFound): boolean {
  return account === undefined || of_account === true;
}

function indexedTrace(found: TraceFound): IndexedTrace {
  return {
    root: found.root,
    trace_id: found.trace_id,
    mc_seqno_start: seqnoOfId(found.root),
    mc_seqno_end: found.mc_seqno_end,
    start_lt: found.start_lt,
    start_utime: Number(found.start_utime),
    end_lt: found.end_lt,
    end_utime: Number(found.end_utime),
    nodes: found.nodes,
    edges: found.edges,
    pending_edges: found.pending_edges,
    state: STATES[found.state]!,
    classification_state: CLASSIFICATION_STATES[found.classification ?? 0] ?? 'unclassified',
  };
}

/** The transactions of traces by lt and account; none of a trace with more than `most`. */
export async function readTransactionsOfTraces(
  session: IndexSession,
  roots: readonly bigint[],
  most: number,
): Promise<ReadonlyMap<bigint, readonly IndexedTransaction[]>> {
  const rows = await ofTraces<TransactionFound>(session, roots, most, TRANSACTION_COLUMNS);
  return byTrace(roots, rows, await assembleTransactions(session, rows));
}

/** The same transactions; of those that the caller holds only the keys are read. */
export async function readTransactionsOfTracesBesideHeld(
  session: IndexSession,
  roots: readonly bigint[],
  most: number,
  held: HeldTransactions,
): Promise<ReadonlyMap<bigint, readonly (HeldTransaction | IndexedTransaction)[]>> {
  const keys = await ofTraces<TransactionKeysFound>(session, roots, most, TRANSACTION_KEY_COLUMNS);
  const all = (await heldOrFound(session, keys, held)).map((row, i) => ({ row, key: keys[i]! }));
  const found = all.flatMap(({ row, key }) => (row === null ? [] : [{ row, key }]));
  const rows = found.map(({ row }) => row);
  return byTrace(
    roots,
    found.map(({ row, key }) => ({ ...key, row })),
    await assembleOthers(session, rows),
  );
}

async function ofTraces<Found extends TransactionKeysFound>(
  session: IndexSession,
  roots: readonly bigint[],
  most: number,
  columns: Sql,
): Promise<Found[]> {
  if (roots.length === 0) return [];
  return session.rows<Found>(
    sql`SELECT ${columns} FROM unnest(${opaqueToPlanner([...new Set(roots)], 'bigint[]')}) AS k(root)
      CROSS JOIN LATERAL (SELECT x.nodes FROM traces x WHERE x.root = k.root LIMIT 1) AS x
      CROSS JOIN LATERAL (
        SELECT * FROM transactions t WHERE t.trace_root = k.root AND t.id >= k.root AND x.nodes <= ${most}::integer OFFSET 0
      ) AS t`,
  );
}

/** @param transactions in the order of the rows */
function byTrace<One>(
  roots: readonly bigint[],
  rows: readonly (TransactionFound | (TransactionKeysFound & { readonly row: HeldTransaction | TransactionFound }))[],
  transactions: readonly One[],
): ReadonlyMap<bigint, readonly One[]> {
  const result = new Map<bigint, One[]>(roots.map((root) => [root, []]));
  const sorted = rows
    .map((found, i) => ({
      found,
      account: accountIdOf('row' in found ? found.row : found),
      transaction: transactions[i]!,
    }))
    .sort((a, b) => {
      if (a.found.lt !== b.found.lt) return a.found.lt < b.found.lt ? -1 : 1;
      return a.found.workchain - b.found.workchain || compareBytes(a.account, b.account);
    });
  for (const { found, transaction } of sorted) result.get(found.trace_root)?.push(transaction);
  return result;
}

function accountIdOf(row: HeldTransaction | TransactionFound): Uint8Array {
  return isFound(row) ? transactionHead(row.boc).account_addr : row.account.hash;
}
