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
  readonly account_key: bigint;
  readonly boc: Uint8Array;
  /** Of its block; null when that is not there. */
  readonly start_lt: bigint | null;
}

/** Puts a trace together again from the transactions that the index counts to it, and compares all that it says of it. */
export async function checkTrace(reader: Reader, root: bigint, differences: Differences): Promise<void> {
  const rows = await reader.query<StoredRow>({
    text: `SELECT t.id, t.account_key, t.boc, b.start_lt FROM transactions t
           LEFT JOIN blocks b ON b.id >= (t.id >> 24) << 24 AND b.id < ((t.id >> 24) + 1) << 24
             AND b.workchain = t.workchain AND b.shard = t.shard AND b.seqno = t.block_seqno
           WHERE t.trace_root = $1 ORDER BY t.id`,
    values: [root],
  });
  const assembler = new TraceAssembler();
  for (const row of rows) assembler.add(traceTransaction(row));
  const { started, opened, orphans } = assembler.finish();
  const name = `traces ${root}`;
  const [trace] = started;
  if (trace === undefined || trace.root !== root || started.length > 1) {
    const found = started.map((each) => each.root).join(', ') || 'none';
    differences.add({ kind: 'trace', row: name, column: 'transactions', expected: `one trace of ${root}`, found });
    return;
  }
  const { accounts, ...sums } = trace;
  const found = await reader.query<CheckedRow>({ text: 'SELECT * FROM traces WHERE root = $1', values: [root] });
  differences.compareRow('trace', name, TRACES.columns, traceRow(sums) as unknown as CheckedRow, found[0] ?? null);
  const { end_lt, end_utime } = sums;
  const of = accounts.map((account_key) => ({ root, account_key, end_lt, end_utime }));
  const keys = await reader.query<CheckedRow>({ text: 'SELECT * FROM trace_accounts WHERE root = $1', values: [root] });
  const columns = ['end_lt', 'end_utime'];
  differences.compareRows(
    'trace',
    'trace_accounts',
    columns,
    byKey(of, 'root', 'account_key'),
    byKey(keys, 'root', 'account_key'),
  );
  await checkLoose(
    reader,
    'open_messages',
    'trace_root',
    root,
    opened.map(({ hash }) => hash),
    differences,
  );
  await checkLoose(
    reader,
    'orphan_messages',
    'tx_id',
    root,
    orphans.map(({ hash }) => hash),
    differences,
  );
}

async function checkLoose(
  reader: Reader,
  table: string,
  column: string,
  root: bigint,
  hashes: readonly Uint8Array[],
  differences: Differences,
): Promise<void> {
  const rows = await reader.query<{ msg_hash: Uint8Array }>({
    text: `SELECT msg_hash FROM ${table} WHERE ${column} = $1`,
    values: [root],
  });
  const expected = byKey(
    hashes.map((msg_hash) => ({ msg_hash })),
    'msg_hash',
  );
  differences.compareRows('trace', table, [], expected, byKey(rows, 'msg_hash'));
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
