import { TraceAssembler } from '#domain/traces/trace-assembler.js';
import { inboundKind, type TraceTransaction } from '#domain/traces/trace-transaction.js';
import { loadTransaction } from '#drivers/store/encode/stored-transaction.js';
import { TRACES } from '#drivers/store/encode/table-rows.js';
import { seqnoOfId } from '#drivers/store/ids.js';
import type { Reader } from '#drivers/store/reading.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { byKey, type CheckedRow, type Differences } from '#services/indexer/check/differences.js';
import { traceRow } from '#services/indexer/work/change-traces.js';

interface StoredRow {
  readonly id: bigint;
  readonly trace_root: bigint;
  readonly account_key: bigint;
  readonly boc: Uint8Array;
  /** Of its block; null when that is not there. */
  readonly start_lt: bigint | null;
}

/** Puts traces together again from the transactions that the index counts to each, and compares all that it says of them. */
export async function checkTraces(reader: Reader, roots: readonly bigint[], differences: Differences): Promise<void> {
  const transactions = await reader.query<StoredRow>({
    text: `SELECT t.id, t.trace_root, t.account_key, t.boc, b.start_lt FROM transactions t
           LEFT JOIN blocks b ON b.id >= (t.id >> 24) << 24 AND b.id < ((t.id >> 24) + 1) << 24
             AND b.workchain = t.workchain AND b.shard = t.shard AND b.seqno = t.block_seqno
           WHERE t.trace_root = ANY($1::bigint[]) ORDER BY t.id`,
    values: [roots],
  });
  const byRoot = new Map<bigint, StoredRow[]>(roots.map((root) => [root, []]));
  for (const row of transactions) byRoot.get(row.trace_root)!.push(row);
  const traces: CheckedRow[] = [];
  const accountRows: CheckedRow[] = [];
  const open: CheckedRow[] = [];
  const orphan: CheckedRow[] = [];
  for (const root of roots) {
    const assembler = new TraceAssembler();
    for (const row of byRoot.get(root)!) assembler.add(traceTransaction(row));
    const { started, opened, orphans } = assembler.finish();
    const [trace] = started;
    if (trace === undefined || trace.root !== root || started.length > 1) {
      const found = started.map((each) => each.root).join(', ') || 'none';
      const expected = `one trace of ${root}`;
      differences.add({ kind: 'trace', row: `traces ${root}`, column: 'transactions', expected, found });
      continue;
    }
    const { accounts, ...sums } = trace;
    const { end_lt, end_utime } = sums;
    traces.push(traceRow(sums) as unknown as CheckedRow);
    for (const account_key of accounts) accountRows.push({ root, account_key, end_lt, end_utime });
    for (const { hash } of opened) open.push({ msg_hash: hash, trace_root: root });
    for (const { hash } of orphans) orphan.push({ msg_hash: hash, tx_id: root });
  }
  const whole = traces.map(({ root }) => root as bigint);
  const compare = async (
    table: string,
    rootColumn: string,
    key: string[],
    columns: readonly string[],
    expected: CheckedRow[],
  ) => {
    const found = await reader.query<CheckedRow>({
      text: `SELECT * FROM ${table} WHERE ${rootColumn} = ANY($1::bigint[])`,
      values: [whole],
    });
    differences.compareRows('trace', table, columns, byKey(expected, ...key), byKey(found, ...key));
  };
  await compare('traces', 'root', ['root'], TRACES.columns, traces);
  await compare('trace_accounts', 'root', ['root', 'account_key'], ['end_lt', 'end_utime'], accountRows);
  await compare('open_messages', 'trace_root', ['msg_hash'], ['trace_root'], open);
  await compare('orphan_messages', 'tx_id', ['msg_hash'], ['tx_id'], orphan);
}

function traceTransaction({ id, account_key, boc, start_lt }: StoredRow): TraceTransaction {
  // A code that is stored apart stays a pruned branch: the hashes of level 0 are those of the whole.
  const cell = loadTransaction(boc, () => null);
  const { lt, now, in_msg, out_msgs } = decodeCell(Transaction, cell);
  return {
    id,
    hash: cell.hash(0),
    lt,
    now,
    mc_seqno: seqnoOfId(id),
    account_key,
    in_msg:
      in_msg === null ? null : { hash: in_msg.cell.hash(0), kind: inboundKind(in_msg.value.info, start_lt ?? 0n) },
    out_msgs: [...out_msgs].map(([, message]) => ({
      hash: message.cell.hash(0),
      external: message.value.info.kind === 'ext_out_msg_info',
    })),
  };
}

/** A message that is both open and an orphan should have joined two traces. */
export async function checkUnjoined(reader: Reader, differences: Differences): Promise<void> {
  const rows = await reader.query<{ msg_hash: Uint8Array; trace_root: bigint; tx_id: bigint }>({
    text: 'SELECT msg_hash, trace_root, tx_id FROM open_messages JOIN orphan_messages USING (msg_hash)',
  });
  for (const { msg_hash, trace_root, tx_id } of rows) {
    const row = `open_messages ${toHex(msg_hash)}`;
    const expected = `transaction ${tx_id} in the trace ${trace_root}`;
    differences.add({ kind: 'trace', row, column: null, expected, found: 'two traces' });
  }
}
