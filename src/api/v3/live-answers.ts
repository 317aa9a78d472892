import { type AnswerAction, actionValue } from '#api/v3/actions.js';
import { type AnswerPage, writeAnswerJson } from '#api/v3/answer-type.js';
import type { WrittenTransaction } from '#api/v3/kept-texts.js';
import { TraceJson, transactionsJson, treeJson } from '#api/v3/traces.js';
import { writeCells } from '#api/v3/transactions.js';
import { ACTION_TYPES, type Action } from '#domain/actions/action-registry.js';
import { traceNodeJson, unfoldingTree } from '#domain/traces/trace-tree.js';
import { type ActionLayout, decodeAction, encodeAction, layoutOf } from '#drivers/store/action-row.js';
import type { ActionTypeFilter } from '#drivers/store/read/actions.js';
import type { StateSummary } from '#drivers/store/read/index-types.js';
import type { Cell } from '#formats/cells/cell.js';
import { ShardAccount } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import type { WorkSlices } from '#kernel/work-slices.js';
import type { EmulatedTrace } from '#services/emulation/emulated-trace.js';
import type { LiveAction, LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';

/*
 * Transactions, traces and actions that are not indexed yet, as JSON: by the writers of the indexed ones, so that an answer keeps
 * its form while what it describes becomes final.
 */

/** What an answer says of the trace of a transaction; null where it leaves that out. */
export interface LiveOrigin {
  /** Hash of the root transaction. */
  readonly trace_id: Uint8Array | null;
  /** Hash of the message that began the trace. */
  readonly trace_external_hash: Uint8Array | null;
}

/** The transactions of an emulated trace, as live ones. */
export function emulatedTransactions({ transactions, global_version }: EmulatedTrace): readonly LiveTransaction[] {
  return transactions.map((each) => ({ ...each, finality: 'pending', global_version }));
}

/** A transaction as `/transactions` returns it. */
export function writeLiveTransaction(
  { finality, cell, mc_seqno, block, global_version, before, after }: LiveTransaction,
  { trace_id, trace_external_hash }: LiveOrigin,
  page: AnswerPage,
): WrittenTransaction {
  const state_before = before === null ? null : stateSummaryOf(before);
  const state_after = after === null ? null : stateSummaryOf(after);
  const predicted = { finality, trace_external_hash };
  return writeCells({ mc_seqno, block, global_version, trace_id, state_before, state_after, predicted }, cell, page);
}

const NO_STATE: StateSummary = {
  status: 'nonexist',
  balance: 0n,
  extra_currencies: new Map(),
  frozen_hash: null,
  code_hash: null,
  data_hash: null,
};

/** What answers say of a state. @param shardAccount `ShardAccount` */
function stateSummaryOf(shardAccount: Cell): StateSummary {
  const account = decodeCell(ShardAccount, shardAccount).account.value;
  if (account.kind === 'account_none') return NO_STATE;
  const { balance, state } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  return {
    status: init !== null ? 'active' : state.kind === 'account_frozen' ? 'frozen' : 'uninit',
    balance: balance.grams,
    extra_currencies: new Map(balance.other),
    frozen_hash: state.kind === 'account_frozen' ? state.state_hash : null,
    code_hash: init?.code?.hash() ?? null,
    data_hash: init?.data?.hash() ?? null,
  };
}

/** The transactions of a trace as JSON, with its tree. */
export interface WrittenLiveTrace {
  /** Breadth first. */
  readonly transactions: readonly WrittenTransaction[];
  /** JSON of `trace`: children in the order in which their messages were sent. */
  readonly treeJson: string | null;
  /** JSON of `transactions_order`: hashes, breadth first. */
  readonly orderJson: string;
  /** JSON of `transactions`: by hash. */
  readonly transactionsJson: string;
}

export async function writeLiveTransactions(
  transactions: readonly LiveTransaction[],
  origin: LiveOrigin,
  page: AnswerPage,
  slices: WorkSlices,
): Promise<WrittenLiveTrace> {
  const written = await slices.map(transactions, (each) => writeLiveTransaction(each, origin, page));
  const { trace, transactions_order } = unfoldingTree(written);
  const byHash = new Map(written.map((each) => [each.hash, each]));
  return {
    transactions: transactions_order.map((hash) => byHash.get(hash)!),
    treeJson: trace === null ? null : treeJson(traceNodeJson(trace), page),
    orderJson: JSON.stringify(transactions_order),
    transactionsJson: transactionsJson(written),
  };
}

/** A trace as `/traces` returns it. @param actions which of its actions; null: `actions` is left out */
export async function writeLiveTrace(
  trace: LiveTrace,
  actions: ActionTypeFilter | null,
  page: AnswerPage,
  slices: WorkSlices,
): Promise<string> {
  const { trace_id, external_hash, transactions, is_incomplete } = trace;
  const origin = { trace_id, trace_external_hash: external_hash };
  const written = await writeLiveTransactions(transactions, origin, page, slices);
  const how = { withTransactions: false };
  const actionTexts = actions === null ? null : await writeLiveActions(trace, { shown: actions, ...how }, page, slices);
  const { start_lt, end_lt, start_utime, end_utime, mc_seqno_start, mc_seqno_end } = extentOf(transactions);
  const source = {
    trace: {
      ...{ trace_id, start_lt, end_lt, start_utime, end_utime, mc_seqno_start, mc_seqno_end },
      nodes: transactions.length,
      edges: transactions.length,
      pending_edges: transactions.filter(({ finality }) => finality === 'pending').length,
      state: 'pending' as const,
      classification_state: trace.actions === null ? ('unclassified' as const) : ('ok' as const),
    },
    isCut: is_incomplete,
    external_hash: Buffer.from(external_hash).toString('base64'),
    warning: null,
    actions: actionTexts === null ? null : `[${actionTexts.join(',')}]`,
    orderJson: written.orderJson,
    treeJson: written.treeJson,
    transactionsJson: written.transactionsJson,
  };
  return writeAnswerJson(TraceJson, source, page);
}

/** From where to where a trace reaches. */
export interface TraceExtent {
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  /** Unix seconds. */
  readonly start_utime: number;
  readonly end_utime: number;
  readonly mc_seqno_start: number;
  readonly mc_seqno_end: number;
}

/** @param transactions at least one */
export function extentOf(transactions: readonly Pick<LiveTransaction, 'cell' | 'mc_seqno'>[]): TraceExtent {
  const decoded = transactions.map(({ cell, mc_seqno }) => ({ ...decodeCell(Transaction, cell), mc_seqno }));
  const lts = decoded.map(({ lt }) => lt).sort((a, b) => (a < b ? -1 : 1));
  return {
    start_lt: lts[0] ?? 0n,
    end_lt: lts.at(-1) ?? 0n,
    start_utime: Math.min(...decoded.map(({ now }) => now)),
    end_utime: Math.max(...decoded.map(({ now }) => now)),
    mc_seqno_start: Math.min(...decoded.map(({ mc_seqno }) => mc_seqno)),
    mc_seqno_end: Math.max(...decoded.map(({ mc_seqno }) => mc_seqno)),
  };
}

interface WrittenActions {
  /** Types that the client is shown. */
  readonly shown: ActionTypeFilter;
  /** Whether each action has its transactions. */
  readonly withTransactions: boolean;
  /** Whether each action has the normalised hash of the external-in message, too. */
  readonly withNorm?: boolean;
}

/** The actions that a client is shown, each as JSON, in the order of `trace.actions`. */
export async function writeLiveActions(
  trace: LiveTrace,
  { shown, withTransactions, withNorm = false }: WrittenActions,
  page: AnswerPage,
  slices: WorkSlices,
): Promise<readonly string[]> {
  const { trace_id, external_hash, external_hash_norm, transactions } = trace;
  const actions = shownActions(trace.actions ?? [], shown);
  if (actions.length === 0) return [];
  const extent = extentOf(transactions);
  const norm = withNorm ? external_hash_norm : null;
  const origin: ActionOrigin = { trace_id, external_hash, norm, extent };
  const hashes = transactions.map(({ cell }) => cell.hash());
  const transactionOrigin = { trace_id, trace_external_hash: external_hash };
  const written = withTransactions
    ? await slices.map(transactions, (each) => writeLiveTransaction(each, transactionOrigin, page))
    : null;
  return slices.map(actions, (each) => {
    const full = written === null ? null : each.action.transactions.map((position) => written[position]!);
    const source = { action: answerAction(each, hashes, origin), withAccounts: true, transactions: full };
    return writeAnswerJson(actionValue, source, page);
  });
}

/** Those of the types that a client asked for, without the parts of actions that it is shown. */
function shownActions(actions: readonly LiveAction[], { types, supported }: ActionTypeFilter): readonly LiveAction[] {
  const asked = new Set(types);
  const known = new Set<string>(supported);
  return actions.filter(
    ({ action }) => asked.has(action.type) && !action.ancestor_types.some((ancestor) => known.has(ancestor)),
  );
}

interface ActionOrigin {
  readonly trace_id: Uint8Array | null;
  readonly external_hash: Uint8Array;
  /** Null: it is left out. */
  readonly norm: Uint8Array | null;
  readonly extent: TraceExtent;
}

const layouts = new Map<string, ActionLayout>();

function layoutOfType(type: Action['type']): ActionLayout {
  let layout = layouts.get(type);
  if (layout === undefined) {
    layout = layoutOf(ACTION_TYPES.get(type)!.fields);
    layouts.set(type, layout);
  }
  return layout;
}

/** An action with the values that its row would have. @param hashes of the transactions, by position */
function answerAction(
  { action, finality }: LiveAction,
  hashes: readonly Uint8Array[],
  { trace_id, external_hash, norm, extent }: ActionOrigin,
): AnswerAction {
  const { type, transactions, ...rest } = action;
  const layout = layoutOfType(type);
  const row = { ...rest, transactions: transactions.map((position) => hashes[position]!) };
  return {
    ...decodeAction(encodeAction(row, layout), layout),
    type,
    trace_id,
    trace_end_lt: extent.end_lt,
    trace_end_utime: extent.end_utime,
    trace_mc_seqno_end: extent.mc_seqno_end,
    trace_external_hash: external_hash,
    trace_external_hash_norm: norm,
    finality,
  };
}
