import type { Trace, TraceNode, Transaction } from '../api/answers.js';
import { integerOf } from '../format/amount.js';
import { actionCodeText, exitCodeText, skipReasonText } from '../format/exit-code.js';

/** A transaction in its place in the tree of its trace. */
export interface TraceRow {
  readonly transaction: Transaction;
  /** Of the tree: 0 for the first transaction. */
  readonly depth: number;
  /** Whether further children of the parent follow, for each depth from 1 to its own: where lines go on. */
  readonly continues: readonly boolean[];
  readonly children: number;
}

/** Deeper lines are not drawn; the depth is written as a number there. */
const DRAWN_DEPTH = 12;

/**
 * The transactions of a trace in the order of the tree: each one before what it caused. Without recursion: a trace may be
 * thousands of transactions deep.
 */
export function traceRows({ trace, transactions }: Trace): TraceRow[] {
  if (trace == null) return [];
  const rows: TraceRow[] = [];
  const open: { readonly node: TraceNode; readonly depth: number; readonly continues: readonly boolean[] }[] = [
    { node: trace, depth: 0, continues: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth, continues } = next;
    const transaction = transactions?.[node.tx_hash];
    if (transaction !== undefined) rows.push({ transaction, depth, continues, children: node.children.length });
    const last = node.children.length - 1;
    for (let index = last; index >= 0; index--) {
      const lines = depth < DRAWN_DEPTH ? [...continues, index < last] : continues;
      open.push({ node: node.children[index]!, depth: depth + 1, continues: lines });
    }
  }
  return rows;
}

/** How a transaction ended. */
export interface Outcome {
  readonly kind: 'success' | 'failure' | 'neutral';
  /** In words: `exit code 36: the message has expired`. */
  readonly text: string;
}

/** Whether a transaction did what it was to do, in words. */
export function outcomeOf({ description }: Transaction): Outcome {
  const { compute_ph: compute, action, bounce, aborted, destroyed } = description;
  const bounced = bounce?.type === 'ok' ? '; the coins were sent back' : '';
  if (compute != null && compute.skipped === true) {
    const reason = skipReasonText(compute.reason ?? '');
    // An account without code takes coins without running anything.
    const isPlain = aborted !== true || compute.reason === 'no_state';
    return { kind: isPlain && bounced === '' ? 'neutral' : 'failure', text: `not run: ${reason}${bounced}` };
  }
  if (compute?.success === false) {
    const code = compute.exit_code ?? 0;
    const words = exitCodeText(code);
    return { kind: 'failure', text: `exit code ${code}${words === null ? '' : `: ${words}`}${bounced}` };
  }
  if (action?.success === false) {
    const code = action.result_code ?? 0;
    const words = actionCodeText(code);
    return { kind: 'failure', text: `action phase ${code}${words === null ? '' : `: ${words}`}${bounced}` };
  }
  if (aborted === true) return { kind: 'failure', text: `aborted${bounced}` };
  return { kind: 'success', text: destroyed === true ? 'success; the account was destroyed' : 'success' };
}

/** All fees of a transaction: what it paid to the validators, and for the messages that it sent. Nanotons. */
export function feesOf({ total_fees, out_msgs }: Transaction): bigint {
  let sum = integerOf(total_fees) ?? 0n;
  for (const message of out_msgs) sum += (integerOf(message.fwd_fee) ?? 0n) + (integerOf(message.ihr_fee) ?? 0n);
  return sum;
}

/** What a trace changed at an account. */
export interface AccountFlow {
  readonly account: string;
  /** Nanotons that messages brought. */
  readonly received: bigint;
  /** Nanotons that messages took away. */
  readonly sent: bigint;
  /** Nanotons: what the balance changed by; null where a state before or after is not known. */
  readonly change: bigint | null;
  readonly transactions: number;
}

/** The flow of coins of a trace by account, in the order in which the accounts appear. */
export function accountFlows(rows: readonly TraceRow[]): AccountFlow[] {
  const byAccount = new Map<string, Transaction[]>();
  for (const { transaction } of rows) {
    const own = byAccount.get(transaction.account) ?? [];
    own.push(transaction);
    byAccount.set(transaction.account, own);
  }
  return [...byAccount].map(([account, own]) => ({
    account,
    received: sumOf(own.map(({ in_msg }) => in_msg?.value)),
    sent: sumOf(own.flatMap(({ out_msgs }) => out_msgs.map(({ value }) => value))),
    change: sumOrNull(own.map(balanceChange)),
    transactions: own.length,
  }));
}

function balanceChange({ account_state_before, account_state_after }: Transaction): bigint | null {
  const before = integerOf(account_state_before?.balance);
  const after = integerOf(account_state_after?.balance);
  return before === null || after === null ? null : after - before;
}

function sumOf(values: readonly (string | null | undefined)[]): bigint {
  return values.reduce((sum, value) => sum + (integerOf(value) ?? 0n), 0n);
}

function sumOrNull(values: readonly (bigint | null)[]): bigint | null {
  return values.reduce<bigint | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0n);
}
