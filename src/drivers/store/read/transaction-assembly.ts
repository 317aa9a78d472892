import { decodeState, type StoredState } from '#drivers/store/encode/state-summary.js';
import { seqnoOfId } from '#drivers/store/ids.js';
import { position } from '#drivers/store/read/block-rows.js';
import { findCurrencies, type StateAt } from '#drivers/store/read/extra-currencies.js';
import type { IndexedTransaction, StateSummary } from '#drivers/store/read/index-reads.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import type { SharedCells } from '#drivers/store/read/shared-cells.js';
import { statesBefore, type WithHead } from '#drivers/store/read/states-before.js';
import { transactionHead } from '#drivers/store/read/transaction-head.js';
import type { TransactionFound } from '#drivers/store/read/transaction-rows.js';
import { Address } from '#formats/address/address.js';

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
  const partial: StateAt[] = [];
  const decoded = (bytes: Uint8Array | null, { found, head }: WithHead): StoredState | null => {
    if (bytes === null) return null;
    const state = decodeState(bytes);
    if (state.extra_hash === null) return state;
    const address = Address.ofParts(found.workchain, head.account_addr);
    partial.push({ state, address, account_key: found.account_key, lt: found.lt });
    return state;
  };
  const states = transactions.map((each, i) => ({
    before: each.head.wasNonexist ? NONEXIST : decoded(before[i]!, each),
    after: each.head.isNonexist ? NONEXIST : decoded(each.found.state_after, each),
  }));
  const currencies = partial.length === 0 ? null : await findCurrencies(session, partial);
  const whole = (state: StateSummary | null): StateSummary | null =>
    state !== null && currencies?.has(state) === true ? { ...state, extra_currencies: currencies.get(state)! } : state;
  return transactions.map(({ found }, i) => ({
    id: found.id,
    mc_seqno: seqnoOfId(found.id),
    block: position(found.workchain, found.shard, found.block_seqno),
    global_version: found.global_version,
    trace_root: found.trace_root,
    trace_id: found.trace_id,
    boc: bocs[i]!,
    state_before: whole(states[i]!.before),
    state_after: whole(states[i]!.after),
  }));
}
