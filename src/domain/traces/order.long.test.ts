import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceState } from '#domain/traces/trace.js';
import { type ChainStep, type MadeTransaction, makeRounds } from '#test/support/random-traces.js';
import { type StoredTrace, TraceStore } from '#test/support/trace-store.js';

const steps: fc.Arbitrary<ChainStep[]> = fc.array(
  fc.record({
    bundle: fc.nat(5),
    message: fc.nat(),
    root: fc.constantFrom('external', 'system', 'internal', 'none', null, null, null, null, null, null),
    account: fc.nat(100),
    wait: fc.nat(300),
    sent: fc.nat(4).map((count) => count - (count >> 1)),
    external: fc.nat(3).map((count) => count >> 1),
  }),
  { maxLength: 120, size: 'max' },
);

/** Which masterchain blocks make a batch, in which order the batches come, and which of them get hints. */
const plan = fc.record({
  cuts: fc.array(fc.boolean(), { minLength: 120, maxLength: 120 }),
  order: fc.array(fc.nat(), { minLength: 120, maxLength: 120 }),
  hints: fc.array(fc.boolean(), { minLength: 120, maxLength: 120 }),
});

type Plan = { readonly cuts: boolean[]; readonly order: number[]; readonly hints: boolean[] };

function run(bundles: readonly MadeTransaction[][], { cuts, order, hints }: Plan): TraceStore {
  const batches: MadeTransaction[][] = [];
  for (const [at, bundle] of bundles.entries()) {
    if (at === 0 || cuts[at % cuts.length]) batches.push([]);
    batches.at(-1)!.push(...bundle);
  }
  const store = new TraceStore();
  const sorted = batches.map((batch, at) => ({ batch, at })).sort((a, b) => order[a.at]! - order[b.at]! || a.at - b.at);
  for (const { batch, at } of sorted) store.add(batch, hints[at % hints.length]!);
  return store;
}

/** The rows that the senders of the transactions tell, without looking at any message. */
function truth(transactions: readonly MadeTransaction[]): StoredTrace[] {
  const present = new Set(transactions);
  const roots = new Map<MadeTransaction, MadeTransaction>();
  const parts = new Map<MadeTransaction, MadeTransaction[]>();
  const received = new Map<MadeTransaction, number>();
  for (const each of transactions) {
    const sender = each.sender !== null && present.has(each.sender) ? each.sender : null;
    const root = sender === null ? each : roots.get(sender)!;
    roots.set(each, root);
    parts.set(root, [...(parts.get(root) ?? []), each]);
    if (sender !== null) received.set(root, (received.get(root) ?? 0) + 1);
  }
  return Array.from(parts, ([root, list]) => {
    const links = received.get(root) ?? 0;
    const sent = list.flatMap(({ out_msgs }) => out_msgs);
    const external = sent.filter((message) => message.external).length;
    const fromOutside = root.in_msg !== null && root.in_msg.kind !== 'internal' ? 1 : 0;
    const pending_edges = sent.length - external - links;
    const state: TraceState =
      root.in_msg?.kind === 'internal' ? 'broken' : pending_edges > 0 ? 'pending' : ('complete' as const);
    return {
      root: root.id,
      trace_id: root.hash,
      start_lt: root.lt,
      start_utime: root.now,
      mc_seqno_start: root.mc_seqno,
      end_lt: list.map(({ lt }) => lt).reduce((a, b) => (a > b ? a : b)),
      end_utime: Math.max(...list.map(({ now }) => now)),
      mc_seqno_end: Math.max(...list.map(({ mc_seqno }) => mc_seqno)),
      nodes: list.length,
      edges: links + external + fromOutside,
      pending_edges,
      state,
      accounts: [...new Set(list.map(({ account_key }) => account_key))].sort((a, b) => Number(a - b)),
    };
  });
}

const inOne: Plan = { cuts: [false], order: [0], hints: [false] };
const roundByRound = (count: number): Plan => ({
  cuts: [true],
  order: Array.from({ length: count }, (_, at) => at),
  hints: [true],
});
const backwards = (count: number): Plan => ({
  cuts: [true],
  order: Array.from({ length: count }, (_, at) => -at),
  hints: [true, false],
});

describe('traces of masterchain blocks in any partition and order', () => {
  it('are those of one run over all masterchain blocks, and those that the senders report', () => {
    fc.assert(
      fc.property(steps, plan, fc.nat(4), (chain, choice, missing) => {
        const bundles = makeRounds(chain).slice(missing);
        const one = run(bundles, inOne).content();
        expect(one.traces).toEqual(truth(bundles.flat()));
        expect(run(bundles, choice).content()).toEqual(one);
        expect(run(bundles, roundByRound(bundles.length)).content()).toEqual(one);
        expect(run(bundles, backwards(bundles.length)).content()).toEqual(one);
      }),
      { numRuns: 200, seed: 6, endOnFailure: true },
    );
  });

  it('follow masterchain block by masterchain block without any orphan when all hints are there', () => {
    fc.assert(
      fc.property(steps, (chain) => {
        const bundles = makeRounds(chain.filter(({ root }) => root !== 'internal'));
        expect(run(bundles, roundByRound(bundles.length)).content().orphans).toEqual([]);
      }),
      { numRuns: 100, seed: 6, endOnFailure: true },
    );
  });
});

describe('large traces', () => {
  const step: ChainStep = { bundle: 1, message: 0, root: null, account: 1, wait: 0, sent: 0, external: 0 };
  const random = (count: number): Plan => ({
    cuts: [true, false, true],
    order: Array.from({ length: count }, (_, at) => (at * 7919) % 1009),
    hints: [true, false],
  });

  it('may be wide', () => {
    const first: ChainStep = { ...step, root: 'external', sent: 5000, external: 3 };
    const bundles = makeRounds([
      first,
      ...Array.from({ length: 4999 }, (_, at) => ({ ...step, bundle: at % 50, account: at })),
    ]);
    const { traces, opened } = run(bundles, random(bundles.length)).content();
    expect(traces).toEqual(truth(bundles.flat()));
    expect(traces).toMatchObject([{ nodes: 5000, edges: 5003, pending_edges: 1, state: 'pending' }]);
    expect(opened).toHaveLength(1);
  });

  it('may be deep', () => {
    const first: ChainStep = { ...step, root: 'external', sent: 1 };
    const bundles = makeRounds([
      first,
      ...Array.from({ length: 2999 }, (_, at) => ({ ...step, bundle: at % 10, account: at, sent: at < 2998 ? 1 : 0 })),
    ]);
    expect(bundles).toHaveLength(301);
    const { traces } = run(bundles, random(bundles.length)).content();
    expect(traces).toEqual(truth(bundles.flat()));
    expect(traces).toMatchObject([{ nodes: 3000, edges: 3000, pending_edges: 0, state: 'complete' }]);
  });

  it('may be broken to pieces that come last first', () => {
    const bundles = makeRounds(
      Array.from({ length: 400 }, (_, at) => ({
        ...step,
        bundle: 0,
        root: at === 0 ? ('external' as const) : null,
        sent: 1,
      })),
    );
    const { traces, roots } = run(bundles, { ...backwards(401), hints: [false] }).content();
    expect(traces).toEqual(truth(bundles.flat()));
    expect(traces).toMatchObject([{ nodes: 400, edges: 400, pending_edges: 1, state: 'pending' }]);
    expect(new Set(roots.map(([, root]) => root)).size).toBe(1);
  });
});
