import type { ClientBase } from 'pg';
import { hashKey } from '#drivers/store/keys.js';
import { selectAsWritten, TRACES, type TraceRow } from '#drivers/store/tables.js';
import { advisoryLock, sharedAdvisoryLock } from '#drivers/store/write/locks.js';

/** A message sent in one trace that begins another trace as far as was known. */
export interface StoredTraceJoin {
  readonly msg_hash: Uint8Array;
  /** Root of the trace with the transaction that sent it. */
  readonly parent_root: bigint;
  /** Id of the transaction that received it: the root of the other trace. */
  readonly orphan: bigint;
}

/** A trace that grows or absorbs others. */
export interface TraceChange {
  /** The new row. */
  readonly trace: TraceRow;
  /** Roots of the absorbed traces. */
  readonly absorbs: readonly bigint[];
}

/** Serialises transactions that write traces: waits for others, and holds the lock until this one ends. */
export function lockTraces(client: ClientBase): Promise<void> {
  return advisoryLock(client, 'traces');
}

/** Waits for, and holds up, those that {@link lockTraces}: for several transactions that write other accounts each, and no traces. */
export function keepTraces(client: ClientBase): Promise<void> {
  return sharedAdvisoryLock(client, 'traces');
}

/** The open ones of these messages, with the roots of their traces. */
export async function findOpenMessages(
  client: ClientBase,
  hashes: readonly Uint8Array[],
): Promise<readonly { readonly msg_hash: Uint8Array; readonly trace_root: bigint }[]> {
  if (hashes.length === 0) return [];
  const { rows } = await client.query<{ msg_hash: Uint8Array; trace_root: bigint }>({
    name: 'find-open-messages',
    text: 'SELECT msg_hash, trace_root FROM open_messages WHERE msg_hash = ANY($1::bytea[])',
    values: [hashes],
  });
  return rows;
}

/**
 * The joins that a batch makes possible; its own open and orphan messages are written already.
 *
 * @param hashes of the open and orphan messages of the batch
 */
export async function findJoins(
  client: ClientBase,
  hashes: readonly Uint8Array[],
): Promise<readonly StoredTraceJoin[]> {
  if (hashes.length === 0) return [];
  const { rows } = await client.query<StoredTraceJoin>({
    name: 'find-joins',
    text: `SELECT o.msg_hash, o.trace_root AS parent_root, r.tx_id AS orphan
           FROM unnest($1::bytea[]) h
           JOIN open_messages o ON o.msg_hash = h JOIN orphan_messages r ON r.msg_hash = h`,
    values: [hashes],
  });
  return rows;
}

/** Rows of traces by root. */
export async function readTraceRows(client: ClientBase, roots: readonly bigint[]): Promise<readonly TraceRow[]> {
  if (roots.length === 0) return [];
  const { rows } = await client.query<TraceRow>({
    name: 'read-traces',
    text: `SELECT ${selectAsWritten(TRACES)} FROM traces WHERE root = ANY($1::bigint[])`,
    values: [roots],
  });
  return rows;
}

/** Removes open messages that were received. */
export async function closeOpenMessages(client: ClientBase, hashes: readonly Uint8Array[]): Promise<void> {
  if (hashes.length === 0) return;
  await client.query({
    name: 'close-messages',
    text: 'DELETE FROM open_messages WHERE msg_hash = ANY($1::bytea[])',
    values: [hashes],
  });
}

/**
 * Writes changes of traces: their rows, the transactions and open messages of absorbed ones, and the accounts by which traces are
 * found. Messages that join traces are neither open nor orphans any more, and the rows that the orphans wrote of them are
 * deleted: the row of a message belongs to its sender.
 *
 * @param before rows of all traces that change or are absorbed
 */
export async function updateAndMergeTraces(
  client: ClientBase,
  changes: readonly TraceChange[],
  joins: readonly StoredTraceJoin[],
  before: readonly TraceRow[],
): Promise<void> {
  if (changes.length === 0) return;
  await dropTraceAccounts(client, changes, before);
  const [from, into] = absorbed(changes);
  if (from.length > 0) {
    await client.query({
      name: 'move-transactions',
      text: `UPDATE transactions t SET trace_root = m.into_root
             FROM unnest($1::bigint[], $2::bigint[]) m (from_root, into_root) WHERE t.trace_root = m.from_root`,
      values: [from, into],
    });
    await client.query({
      name: 'move-open-messages',
      text: `UPDATE open_messages o SET trace_root = m.into_root
             FROM unnest($1::bigint[], $2::bigint[]) m (from_root, into_root) WHERE o.trace_root = m.from_root`,
      values: [from, into],
    });
    await client.query({
      name: 'drop-traces',
      text: 'DELETE FROM traces WHERE root = ANY($1::bigint[])',
      values: [from],
    });
  }
  await forgetJoined(client, joins);
  await updateTraces(client, changes);
  await addTraceAccounts(client, changes);
}

function absorbed(changes: readonly TraceChange[]): [from: bigint[], into: bigint[]] {
  const from: bigint[] = [];
  const into: bigint[] = [];
  for (const { trace, absorbs } of changes) {
    for (const root of absorbs) {
      from.push(root);
      into.push(trace.root);
    }
  }
  return [from, into];
}

async function forgetJoined(client: ClientBase, joins: readonly StoredTraceJoin[]): Promise<void> {
  if (joins.length === 0) return;
  const hashes = joins.map(({ msg_hash }) => msg_hash);
  await closeOpenMessages(client, hashes);
  await client.query({
    name: 'drop-orphans',
    text: 'DELETE FROM orphan_messages WHERE msg_hash = ANY($1::bytea[])',
    values: [hashes],
  });
  await client.query({
    name: 'drop-orphan-rows',
    // A transaction receives one message, so the pairs need not be kept together.
    text: `DELETE FROM messages m
           WHERE m.msg_key = ANY($2::bigint[]) AND m.tx_id = ANY($1::bigint[]) AND m.position = 0`,
    values: [joins.map(({ orphan }) => orphan), hashes.map(hashKey)],
  });
}

async function updateTraces(client: ClientBase, changes: readonly TraceChange[]): Promise<void> {
  const rows = changes.map(({ trace }) => trace);
  await client.query({
    name: 'update-traces',
    text: `UPDATE traces t SET end_lt = n.end_lt, end_utime = n.end_utime, mc_seqno_end = n.mc_seqno_end,
             nodes = n.nodes, edges = n.edges, pending_edges = n.pending_edges, state = n.state
           FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::int[], $7::int[],
             $8::smallint[]) n (root, end_lt, end_utime, mc_seqno_end, nodes, edges, pending_edges, state)
           WHERE t.root = n.root`,
    values: [
      rows.map(({ root }) => root),
      rows.map(({ end_lt }) => end_lt),
      rows.map(({ end_utime }) => end_utime),
      rows.map(({ mc_seqno_end }) => mc_seqno_end),
      rows.map(({ nodes }) => nodes),
      rows.map(({ edges }) => edges),
      rows.map(({ pending_edges }) => pending_edges),
      rows.map(({ state }) => state),
    ],
  });
}

/**
 * `trace_accounts` has each account of a trace once, with the end of the trace, so all rows of a growing trace move. This runs while
 * transactions still refer to their former traces, so each trace looks up its own accounts only.
 */
async function dropTraceAccounts(
  client: ClientBase,
  changes: readonly TraceChange[],
  before: readonly TraceRow[],
): Promise<void> {
  const changing = new Set(changes.flatMap(({ trace, absorbs }) => [trace.root, ...absorbs]));
  const old = before.filter(({ root }) => changing.has(root));
  await client.query({
    name: 'drop-trace-accounts',
    text: `DELETE FROM trace_accounts a
           USING (
             SELECT o.root, o.end_lt, k.account_key FROM unnest($1::bigint[], $2::bigint[]) o (root, end_lt)
             CROSS JOIN LATERAL (SELECT DISTINCT t.account_key FROM transactions t WHERE t.trace_root = o.root) k OFFSET 0
           ) k
           WHERE a.account_key = k.account_key AND a.end_lt = k.end_lt AND a.root = k.root`,
    values: [old.map(({ root }) => root), old.map(({ end_lt }) => end_lt)],
  });
}

async function addTraceAccounts(client: ClientBase, changes: readonly TraceChange[]): Promise<void> {
  const rows = changes.map(({ trace }) => trace);
  await client.query({
    name: 'add-trace-accounts',
    text: `INSERT INTO trace_accounts (root, account_key, end_lt, end_utime)
           SELECT DISTINCT n.root, t.account_key, n.end_lt, n.end_utime
           FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) n (root, end_lt, end_utime)
           JOIN transactions t ON t.trace_root = n.root`,
    values: [rows.map(({ root }) => root), rows.map(({ end_lt }) => end_lt), rows.map(({ end_utime }) => end_utime)],
  });
}
