import type { ClientBase } from 'pg';
import type { DetailFields } from '#domain/actions/action-type.js';
import {
  type ActionLayout,
  encodeAction,
  layoutOf,
  layoutOfText,
  layoutText,
  type StoredAction,
} from '#drivers/store/action-row.js';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import { ACTION_ACCOUNTS, ACTIONS, CLASSIFIED_TRACES, type IndexTable } from '#drivers/store/tables.js';
import { ABANDONED_AFTER } from '#drivers/store/write/contract-queue.js';
import { advisoryLock } from '#drivers/store/write/locks.js';
import { toBase64 } from '#kernel/bytes.js';

/** A layout with its number. */
export interface NumberedLayout {
  readonly id: number;
  readonly type: string;
  readonly layout: ActionLayout;
}

/** All layouts, also those that are not written any more. */
async function _readLayouts(client: Pick<ClientBase, 'query'>): Promise<readonly NumberedLayout[]> {
  const { rows } = await client.query<{ id: number; type: string; fields: string }>(
    'SELECT id, type, fields FROM action_layouts ORDER BY id',
  );
  return rows.map(({ id, type, fields }) => ({ id, type, layout: layoutOfText(fields) }));
}

/** The layouts of types as they are declared now, by type; those that are not numbered get a number. */
export async function numberLayouts(
  client: ClientBase,
  types: Iterable<{ readonly name: string; readonly fields: DetailFields }>,
): Promise<ReadonlyMap<string, NumberedLayout>> {
  const wanted = Array.from(types, ({ name, fields }) => {
    const layout = layoutOf(fields);
    return { type: name, layout, text: layoutText(layout) };
  });
  await advisoryLock(client, 'actions');
  await client.query(
    `INSERT INTO action_layouts (id, type, fields)
     SELECT coalesce((SELECT max(id) FROM action_layouts), 0) + row_number() OVER (ORDER BY n.place), n.type, n.fields
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY n (type, fields, place)
     WHERE NOT EXISTS (SELECT FROM action_layouts l WHERE l.type = n.type AND l.fields = n.fields)`,
    [wanted.map(({ type }) => type), wanted.map(({ text }) => text)],
  );
  const { rows } = await client.query<{ id: number; type: string; fields: string }>(
    'SELECT id, type, fields FROM action_layouts',
  );
  const ids = new Map(rows.map(({ id, type, fields }) => [`${type} ${fields}`, id]));
  return new Map(wanted.map(({ type, layout, text }) => [type, { id: ids.get(`${type} ${text}`)!, type, layout }]));
}

/** `state` of `classified_traces`. `unclassified`: contracts of it are waited for. */
export const CLASSIFICATION_STATES = ['unclassified', 'ok', 'failed', 'broken'] as const;
export type ClassificationState = (typeof CLASSIFICATION_STATES)[number];

/** An action of a trace that is to be written. */
interface NewAction extends StoredAction {
  readonly type: string;
  readonly ancestor_types: readonly string[];
}

/** What a trace was classified as. */
export interface NewClassification {
  readonly root: bigint;
  /** Logical time of the end of the trace. */
  readonly end_lt: bigint;
  readonly version: number;
  readonly state: ClassificationState;
  readonly external_hash: Uint8Array | null;
  readonly external_hash_norm: Uint8Array | null;
  readonly actions: readonly NewAction[];
}

/**
 * Writes traces with their actions, in place of those that are there; in the transaction of the caller. The partitions of the roots
 * are there.
 *
 * @returns keys of the participants, also of those of the actions that were there
 */
export async function writeClassifications(
  client: ClientBase,
  traces: readonly NewClassification[],
  layouts: ReadonlyMap<string, NumberedLayout>,
): Promise<readonly bigint[]> {
  // Of two processes that take themselves for the leader, one waits for the other.
  await advisoryLock(client, 'actions');
  const dropped = await dropClassifications(
    client,
    traces.map(({ root }) => root),
  );
  const rows = { classified: new CopyRows(4096), actions: new CopyRows(1 << 16), accounts: new CopyRows(1 << 14) };
  const participants = new Set(dropped);
  for (const { actions, end_lt, ...trace } of traces) {
    const { root } = trace;
    CLASSIFIED_TRACES.write(rows.classified, { ...trace, state: CLASSIFICATION_STATES.indexOf(trace.state) });
    for (const [position, action] of [...actions].sort(byEnd).entries()) {
      const { id, layout } = layouts.get(action.type)!;
      const ancestors = action.ancestor_types.map((type) => layouts.get(type)!.id);
      ACTIONS.write(rows.actions, {
        root,
        position,
        layout: id,
        ancestors: ancestors.length === 0 ? null : ancestors,
        end_lt,
        id_key: hashKey(action.action_id),
        data: encodeAction(action, layout),
      });
      const keys = new Set(action.accounts.map((account) => accountKey(addressBytes(account))));
      for (const account_key of keys) {
        participants.add(account_key);
        ACTION_ACCOUNTS.write(rows.accounts, { root, account_key, end_lt, position, layout: id });
      }
    }
  }
  await copyRows(client, CLASSIFIED_TRACES, rows.classified);
  await copyRows(client, ACTIONS, rows.actions);
  await copyRows(client, ACTION_ACCOUNTS, rows.accounts);
  return [...participants];
}

/** The order of actions within their trace: by end, then by the text of their ids. */
function byEnd(a: StoredAction, b: StoredAction): number {
  if (a.end_lt !== b.end_lt) return a.end_lt < b.end_lt ? -1 : 1;
  return toBase64(a.action_id) < toBase64(b.action_id) ? -1 : 1;
}

async function copyRows(client: ClientBase, { table, columns }: Pick<IndexTable, 'table' | 'columns'>, rows: CopyRows) {
  if (rows.rows > 0) await copyBinary(client, table, columns, [rows.finish()]);
}

/** @returns keys of the participants of their actions */
async function dropClassifications(client: ClientBase, roots: readonly bigint[]): Promise<readonly bigint[]> {
  const { rows } = await client.query<{ root: bigint }>({
    name: 'drop-classified-traces',
    text: 'DELETE FROM classified_traces WHERE root = ANY($1::bigint[]) RETURNING root',
    values: [roots],
  });
  if (rows.length === 0) return [];
  const known = rows.map(({ root }) => root);
  await client.query({
    name: `drop-${ACTIONS.table}`,
    text: `DELETE FROM ${ACTIONS.table} WHERE root = ANY($1::bigint[])`,
    values: [known],
  });
  const { rows: dropped } = await client.query<{ account_key: bigint }>({
    name: `drop-${ACTION_ACCOUNTS.table}`,
    text: `WITH dropped AS (DELETE FROM ${ACTION_ACCOUNTS.table} WHERE root = ANY($1::bigint[]) RETURNING account_key)
           SELECT DISTINCT account_key FROM dropped`,
    values: [known],
  });
  await client.query({
    name: 'drop-classification-waits',
    text: 'DELETE FROM classification_waits WHERE root = ANY($1::bigint[])',
    values: [known],
  });
  return dropped.map(({ account_key }) => account_key);
}

/** A complete trace that is to be classified. */
export interface TraceToClassify {
  readonly root: bigint;
  readonly nodes: number;
}

/** Complete traces that end in a range of masterchain blocks. */
export async function tracesEndingIn(client: ClientBase, { from, to }: SeqnoRange): Promise<TraceToClassify[]> {
  const { rows } = await client.query<TraceToClassify>({
    name: 'traces-ending-in',
    text: 'SELECT root, nodes FROM traces WHERE mc_seqno_end >= $1 AND mc_seqno_end <= $2 AND state = 0 ORDER BY root',
    values: [from, to],
  });
  return rows;
}

/**
 * The next indexed masterchain blocks whose traces are not classified.
 *
 * @param key progress of the derivation
 * @param from only blocks from this one on
 * @param most masterchain blocks
 */
export async function nextUnclassified(
  client: ClientBase,
  key: string,
  { from, most, newestFirst }: { readonly from: number; readonly most: number; readonly newestFirst: boolean },
): Promise<SeqnoRange | null> {
  const direction = newestFirst ? 'DESC' : 'ASC';
  const { rows } = await client.query<{ first: number; end: number }>({
    name: `next-unclassified-${direction}`,
    text: `SELECT lower(u.r) AS first, upper(u.r) AS end
           FROM index_state s LEFT JOIN derivations d ON d.name = $1
           CROSS JOIN LATERAL (
             SELECT r FROM unnest(s.rounds * int4multirange(int4range($2, NULL)) - coalesce(d.rounds, '{}')) AS r
             ORDER BY r ${direction} LIMIT 1
           ) AS u`,
    values: [key, from],
  });
  const next = rows[0];
  if (next === undefined) return null;
  if (newestFirst) return { from: Math.max(next.first, next.end - most), to: next.end - 1 };
  return { from: next.first, to: Math.min(next.end - 1, next.first + most - 1) };
}

/** Queues traces to be classified, again or apart from others. */
export async function queueClassification(
  client: ClientBase,
  roots: readonly bigint[],
  { isLong = false, notBefore = 0 }: { readonly isLong?: boolean; readonly notBefore?: number } = {},
): Promise<void> {
  if (roots.length === 0) return;
  await client.query({
    name: 'queue-classification',
    text: `INSERT INTO classification_queue AS q (root, is_long, not_before) SELECT DISTINCT r, $2::boolean, $3::bigint
           FROM unnest($1::bigint[]) r ORDER BY r
           ON CONFLICT (root) DO UPDATE SET is_long = q.is_long OR excluded.is_long, not_before = excluded.not_before,
             stamp = q.stamp + 1`,
    values: [roots, isLong, notBefore],
  });
}

/** An entry of the queue. */
export interface QueuedTrace {
  readonly root: bigint;
  readonly stamp: bigint;
}

/** Due traces of the queue, those that were never postponed first. @param now unix seconds */
export async function nextQueuedTraces(
  client: ClientBase,
  { isLong, now }: { readonly isLong: boolean; readonly now: number },
  most: number,
): Promise<readonly QueuedTrace[]> {
  const { rows } = await client.query<QueuedTrace>({
    name: 'next-queued-traces',
    text: `SELECT root, stamp FROM classification_queue WHERE is_long = $1 AND not_before <= $2
           ORDER BY not_before, root LIMIT $3`,
    values: [isLong, now, most],
  });
  return rows;
}

/** Of queued traces those that can be classified: complete ones that are still indexed. */
export async function classifiable(client: ClientBase, roots: readonly bigint[]): Promise<TraceToClassify[]> {
  const { rows } = await client.query<TraceToClassify>({
    name: 'classifiable-traces',
    text: 'SELECT root, nodes FROM traces WHERE root = ANY($1::bigint[]) AND state = 0 ORDER BY root',
    values: [roots],
  });
  return rows;
}

/** Removes entries from the queue, unless they were queued again since they were read. */
export async function removeQueuedTraces(client: ClientBase, queued: readonly QueuedTrace[]): Promise<void> {
  if (queued.length === 0) return;
  await client.query({
    name: 'remove-queued-traces',
    text: `DELETE FROM classification_queue q USING unnest($1::bigint[], $2::bigint[]) AS n (root, stamp)
           WHERE q.root = n.root AND q.stamp = n.stamp`,
    values: [queued.map(({ root }) => root), queued.map(({ stamp }) => stamp)],
  });
}

/** Puts off traces that cannot be classified now: twice as long each time, up to an hour. @param now unix seconds */
export async function postponeClassification(client: ClientBase, roots: readonly bigint[], now: number): Promise<void> {
  await client.query({
    name: 'postpone-classification',
    text: `INSERT INTO classification_queue AS q (root, attempts, not_before) SELECT DISTINCT r, 1, $2::bigint + 2
           FROM unnest($1::bigint[]) r ORDER BY r
           ON CONFLICT (root) DO UPDATE SET attempts = least(q.attempts + 1, 1000),
             not_before = $2::bigint + least(2 ^ least(q.attempts + 1, 20), 3600)::bigint`,
    values: [roots, now],
  });
}

/** How many traces are queued; those that have failed again and again are tried now and then, but not waited for. */
export interface QueuedTraceCounts {
  readonly long: number;
  /** Of {@link long} those that are waited for. */
  readonly soonLong: number;
  readonly soonShort: number;
}

export async function countClassificationQueue(client: ClientBase): Promise<QueuedTraceCounts> {
  const { rows } = await client.query<Readonly<Record<keyof QueuedTraceCounts, bigint>>>({
    name: 'count-classification-queue',
    text: `SELECT count(*) FILTER (WHERE is_long) AS long, count(*) FILTER (WHERE is_long AND attempts < $1) AS "soonLong",
             count(*) FILTER (WHERE NOT is_long AND attempts < $1) AS "soonShort" FROM classification_queue`,
    values: [ABANDONED_AFTER],
  });
  const { long, soonLong, soonShort } = rows[0]!;
  return { long: Number(long), soonLong: Number(soonLong), soonShort: Number(soonShort) };
}

/** A trace whose classification depends on a contract that is not detected yet. */
export interface ClassificationWait {
  readonly root: bigint;
  /** Stored form. */
  readonly address: Uint8Array;
}

/**
 * Records what classified traces wait for. A contract that was detected meanwhile is not waited for: its traces are queued again.
 * The last statement of its transaction about the queues: it makes detection wait for the end of the transaction.
 */
export async function writeClassificationWaits(
  client: ClientBase,
  waits: readonly ClassificationWait[],
): Promise<void> {
  if (waits.length === 0) return;
  const addresses = waits.map(({ address }) => address);
  const undetected = new Set<string>();
  // In this order: an account that becomes complete is queued in the same statement.
  for (const [name, text] of [
    [
      'incomplete-waited-for',
      'SELECT address FROM accounts WHERE address = ANY($1::bytea[]) AND incomplete ORDER BY address FOR SHARE',
    ],
    [
      'queued-waited-for',
      'SELECT address FROM contract_queue WHERE address = ANY($1::bytea[]) ORDER BY address FOR SHARE',
    ],
    [
      'past-waited-for',
      `SELECT address FROM past_contracts WHERE address = ANY($1::bytea[]) AND outcome IS NULL
       ORDER BY address, mc_seqno FOR SHARE`,
    ],
  ] as const) {
    const { rows } = await client.query<{ address: Uint8Array }>({ name, text, values: [addresses] });
    for (const { address } of rows) undetected.add(toBase64(address));
  }
  const waiting = waits.filter(({ address }) => undetected.has(toBase64(address)));
  const due = waits.filter((wait) => !waiting.includes(wait));
  await client.query({
    name: 'write-classification-waits',
    text: `INSERT INTO classification_waits (address, root) SELECT * FROM unnest($1::bytea[], $2::bigint[]) AS n (address, root)
           ORDER BY address, root ON CONFLICT DO NOTHING`,
    values: [waiting.map(({ address }) => address), waiting.map(({ root }) => root)],
  });
  await queueClassification(
    client,
    due.map(({ root }) => root),
  );
}

/** Queues the traces that waited for contracts which are detected now; after these have left `contract_queue`. */
export async function endClassificationWaits(client: ClientBase, addresses: readonly Uint8Array[]): Promise<void> {
  const { rows } = await client.query<{ root: bigint }>({
    name: 'end-classification-waits',
    text: 'DELETE FROM classification_waits WHERE address = ANY($1::bytea[]) RETURNING root',
    values: [addresses],
  });
  await queueClassification(
    client,
    rows.map(({ root }) => root),
  );
}
