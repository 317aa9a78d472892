/** A transaction of a trace, as the tree needs it. Hashes are text in any one encoding: they are only compared. */
export interface TraceTreeTransaction {
  readonly hash: string;
  readonly lt: bigint;
  /** Raw address; orders transactions of equal lt. */
  readonly account: string;
  readonly in_msg_hash: string | null;
  readonly out_msg_hashes: readonly string[];
}

/** A transaction and the transactions that received its messages. */
export interface TraceNode {
  readonly tx_hash: string;
  /** Absent when the transaction has no inbound message. */
  readonly in_msg_hash?: string;
  /** By lt and account; empty when it sent nothing, `null` when none of its messages was received within the trace. */
  readonly children: readonly TraceNode[] | null;
}

export interface TraceTree {
  /** `null` when there is no transaction. */
  readonly trace: TraceNode | null;
  /** Hashes by lt and account. */
  readonly transactions_order: readonly string[];
  /** Set when some transactions have no sender in the trace and are not in the tree. */
  readonly warning: string | null;
}

/** The published warning for a trace in which the sender of some transaction is missing. */
const missingNode = 'missing node in trace found';

interface Node {
  readonly tx_hash: string;
  readonly in_msg_hash?: string;
  children: Node[] | null;
}

/**
 * Builds the tree of a trace from its transactions, in any order. The first transaction whose inbound message none of them
 * sent is the root; further ones stay out of the tree, with their descendants. Trees may be thousands of nodes deep: see
 * {@link traceNodeJson}.
 */
export function traceTree(transactions: readonly TraceTreeTransaction[]): TraceTree {
  const ordered = transactions.toSorted(byLtAndAccount);
  const senders = new Map<string, Node>();
  let trace: Node | null = null;
  let warning: string | null = null;
  for (const { hash, in_msg_hash, out_msg_hashes } of ordered) {
    const children = out_msg_hashes.length === 0 ? [] : null;
    const node: Node = in_msg_hash === null ? { tx_hash: hash, children } : { tx_hash: hash, in_msg_hash, children };
    const sender = in_msg_hash === null ? undefined : senders.get(in_msg_hash);
    if (sender !== undefined) {
      if (sender.children === null) sender.children = [node];
      else sender.children.push(node);
    } else if (trace === null) trace = node;
    else warning = missingNode;
    for (const out_msg_hash of out_msg_hashes) senders.set(out_msg_hash, node);
  }
  return { trace, transactions_order: ordered.map(({ hash }) => hash), warning };
}

/**
 * The tree of a trace as it unfolds, for traces that are not complete yet: children stand in the order in which their messages were
 * sent, and `transactions_order` is breadth first. The first transaction whose inbound message none of them sent is the root.
 */
export function unfoldingTree(transactions: readonly TraceTreeTransaction[]): TraceTree {
  const receivers = new Map<string, TraceTreeTransaction>();
  const sent = new Set<string>();
  for (const each of transactions) {
    if (each.in_msg_hash !== null) receivers.set(each.in_msg_hash, each);
    for (const hash of each.out_msg_hashes) sent.add(hash);
  }
  const roots = transactions.filter(({ in_msg_hash }) => in_msg_hash === null || !sent.has(in_msg_hash));
  const [first] = roots.toSorted(byLtAndAccount);
  if (first === undefined) return { trace: null, transactions_order: [], warning: null };
  const nodeOf = ({ hash, in_msg_hash }: TraceTreeTransaction): Node =>
    in_msg_hash === null ? { tx_hash: hash, children: [] } : { tx_hash: hash, in_msg_hash, children: [] };
  const trace = nodeOf(first);
  const reached = [{ transaction: first, node: trace }];
  const order: string[] = [];
  for (const { transaction, node } of reached) {
    order.push(transaction.hash);
    for (const hash of transaction.out_msg_hashes) {
      const receiver = receivers.get(hash);
      if (receiver === undefined) continue;
      const child = nodeOf(receiver);
      node.children?.push(child);
      reached.push({ transaction: receiver, node: child });
    }
    if (transaction.out_msg_hashes.length > 0 && node.children?.length === 0) node.children = null;
  }
  return { trace, transactions_order: order, warning: order.length < transactions.length ? missingNode : null };
}

function byLtAndAccount(a: TraceTreeTransaction, b: TraceTreeTransaction): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  if (a.account === b.account) return 0;
  return a.account < b.account ? -1 : 1;
}

/**
 * The output of `JSON.stringify`, for trees of any depth: `JSON.stringify` overflows the stack at a depth of about 2,500.
 */
export function traceNodeJson(root: TraceNode): string {
  const parts: string[] = [];
  const open: { readonly node: TraceNode; at: number }[] = [];
  const enter = (node: TraceNode): void => {
    const { tx_hash, in_msg_hash } = node;
    const message = in_msg_hash === undefined ? '' : `"in_msg_hash":${JSON.stringify(in_msg_hash)},`;
    parts.push(`{"tx_hash":${JSON.stringify(tx_hash)},${message}"children":${node.children === null ? 'null' : '['}`);
    open.push({ node, at: 0 });
  };
  enter(root);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { children } = top.node;
    const child = children?.[top.at];
    if (child === undefined) {
      parts.push(children === null ? '}' : ']}');
      open.pop();
      continue;
    }
    if (top.at++ > 0) parts.push(',');
    enter(child);
  }
  return parts.join('');
}
