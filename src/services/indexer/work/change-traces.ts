import type { ClientBase } from 'pg';
import { stitch } from '#domain/traces/stitch.js';
import { growTrace, type Trace } from '#domain/traces/trace.js';
import type { TraceBatch } from '#domain/traces/trace-assembler.js';
import { seqnoOfId } from '#drivers/store/ids.js';
import {
  changeTraces,
  closeMessages,
  findJoins,
  readTraces,
  type TraceChange,
  type TraceRow,
} from '#drivers/store/write/merge-traces.js';

/** The states of traces as the table has them, by number. */
const STATES = ['complete', 'pending', 'broken'] as const;

/** A trace as its row. */
export function traceRow({ mc_seqno_start: _, state, ...trace }: Trace): TraceRow {
  return { ...trace, state: STATES.indexOf(state) };
}

function traceOfRow({ state, ...row }: TraceRow): Trace {
  return { ...row, mc_seqno_start: seqnoOfId(row.root), state: STATES[state]! };
}

/**
 * Changes the traces of the index by what a batch tells of them: those that go on in it, and those that it connects. The rows
 * of the batch are written already, and the lock of the traces is held.
 *
 * @throws traces/trace-missing and what the database says: the transaction must be rolled back
 */
export async function changeTracesBy(client: ClientBase, batch: TraceBatch): Promise<void> {
  await closeMessages(
    client,
    batch.arrived.map(({ hash }) => hash),
  );
  const joins = await findJoins(
    client,
    [...batch.opened, ...batch.orphans].map(({ hash }) => hash),
  );
  const roots = new Set(batch.continued.map(({ root }) => root));
  for (const { parent_root, orphan } of joins) {
    roots.add(parent_root);
    roots.add(orphan);
  }
  const before = await readTraces(client, [...roots]);
  const traces = new Map(before.map((row) => [row.root, traceOfRow(row)]));
  for (const growth of batch.continued) traces.set(growth.root, growTrace(traces.get(growth.root), growth));
  const { traces: joined, moved } = stitch(
    joins.map(({ msg_hash, parent_root, orphan }) => ({ hash: msg_hash, parent: parent_root, orphan })),
    traces.values(),
  );
  for (const trace of joined) traces.set(trace.root, trace);
  const absorbs = new Map<bigint, bigint[]>();
  for (const { from, to } of moved) {
    traces.delete(from);
    const list = absorbs.get(to);
    if (list === undefined) absorbs.set(to, [from]);
    else list.push(from);
  }
  const changes: TraceChange[] = [];
  for (const trace of traces.values()) changes.push({ trace: traceRow(trace), absorbs: absorbs.get(trace.root) ?? [] });
  await changeTraces(client, changes, joins, before);
}
