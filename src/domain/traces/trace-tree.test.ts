import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TraceNode, type TraceTreeTransaction, traceNodeJson, traceTree } from '#domain/traces/trace-tree.js';

function transaction(
  hash: string,
  lt: number,
  in_msg_hash: string | null,
  out_msg_hashes: string[] = [],
  account = '0:00',
): TraceTreeTransaction {
  return { hash, lt: BigInt(lt), account, in_msg_hash, out_msg_hashes };
}

describe('the tree of a trace', () => {
  it('hangs each transaction on the one that sent its message, by lt and account', () => {
    const { trace, transactions_order, warning } = traceTree([
      transaction('c', 12, 'm2', [], '0:0B'),
      transaction('b', 12, 'm1', [], '0:0A'),
      transaction('e', 11, 'm4'),
      transaction('a', 10, 'm0', ['m1', 'm2', 'm3', 'm4']),
      transaction('d', 14, 'm3', ['log']),
    ]);
    expect(transactions_order).toEqual(['a', 'e', 'b', 'c', 'd']);
    expect(warning).toBeNull();
    expect(trace).toEqual({
      tx_hash: 'a',
      in_msg_hash: 'm0',
      children: [
        { tx_hash: 'e', in_msg_hash: 'm4', children: [] },
        { tx_hash: 'b', in_msg_hash: 'm1', children: [] },
        { tx_hash: 'c', in_msg_hash: 'm2', children: [] },
        { tx_hash: 'd', in_msg_hash: 'm3', children: null },
      ],
    });
  });

  it('leaves the message out where there was none', () => {
    expect(traceTree([transaction('a', 1, null)]).trace).toStrictEqual({ tx_hash: 'a', children: [] });
  });

  it('warns of a second root, and leaves it out with its children', () => {
    const { trace, transactions_order, warning } = traceTree([
      transaction('a', 1, 'm0', ['m1']),
      transaction('x', 2, 'lost', ['m2']),
      transaction('b', 3, 'm1'),
      transaction('y', 4, 'm2'),
    ]);
    expect(trace).toEqual({
      tx_hash: 'a',
      in_msg_hash: 'm0',
      children: [{ tx_hash: 'b', in_msg_hash: 'm1', children: [] }],
    });
    expect(transactions_order).toEqual(['a', 'x', 'b', 'y']);
    expect(warning).toBe('missing node in trace found');
  });

  it('is nothing without transactions', () => {
    expect(traceTree([])).toEqual({ trace: null, transactions_order: [], warning: null });
  });

  it('may be deep', () => {
    const depth = 5000;
    const chain = Array.from({ length: depth }, (_, at) => transaction(`t${at}`, at, `m${at}`, [`m${at + 1}`]));
    const { trace, warning } = traceTree(chain.reverse());
    expect(warning).toBeNull();
    let found = 0;
    for (let node = trace ?? undefined; node !== undefined; node = node.children?.[0]) {
      if (node.tx_hash === `t${found}`) found++;
    }
    expect(found).toBe(depth);
    const beginnings = Array.from(
      { length: depth },
      (_, at) => `{"tx_hash":"t${at}","in_msg_hash":"m${at}","children":`,
    );
    expect(traceNodeJson(trace!) === `${beginnings.join('[')}null}${']}'.repeat(depth - 1)}`).toBe(true);
  });
});

it('is written as JSON.stringify writes it', () => {
  const { node } = fc.letrec<{ node: TraceNode }>((tie) => ({
    node: fc.record(
      {
        tx_hash: fc.string({ maxLength: 3 }),
        in_msg_hash: fc.string({ maxLength: 3 }),
        children: fc.option(fc.array(tie('node'), { maxLength: 3 }), { depthSize: 'small' }),
      },
      { requiredKeys: ['tx_hash', 'children'] },
    ),
  }));
  fc.assert(
    fc.property(node, (tree) => {
      expect(traceNodeJson(tree)).toBe(JSON.stringify(tree));
    }),
    { numRuns: 300, seed: 6 },
  );
});
