import { describe, expect, it } from 'vitest';
import type { Trace, TraceNode, Transaction, TransactionDescription } from '../api/answers.js';
import { accountFlows, feesOf, outcomeOf, traceRows } from './trace-rows.js';

function transaction(hash: string, part: Partial<Transaction> = {}): Transaction {
  return {
    ...{ account: '0:AA', hash, lt: '1', now: 0, prev_trans_hash: '', prev_trans_lt: '0', orig_status: 'active' },
    ...{ end_status: 'active', total_fees: '0', description: { type: 'ord' }, out_msgs: [] },
    ...part,
  };
}

function traceOf(root: TraceNode, transactions: readonly Transaction[]): Trace {
  const byHash = Object.fromEntries(transactions.map((each) => [each.hash, each]));
  return { trace: root, transactions: byHash } as unknown as Trace;
}

const node = (tx_hash: string, ...children: TraceNode[]): TraceNode => ({ tx_hash, children });

describe('the rows of a trace', () => {
  it('stand in the order of the tree, with the lines that lead to them', () => {
    const tree = node('a', node('b', node('c')), node('d'));
    const rows = traceRows(
      traceOf(
        tree,
        ['a', 'b', 'c', 'd'].map((hash) => transaction(hash)),
      ),
    );
    expect(rows.map(({ transaction: { hash }, depth, continues }) => [hash, depth, continues])).toEqual([
      ['a', 0, []],
      ['b', 1, [true]],
      ['c', 2, [true, false]],
      ['d', 1, [false]],
    ]);
  });

  it('leave out transactions that the answer does not have', () => {
    const rows = traceRows(traceOf(node('a', node('x', node('b'))), [transaction('a'), transaction('b')]));
    expect(rows.map(({ transaction: { hash } }) => hash)).toEqual(['a', 'b']);
  });

  it('are made of a trace that is thousands of transactions deep', () => {
    let root = node('0');
    const all = [transaction('0')];
    for (let index = 1; index < 10_000; index++) {
      root = node(`${index}`, root);
      all.push(transaction(`${index}`));
    }
    const rows = traceRows(traceOf(root, all));
    expect(rows.length).toBe(10_000);
    expect(rows.at(-1)?.depth).toBe(9_999);
    expect(Math.max(...rows.map(({ continues }) => continues.length))).toBeLessThan(20);
  });
});

describe('the outcome of a transaction', () => {
  const outcome = (description: Partial<TransactionDescription>) =>
    outcomeOf(transaction('a', { description: { type: 'ord', ...description } }));

  it.each([
    [{ compute_ph: { success: true, exit_code: 0 }, action: { success: true } }, 'success', 'success'],
    [
      { compute_ph: { success: false, exit_code: 36 }, aborted: true },
      'failure',
      'exit code 36: the message has expired',
    ],
    [{ compute_ph: { success: false, exit_code: 705 }, aborted: true }, 'failure', 'exit code 705'],
    [
      { compute_ph: { success: true }, action: { success: false, result_code: 37 }, aborted: true },
      'failure',
      'action phase 37: not enough coins',
    ],
    [
      { compute_ph: { skipped: true, reason: 'no_state' }, aborted: true },
      'neutral',
      'not run: there is no contract at this address',
    ],
    [
      { compute_ph: { skipped: true, reason: 'no_gas' }, aborted: true, bounce: { type: 'ok' } },
      'failure',
      'not run: not enough coins for gas; the coins were sent back',
    ],
  ] as const)('%j', (description, kind, text) => {
    expect(outcome(description)).toEqual({ kind, text });
  });
});

it('fees are those of the transaction and of the messages that it sent', () => {
  const out_msgs = [{ hash: 'm', fwd_fee: '7', ihr_fee: '1' }];
  expect(feesOf(transaction('a', { total_fees: '100', out_msgs }))).toBe(108n);
});

it('flows sum up what each account received, sent, and was left with', () => {
  const states = (before: string | null, after: string | null) => ({
    account_state_before: { hash: '', balance: before },
    account_state_after: { hash: '', balance: after },
  });
  const first = transaction('a', { out_msgs: [{ hash: 'm', value: '5' }], ...states('10', '4') });
  const second = transaction('b', { account: '0:BB', in_msg: { hash: 'm', value: '5' }, ...states('0', '5') });
  const third = transaction('c', { account: '0:BB', in_msg: { hash: 'n', value: '1' }, ...states(null, null) });
  const rows = traceRows(traceOf(node('a', node('b', node('c'))), [first, second, third]));
  expect(accountFlows(rows)).toEqual([
    { account: '0:AA', received: 0n, sent: 5n, change: -6n, transactions: 1 },
    { account: '0:BB', received: 6n, sent: 0n, change: null, transactions: 2 },
  ]);
});
