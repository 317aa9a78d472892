import { describe, expect, it } from 'vitest';
import { findOrphanJoins, joinTraces, type Trace, type TraceState } from '#domain/traces/trace.js';
import { errorCode } from '#test/support/error-code.js';

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

function trace(root: number, pending_edges: number, state: TraceState): Trace {
  return {
    root: BigInt(root),
    trace_id: hash(root),
    start_lt: BigInt(root),
    start_utime: root,
    mc_seqno_start: root,
    end_lt: BigInt(root + 100),
    end_utime: root + 200,
    mc_seqno_end: root + 300,
    nodes: root * 10,
    edges: root,
    pending_edges,
    state,
  };
}

const join = (parent: number, orphan: number) => ({
  hash: hash(orphan),
  parent: BigInt(parent),
  orphan: BigInt(orphan),
});

describe('joining traces', () => {
  it('adds the orphan to its parent', () => {
    expect(joinTraces([join(1, 2)], [trace(1, 1, 'pending'), trace(2, 0, 'broken'), trace(3, 1, 'pending')])).toEqual({
      traces: [
        {
          ...trace(1, 0, 'complete'),
          end_lt: 102n,
          end_utime: 202,
          mc_seqno_end: 302,
          nodes: 30,
          edges: 4,
        },
      ],
      absorbed: [{ from: 2n, to: 1n }],
    });
  });

  it('follows chains of orphans to their end, in whatever order they are named', () => {
    const rows = [trace(1, 2, 'pending'), trace(2, 1, 'broken'), trace(3, 1, 'broken'), trace(4, 2, 'broken')];
    for (const joins of [
      [join(1, 2), join(2, 3), join(3, 4)],
      [join(3, 4), join(2, 3), join(1, 2)],
      [join(2, 3), join(3, 4), join(1, 2)],
    ]) {
      const { traces, absorbed: moved } = joinTraces(joins, rows);
      expect(traces).toMatchObject([
        { root: 1n, nodes: 100, edges: 13, pending_edges: 3, end_lt: 104n, state: 'pending' },
      ]);
      expect(moved).toEqual([2, 3, 4].map((from) => ({ from: BigInt(from), to: 1n })));
    }
  });

  it('leaves a trace broken whose root is still an orphan', () => {
    const { traces } = joinTraces([join(2, 3)], [trace(2, 1, 'broken'), trace(3, 0, 'broken')]);
    expect(traces).toMatchObject([{ root: 2n, pending_edges: 0, state: 'broken' }]);
  });

  it('keeps the greatest end, also when it is that of the parent', () => {
    const late = { ...trace(1, 2, 'pending'), end_lt: 900n, end_utime: 901, mc_seqno_end: 902 };
    const { traces } = joinTraces([join(1, 2)], [late, trace(2, 0, 'broken')]);
    expect(traces).toMatchObject([{ end_lt: 900n, end_utime: 901, mc_seqno_end: 902, pending_edges: 1 }]);
  });

  it('refuses what cannot be', () => {
    const rows = [trace(1, 1, 'pending'), trace(2, 0, 'broken')];
    expect(errorCode(() => joinTraces([join(1, 3)], rows))).toBe('traces/trace-missing');
    expect(errorCode(() => joinTraces([join(0, 2)], rows))).toBe('traces/trace-missing');
    expect(errorCode(() => joinTraces([join(2, 1)], rows))).toBe('traces/join-order');
    expect(errorCode(() => joinTraces([join(2, 2)], rows))).toBe('traces/join-order');
    expect(errorCode(() => joinTraces([join(1, 2), join(0, 2)], [trace(0, 1, 'pending'), ...rows]))).toBe(
      'traces/joined-twice',
    );
  });
});

it('matches messages by all bytes of their hashes', () => {
  const almost = hash(5);
  almost[31] = 6;
  const opened = [
    { hash: hash(4), root: 1n },
    { hash: hash(5), root: 2n },
  ];
  const orphans = [
    { hash: almost, root: 8n },
    { hash: hash(5).slice(), root: 9n },
  ];
  expect(findOrphanJoins(opened, orphans)).toEqual([{ hash: hash(5), parent: 2n, orphan: 9n }]);
});
