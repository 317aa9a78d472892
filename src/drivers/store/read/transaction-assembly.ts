import { decodeState } from '#drivers/store/encode/state-summary.js';
import { seqnoOfId } from '#drivers/store/ids.js';
import { position } from '#drivers/store/read/block-rows.js';
import type { IndexedTransaction, StateSummary } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { statesBefore } from '#drivers/store/read/states-before.js';
import { transactionHead } from '#drivers/store/read/transaction-head.js';
import type { TransactionFound } from '#drivers/store/read/transaction-rows.js';

/** The state of what is not there. */
const NONEXIST: StateSummary = {
  status: 'nonexist',
  balance: 0n,
  extra_currencies: new Map(),
  frozen_hash: null,
  code_hash: null,
  data_hash: null,
};

/** Rows as transactions: with whole bags of cells, and the states before and after. One statement, sometimes two. */
export async function assembleTransactions(
  session: IndexSession,
  cells: SharedCells,
  rows: readonly TransactionFound[],
): Promise<IndexedTransaction[]> {
  if (rows.length === 0) return [];
  const transactions = rows.map((found) => ({ found, head: transactionHead(found.boc) }));
  const before = await statesBefore(session, transactions);
  const bocs = await cells.complete(
    session,
    rows.map(({ boc }) => boc),
  );
  return transactions.map(({ found, head }, i) => ({
    id: found.id,
    mc_seqno: seqnoOfId(found.id),
    block: position(found.workchain, found.shard, found.block_seqno),
    global_version: found.global_version,
    trace_root: found.trace_root,
    trace_id: found.trace_id,
    boc: bocs[i]!,
    state_before: head.wasNonexist ? NONEXIST : stateOf(before[i]!),
    state_after: head.isNonexist ? NONEXIST : stateOf(found.state_after),
  }));
}

function stateOf(bytes: Uint8Array | null): StateSummary | null {
  return bytes === null ? null : decodeState(bytes);
}
