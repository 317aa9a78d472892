import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { hasWorkchain } from '#drivers/store/read/blocks.js';
import type {
  ByMessageFilter,
  HeldTransaction,
  HeldTransactions,
  IndexedTransaction,
  Listed,
  MessageDirection,
  Page,
  TransactionFilter,
} from '#drivers/store/read/index-types.js';
import {
  type DrivingCondition,
  isImpossible,
  keyConditions,
  meetsPredicate,
  mostSelective,
} from '#drivers/store/read/messages.js';
import {
  hasLt,
  hasTime,
  idsOfMcBlock,
  isSystemTransaction,
  type KeysetList,
  type OrderKey,
  queryDigest,
  type RowWindow,
  readPage,
  readPageAndBeyond,
  storableTimeRange,
  type TimeRange,
  translateTimeRange,
  withinTimeRange,
} from '#drivers/store/read/pages.js';
import { all, type IndexSession, join, opaqueToPlanner, raw, type Sql, sql } from '#drivers/store/read/session.js';
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
import { StoredMessages, StoredTransaction, transactionHead } from '#drivers/store/stored-transaction.js';
import type { Address } from '#formats/address/address.js';
import { bytesEqual, toHex, uint64At } from '#kernel/bytes.js';

/** A page of transactions that match a filter. */
export async function readIndexedTransactions(
  session: IndexSession,
  filter: TransactionFilter,
  page: Page,
): Promise<Listed<IndexedTransaction>> {
  const meets = filterCheck(filter);
  const { rows, next, beyond } = await readPageAndBeyond<TransactionFound, TransactionFound>(
    {
      ...transactionList<TransactionFound>(session, filter, page.sort, TRANSACTION_COLUMNS),
      check: (found) => found.map((row) => (meets(row) ? row : null)),
    },
    page,
  );
  return { rows: await assembleTransactions(session, rows, beyond), next };
}

/**
 * The same page; of the transactions that the caller holds only the keys are read. A page that was not asked for lately is read as a
 * whole: then hardly any of it is held, and a second statement would cost more than the cells.
 */
export async function readTransactionsBesideHeld(
  session: IndexSession,
  filter: TransactionFilter,
  page: Page,
  held: HeldTransactions,
): Promise<Listed<HeldTransaction | IndexedTransaction>> {
  const meets = filterCheck(filter);
  const isKnown = session.caches.notePage(queryDigest('transactions', filter, page.sort), page);
  const columns = isKnown ? TRANSACTION_KEY_COLUMNS : TRANSACTION_COLUMNS;
  const { rows, next, beyond } = await readPageAndBeyond<
    TransactionKeysFound | TransactionFound,
    HeldTransaction | TransactionFound
  >(
    {
      ...transactionList<TransactionKeysFound | TransactionFound>(session, filter, page.sort, columns),
      check: async (found) => {
        const all = await heldOrFound(session, found, held);
        return all.map((row) => (row !== null && meets(row) ? row : null));
      },
    },
    page,
  );
  return { rows: await assembleOthers(session, rows, beyond !== null && isFound(beyond) ? beyond : null), next };
}

/** The list of transactions of a filter, without the comparison with its whole values. */
function transactionList<Found extends TransactionKeysFound>(
  session: IndexSession,
  filter: TransactionFilter,
  sort: Page['sort'],
  columns: Sql,
): Omit<KeysetList<Found, never>, 'check'> {
  const order = { byTime: hasTime(filter), sort };
  return {
    name: 'transactions',
    filter,
    keyParts: order.byTime ? 3 : 2,
    read: async (window) => {
      const source = await transactionSource(session, filter, order, window);
      if (source === NOTHING_MATCHES) return [];
      const statement = sql`SELECT ${columns} FROM (
          SELECT t.* FROM ${source} ORDER BY ${orderBy(order)} ${limitOffset(window)}
        ) AS t ORDER BY ${orderBy(order)}`;
      return session.rows<Found>(statement, window.offset === 0 ? {} : { planned: 'each time' });
    },
    keyOf: (row) => orderKey(order, row),
  };
}

/** Compares rows that were found by keys with the whole values of the filter. */
function filterCheck(filter: TransactionFilter): (row: HeldTransaction | TransactionFound) => boolean {
  const accounts = wantedAccounts(filter);
  const ids =
    accounts === undefined ? null : new Set(accounts.map(({ workchain, hash }) => `${workchain}:${toHex(hash)}`));
  const hashes = filter.hash === undefined ? null : new Set(filter.hash.map(toHex));
  return (row) =>
    (ids === null || ids.has(accountText(row))) &&
    (hashes === null || hashes.has(toHex(isFound(row) ? storedHash(row.boc) : row.hash)));
}

function accountText(row: HeldTransaction | TransactionFound): string {
  if (!isFound(row)) return `${row.account.workchain}:${toHex(row.account.hash)}`;
  return `${row.workchain}:${toHex(transactionHead(row.boc).account_addr)}`;
}

/** The hash of a stored transaction. */
function storedHash(stored: Uint8Array): Uint8Array {
  return new StoredTransaction(stored).root.hash(0);
}

/** Nothing can match the filter. */
const NOTHING_MATCHES = Symbol('none');

/** Whether an account can be in a shard, by its address. @param shard unsigned */
function shardHolds(shard: bigint, { hash }: Address): boolean {
  const end = shard & -shard;
  const prefix = uint64At(hash, 0);
  return end !== 0n && ((prefix ^ shard) & ~(end | (end - 1n)) & ((1n << 64n) - 1n)) === 0n;
}

/** The accounts that match all account conditions of the filter; undefined: any. */
function wantedAccounts(filter: TransactionFilter): readonly Address[] | undefined {
  const { account, exclude_account = [], workchain, shard } = filter;
  return account?.filter(
    (address) =>
      (workchain === undefined || address.workchain === workchain) &&
      (shard === undefined || shardHolds(shard, address)) &&
      !exclude_account.some((other) => other.equals(address)),
  );
}

/**
 * The rows of a filter as a `FROM` item with the alias `t` and all conditions in it, so that the index is used that finds the fewest
 * rows in the wanted order. Rows found by a key have to be compared with its whole value.
 */
async function transactionSource(
  session: IndexSession,
  filter: TransactionFilter,
  order: TransactionOrder,
  window: RowWindow,
): Promise<Sql | typeof NOTHING_MATCHES> {
  const accounts = wantedAccounts(filter);
  if (accounts?.length === 0 || filter.hash?.length === 0) return NOTHING_MATCHES;
  const { hash, mc_seqno, seqno, lt, workchain } = filter;
  const shard = filter.shard ?? (workchain === -1 ? 1n << 63n : undefined);
  const signedShard = shard === undefined ? undefined : BigInt.asIntN(64, shard);
  const conditions = behindTransaction(order, window.after);
  if (lt !== undefined) conditions.push(sql`t.lt = ${storableTimeRange({ start_lt: lt }).start_lt}::bigint`);
  if (workchain !== undefined) conditions.push(sql`t.workchain = ${workchain}::integer`);
  if (signedShard !== undefined) conditions.push(sql`t.shard = ${signedShard}::bigint`);
  if (seqno !== undefined) conditions.push(sql`t.block_seqno = ${seqno}::integer`);
  if (mc_seqno !== undefined) conditions.push(idsOfMcBlock(mc_seqno, raw('t.id')));
  if (filter.exclude_system === true) conditions.push(sql`NOT ${isSystemTransaction('t')}`);
  if (accounts === undefined) conditions.push(...excludeAccounts(filter.exclude_account ?? []));

  const given = storableTimeRange(filter);
  const bounds = withinTimeRange(given, raw('t.lt'), raw('t.now'));
  const keys =
    accounts === undefined ? null : [...new Set(accounts.map((address) => accountKey(addressBytes(address))))];
  const ofAccounts = keys === null ? [] : [sql`t.account_key = ANY(${keys}::bigint[])`];

  if (hash !== undefined) {
    const hashes = [...new Set(hash.map(hashKey))];
    return sql`unnest(${opaqueToPlanner(hashes, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
      SELECT * FROM transactions t WHERE t.hash_key = k.key OFFSET 0
    ) AS t WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (mc_seqno !== undefined) {
    return sql`(SELECT * FROM transactions t WHERE ${idsOfMcBlock(mc_seqno, raw('t.id'))} OFFSET 0) AS t
      WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (seqno !== undefined) {
    const blocks = [sql`b.seqno = ${seqno}::integer`];
    if (workchain !== undefined) blocks.push(sql`b.workchain = ${workchain}::integer`);
    if (signedShard !== undefined) blocks.push(sql`b.shard = ${signedShard}::bigint`);
    return sql`(SELECT DISTINCT b.id >> 24 AS round FROM blocks b WHERE ${all(blocks)} OFFSET 0) AS r
      CROSS JOIN LATERAL (
        SELECT * FROM transactions t WHERE t.id >= r.round << 24 AND t.id < (r.round + 1) << 24 OFFSET 0
      ) AS t WHERE ${all([...conditions, ...bounds, ...ofAccounts])}`;
  }
  if (keys !== null) {
    // A time bound is translated to lt for the index.
    const open = boundsBehind(order, window.after, lt === undefined ? given : { ...given, start_lt: lt, end_lt: lt });
    const more = order.byTime && lt === undefined ? await translateTimeRange(session, open) : open;
    const life =
      signedShard === undefined || workchain === undefined ? [] : shardLifetime(workchain, signedShard, order);
    const of = (key: Sql) =>
      all([
        ofAccount(key, storableTimeRange(more)),
        ...conditions,
        ...withinTimeRange(given, raw('t.lt'), raw('t.now')),
        ...life,
      ]);
    const most = raw(window.count + window.offset);
    return sql`unnest(${opaqueToPlanner(keys, 'bigint[]')}) AS k(key) CROSS JOIN LATERAL (
      SELECT * FROM transactions t WHERE ${of(raw('k.key'))} ORDER BY ${accountOrder(order)} LIMIT ${most}
    ) AS t WHERE true`;
  }
  if (lt !== undefined) {
    return sql`(SELECT * FROM transactions t WHERE t.lt = ${storableTimeRange({ start_lt: lt }).start_lt}::bigint OFFSET 0) AS t
      WHERE ${all([...conditions, ...bounds])}`;
  }
  if (signedShard !== undefined) {
    return shardSource(workchain, signedShard, all([...conditions, ...bounds]), filter, order, window);
  }
  const mixed = hasTime(given) && hasLt(given);
  const more = mixed ? withinTimeRange(await translateTimeRange(session, given), raw('t.lt'), raw('t.now')) : bounds;
  // A workchain that there is not would be looked for in all there is.
  const exists = workchain === undefined ? [] : [hasWorkchain(workchain)];
  return sql`transactions t WHERE ${all([...conditions, ...more, ...exists])}`;
}

/** Without the transactions of some accounts. The key alone would hide another account with the same one. */
function excludeAccounts(addresses: readonly Address[]): Sql[] {
  if (addresses.length === 0) return [];
  const distinct = addresses.filter(
    (a, i) => addresses.findIndex((b) => b.workchain === a.workchain && bytesEqual(a.hash, b.hash)) === i,
  );
  const keys = distinct.map((address) => accountKey(addressBytes(address)));
  const begins = distinct.map(transactionBegin);
  return [
    sql`(t.account_key <> ALL(${keys}::bigint[]) OR NOT EXISTS (
      SELECT FROM unnest(${keys}::bigint[], ${begins}::text[]) AS x(key, begin)
      WHERE x.key = t.account_key AND ${beginsWithAccount(raw('t.boc'), raw('x.begin'))} OFFSET 0
    ))`,
  ];
}

/** The lifetime of a shard, in terms of the order. */
function shardLifetime(workchain: number, shard: bigint, { byTime }: TransactionOrder): Sql[] {
  const of = (column: string, sort: string) =>
    sql`(SELECT b.${raw(column)} FROM blocks b WHERE b.workchain = ${workchain}::integer AND b.shard = ${shard}::bigint ORDER BY b.seqno ${raw(sort)} LIMIT 1)`;
  return byTime
    ? [sql`t.now >= ${of('gen_utime', 'ASC')}`, sql`t.now <= ${of('gen_utime', 'DESC')}`]
    : [sql`t.lt >= ${of('start_lt', 'ASC')}`, sql`t.lt <= ${of('end_lt', 'DESC')}`];
}

/**
 * The transactions of a shard, block by block: later blocks of a shard have later transactions. Without a workchain, of all
 * workchains.
 */
function shardSource(
  workchain: number | undefined,
  shard: bigint,
  conditions: Sql,
  filter: TransactionFilter,
  order: TransactionOrder,
  window: RowWindow,
): Sql {
  const bounds = storableTimeRange(filter);
  const blocks = [sql`b.workchain = w.workchain`, sql`b.shard = ${shard}::bigint`, sql`b.tx_count > 0`];
  if (bounds.start_utime !== undefined) blocks.push(sql`b.gen_utime >= ${bounds.start_utime}::bigint`);
  if (bounds.end_utime !== undefined) blocks.push(sql`b.gen_utime <= ${bounds.end_utime}::bigint`);
  if (bounds.start_lt !== undefined) blocks.push(sql`b.end_lt >= ${bounds.start_lt}::bigint`);
  if (bounds.end_lt !== undefined) blocks.push(sql`b.start_lt <= ${bounds.end_lt}::bigint`);
  if (window.after !== null) {
    const id = window.after.at(-1);
    blocks.push(sql`b.seqno ${raw(order.sort === 'desc' ? '<=' : '>=')} coalesce(
      (SELECT c.block_seqno FROM transactions c WHERE c.id = ${id}::bigint AND c.workchain = w.workchain AND c.shard = ${shard}::bigint),
      ${raw(order.sort === 'desc' ? '2147483647' : '0')})`);
  }
  const workchains =
    workchain === undefined
      ? sql`(
          WITH RECURSIVE known(workchain) AS (
            (SELECT b.workchain FROM blocks b ORDER BY b.workchain, b.shard, b.seqno LIMIT 1)
            UNION ALL
            SELECT (SELECT b.workchain FROM blocks b WHERE b.workchain > k.workchain ORDER BY b.workchain, b.shard, b.seqno LIMIT 1)
            FROM known k WHERE k.workchain IS NOT NULL
          )
          SELECT k.workchain FROM known k WHERE k.workchain IS NOT NULL
        )`
      : sql`(SELECT ${workchain}::integer AS workchain)`;
  return sql`${workchains} AS w CROSS JOIN LATERAL (
      SELECT t.* FROM blocks b CROSS JOIN LATERAL (
        SELECT * FROM transactions t
        WHERE t.id >= (b.id >> 24) << 24 AND t.id < ((b.id >> 24) + 1) << 24
          AND t.block_seqno = b.seqno AND t.workchain = w.workchain AND ${conditions} OFFSET 0
      ) AS t
      WHERE ${all(blocks)}
      ORDER BY b.seqno ${raw(order.sort)}, t.lt ${raw(order.sort)}, t.id LIMIT ${raw(window.count + window.offset)}
    ) AS t WHERE true`;
}

/** Sort order of transactions: by lt, or by now and lt; then by id, ascending in both directions. */
interface TransactionOrder {
  readonly byTime: boolean;
  readonly sort: 'asc' | 'desc';
}

/** The condition for rows after an order key, which is lt and id, or now, lt and id. */
function behindTransaction({ byTime, sort }: TransactionOrder, after: OrderKey | null): Sql[] {
  if (after === null) return [];
  const compare = raw(sort === 'desc' ? '<' : '>');
  if (byTime) {
    const [now, lt, id] = after;
    return [
      sql`(t.now, t.lt) ${compare}= (${now}::bigint, ${lt}::bigint)`,
      sql`((t.now, t.lt) ${compare} (${now}::bigint, ${lt}::bigint) OR t.id > ${id}::bigint)`,
    ];
  }
  const [lt, id] = after;
  return [sql`t.lt ${compare}= ${lt}::bigint`, sql`(t.lt ${compare} ${lt}::bigint OR t.id > ${id}::bigint)`];
}

function orderBy({ byTime, sort }: TransactionOrder): Sql {
  return raw(byTime ? `t.now ${sort}, t.lt ${sort}, t.id` : `t.lt ${sort}, t.id`);
}

function orderKey({ byTime }: TransactionOrder, row: { now: bigint; lt: bigint; id: bigint }): OrderKey {
  return byTime ? [row.now, row.lt, row.id] : [row.lt, row.id];
}

/** `LIMIT` and `OFFSET` as literals: the planner chooses a bad index when it does not know them. */
function limitOffset({ count, offset }: RowWindow): Sql {
  return raw(offset === 0 ? `LIMIT ${count}` : `LIMIT ${count} OFFSET ${offset}`);
}

/** Range of int8. */
const LEAST = -(1n << 63n);
const GREATEST = (1n << 63n) - 1n;

/**
 * The rows of one account within bounds of lt. A row comparison, to be sorted by {@link accountOrder}: with `account_key = …` the
 * planner assumes an average account and sorts the millions of rows of a busy one.
 */
function ofAccount(key: Sql, { start_lt = LEAST, end_lt = GREATEST }: TimeRange): Sql {
  return sql`(t.account_key, t.lt) >= (${key}, ${start_lt}::bigint) AND (t.account_key, t.lt) <= (${key}, ${end_lt}::bigint)`;
}

/**
 * The order of the index by account; also the order by now, as block times of an account rise.
 */
function accountOrder({ sort }: TransactionOrder): Sql {
  return raw(`t.account_key ${sort}, t.lt ${sort}, t.id`);
}

/** The bounds, narrowed to the rows after an order key. */
function boundsBehind({ byTime, sort }: TransactionOrder, after: OrderKey | null, bounds: TimeRange): TimeRange {
  const place = after?.[0];
  if (place == null) return bounds;
  if (byTime)
    return sort === 'desc' ? { ...bounds, end_utime: Number(place) } : { ...bounds, start_utime: Number(place) };
  return sort === 'desc' ? { ...bounds, end_lt: place } : { ...bounds, start_lt: place };
}

/** Which messages of a transaction count: received ones, sent ones. */
interface Sides {
  readonly in: boolean;
  readonly out: boolean;
}

/** A page of the transactions that received or sent a matching message. */
export async function readTransactionsByMessage(
  session: IndexSession,
  filter: ByMessageFilter,
  page: Page,
): Promise<Listed<IndexedTransaction>> {
  const { direction, opcode } = filter;
  const sides = { in: direction !== 'out', out: direction !== 'in' && opcode === undefined };
  const order = { byTime: false, sort: page.sort };
  const few = session.thresholds.messagesOfTransactions;
  let driver: DrivingCondition | undefined;
  const { rows, next } = await readPage<TransactionFound, TransactionFound>(
    {
      name: 'transactionsByMessage',
      filter,
      keyParts: 2,
      read: async (window) => {
        if ((!sides.in && !sides.out) || isImpossible(filter)) return [];
        driver ??= await mostSelective(session, keyConditions(filter), [], few);
        const found =
          driver.count < few
            ? ofMessages(filter, driver, sides, order, window)
            : walkTransactions(filter, sides, order, window);
        // Every hash has one or two messages: one plan is good for all.
        const isOfHash = driver.condition.name === 'msg_hash' && window.offset === 0;
        return session.rows<TransactionFound>(found, isOfHash ? {} : { planned: 'each time' });
      },
      check: (found) => found.map((row) => (hasMessage(filter, sides, row.boc) ? row : null)),
      keyOf: (row) => orderKey(order, row),
    },
    page,
  );
  return { rows: await assembleTransactions(session, rows), next };
}

function hasMessage(filter: ByMessageFilter, sides: Sides, stored: Uint8Array): boolean {
  const messages = new StoredMessages(stored);
  const { received } = messages;
  if (sides.in && received !== null && meetsPredicate(filter, received)) return true;
  return sides.out && messages.sent.some((message) => meetsPredicate(filter, message));
}

/** For few messages: their transactions, sorted. */
function ofMessages(
  filter: ByMessageFilter,
  driver: DrivingCondition,
  sides: Sides,
  order: TransactionOrder,
  window: RowWindow,
): Sql {
  const others = keyConditions(filter).filter(({ name }) => name !== driver.condition.name);
  const ids: Sql[] = [];
  if (sides.out) ids.push(raw('SELECT f.tx_id AS id FROM found f WHERE f.position > 0'));
  if (sides.in) {
    ids.push(raw('SELECT f.tx_id AS id FROM found f WHERE f.position = 0'));
    ids.push(
      raw(`SELECT c.id FROM found f CROSS JOIN LATERAL (
        SELECT c.id FROM transactions c WHERE c.in_msg_key = f.msg_key AND c.id > f.tx_id OFFSET 0
      ) AS c WHERE f.position > 0`),
    );
  }
  return sql`WITH found AS MATERIALIZED (
      SELECT m.tx_id, m.msg_key, m.position FROM messages m
      WHERE ${all([driver.condition.finds, ...others.map(({ holds }) => holds)])}
    ), page AS MATERIALIZED (
      SELECT t.id, t.lt FROM (SELECT DISTINCT i.id FROM (${join(ids, ' UNION ALL ')}) AS i) AS i
      CROSS JOIN LATERAL (SELECT t.id, t.lt FROM transactions t WHERE t.id = i.id LIMIT 1) AS t
      WHERE ${all(behindTransaction(order, window.after))} ORDER BY ${orderBy(order)} ${limitOffset(window)}
    )
    SELECT ${TRANSACTION_COLUMNS} FROM page
    CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = page.id LIMIT 1) AS t ORDER BY ${orderBy(order)}`;
}

/** For many messages: walks transactions in order and checks the messages of each. */
function walkTransactions(filter: ByMessageFilter, sides: Sides, order: TransactionOrder, window: RowWindow): Sql {
  const meets = all(keyConditions(filter).map(({ holds }) => holds));
  const has: Sql[] = [];
  if (sides.in) {
    has.push(sql`(t.in_msg_key IS NOT NULL AND EXISTS (
      SELECT FROM messages m WHERE m.msg_key = t.in_msg_key AND m.tx_id <= t.id AND ${meets} OFFSET 0
    ))`);
  }
  if (sides.out) {
    // The lt of out-messages follows that of their transaction.
    has.push(sql`EXISTS (
      SELECT FROM messages m
      WHERE m.source_key = t.account_key AND m.created_lt > t.lt AND m.created_lt <= t.lt + 65536 AND m.tx_id = t.id
        AND m.position > 0 AND ${meets} OFFSET 0
    )`);
  }
  const conditions = [...behindTransaction(order, window.after), sql`(${join(has, ' OR ')})`];
  const account = sides.in ? (sides.out ? undefined : filter.destination) : filter.source;
  if (account) conditions.unshift(sql`t.account_key = ${accountKey(addressBytes(account))}::bigint`);
  return sql`SELECT ${TRANSACTION_COLUMNS} FROM (
      SELECT t.* FROM transactions t WHERE ${all(conditions)} ORDER BY ${orderBy(order)} ${limitOffset(window)}
    ) AS t ORDER BY ${orderBy(order)}`;
}

/** A page of the transactions that share a message with another one. */
export interface AdjacentTransactions {
  readonly rows: readonly IndexedTransaction[];
  /** Roots of the traces of all of them; none: there are no such transactions. */
  readonly trace_roots: readonly bigint[];
}

/** The transaction that sent what another received (`in`), those that received what it sent (`out`), or both. */
export async function readAdjacentTransactions(
  session: IndexSession,
  hash: Uint8Array,
  direction: MessageDirection | undefined,
  { limit, offset, sort }: Omit<Page, 'cursor'>,
): Promise<AdjacentTransactions | null> {
  const found = await session.rows<{ id: bigint; boc: Uint8Array }>(
    sql`SELECT t.id, t.boc FROM transactions t WHERE t.hash_key = ${hashKey(hash)}::bigint`,
  );
  let messages: StoredMessages | null = null;
  let id = 0n;
  for (const row of found) {
    const its = new StoredMessages(row.boc);
    if (!bytesEqual(its.hash, hash)) continue;
    messages = its;
    id = row.id;
  }
  if (messages === null) return null;
  const received = direction === 'out' ? null : (messages.received?.hash ?? null);
  const sent = direction === 'in' ? [] : messages.sent.map((message) => message.hash);
  const rows = await session.rows<TransactionFound & { readonly is_sender: boolean }>(
    sql`SELECT ${TRANSACTION_COLUMNS}, a.is_sender FROM (
        SELECT m.tx_id AS id, true AS is_sender FROM messages m
        WHERE m.msg_key = ANY(${received === null ? [] : [hashKey(received)]}::bigint[]) AND m.position > 0
        UNION
        SELECT c.id, false FROM unnest(${sent.map(hashKey)}::bigint[]) AS k(key) CROSS JOIN LATERAL (
          SELECT c.id FROM transactions c WHERE c.in_msg_key = k.key AND c.id > ${id}::bigint OFFSET 0
        ) AS c
      ) AS a
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE t.id = a.id LIMIT 1) AS t
      ORDER BY t.lt, t.id`,
  );
  const sentHashes = new Set(sent.map(toHex));
  const meant = rows.filter((row) => {
    const its = new StoredMessages(row.boc);
    if (row.is_sender) return its.sent.some((message) => bytesEqual(message.hash, received!));
    return its.received !== null && sentHashes.has(toHex(its.received.hash));
  });
  const sorted = sort === 'asc' ? meant : meant.toReversed();
  return {
    rows: await assembleTransactions(session, sorted.slice(offset, offset + limit)),
    trace_roots: [...new Set(meant.map(({ trace_root }) => trace_root))],
  };
}
