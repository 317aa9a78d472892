import { compareLts, type TransactionTruth, type TransactionTruths } from './transaction-truth.js';

/** A trace that a external-in message began and that came to its end. */
export interface TraceTruth {
  /** Of the root transaction. */
  readonly trace_id: string;
  /** Of the external-in message, as it is. */
  readonly external_hash: string;
  /** By rising lt. */
  readonly transactions: readonly string[];
  /** What each transaction led to. */
  readonly children: Readonly<Record<string, readonly string[]>>;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly mc_seqno_start: number;
  readonly mc_seqno_end: number;
}

/** Traces with `least` to `most` transactions, those with most first; only of transactions that are allowed. */
export function traceTruths(
  truths: TransactionTruths,
  { least, most }: { readonly least: number; readonly most: number },
  isAllowed: (transaction: TransactionTruth) => boolean,
): TraceTruth[] {
  const roots = truths.all.filter(({ in_msg }) => in_msg?.hash_norm !== null && in_msg?.hash_norm !== undefined);
  return roots
    .map((root) => traceOf(root, truths))
    .filter((trace) => trace !== null)
    .filter(({ transactions }) => transactions.length >= least && transactions.length <= most)
    .filter(({ transactions }) => transactions.every((hash) => isAllowed(truths.byHash.get(hash)!)))
    .sort((a, b) => b.transactions.length - a.transactions.length);
}

/** Null: a message of it is still under way. */
function traceOf(root: TransactionTruth, { receivedBy }: TransactionTruths): TraceTruth | null {
  const children: Record<string, string[]> = {};
  const found = [root];
  for (const transaction of found) {
    const next: TransactionTruth[] = [];
    for (const message of transaction.out_msgs) {
      if (message.destination === null) continue;
      const receiver = receivedBy.get(message.hash);
      if (receiver === undefined) return null;
      next.push(receiver);
    }
    children[transaction.hash] = next.map(({ hash }) => hash);
    found.push(...next);
  }
  found.sort((a, b) => compareLts(a.lt, b.lt));
  const seqnos = found.map(({ mc_seqno }) => mc_seqno);
  return {
    trace_id: root.hash,
    external_hash: root.in_msg!.hash,
    transactions: found.map(({ hash }) => hash),
    children,
    start_lt: root.lt,
    end_lt: found.at(-1)!.lt,
    mc_seqno_start: Math.min(...seqnos),
    mc_seqno_end: Math.max(...seqnos),
  };
}
