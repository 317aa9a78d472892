import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { decimal, hashText, listText, quoted } from '#api/v3/serialize/texts.js';
import type { SerializedTransaction } from '#api/v3/serialize/transaction.js';
import { type TraceTree, traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';
import type { IndexedTrace } from '#drivers/store/read/index-reads.js';

/** Traces with more transactions are answered without them. */
export const MAX_TRACE_TRANSACTIONS = 4_000;

const TOO_LARGE = 'trace is too large';

/** What is known of the transactions of a trace. */
export interface TraceTransactions {
  /** The first one. */
  readonly root: SerializedTransaction | null;
  /** In the order of lt and account; null when there are too many. */
  readonly all: readonly SerializedTransaction[] | null;
}

/**
 * A trace as `/traces` shows it.
 *
 * @param withActions whether the member is wanted; nothing is classified, so that there are none
 */
export function traceText(
  trace: IndexedTrace,
  { root, all }: TraceTransactions,
  withActions: boolean,
  dialect: Dialect,
): string {
  const tree = all === null ? null : traceTree(all);
  const warning = tree === null ? TOO_LARGE : tree.warning;
  // The sender of a message that began a broken trace is an account, only not indexed.
  const external_hash = trace.state === 'broken' || root === null ? null : root.in_msg_hash;
  return (
    `{"trace_id":${hashText(trace.trace_id)}` +
    dialect.nullable('external_hash', external_hash === null ? null : quoted(external_hash)) +
    `,"mc_seqno_start":${decimal(trace.mc_seqno_start)},"mc_seqno_end":${decimal(trace.mc_seqno_end)}` +
    `,"start_lt":${decimal(trace.start_lt)},"start_utime":${trace.start_utime}` +
    `,"end_lt":${decimal(trace.end_lt)},"end_utime":${trace.end_utime}` +
    `,"trace_info":{"trace_state":"${trace.state}","messages":${trace.edges},"transactions":${trace.nodes}` +
    `,"pending_messages":${trace.pending_edges},"classification_state":"unclassified"}` +
    `,"is_incomplete":${all === null}` +
    optional('warning', warning === null ? null : quoted(warning)) +
    optional('actions', withActions ? '[]' : null) +
    (tree === null ? '' : transactionsText(tree, all ?? [], dialect)) +
    '}'
  );
}

function transactionsText(
  { trace, transactions_order }: TraceTree,
  transactions: readonly SerializedTransaction[],
  dialect: Dialect,
): string {
  return (
    optional('trace', trace === null ? null : dialect.traceTree(traceNodeJson(trace))) +
    `,"transactions_order":${listText(transactions_order.map(quoted))}` +
    `,"transactions":{${transactions.map(({ hash, json }) => `"${hash}":${json}`).join(',')}}`
  );
}
