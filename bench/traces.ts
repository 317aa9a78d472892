import { findOrphanJoins, joinTraces, OpenMessages } from '#domain/traces/trace.js';
import { TraceAssembler, type TraceBatch } from '#domain/traces/trace-assembler.js';
import { type ChainStep, type MadeTransaction, makeRounds } from '../test/support/random-traces.js';
import type { BenchCase } from './harness.js';
import type { BenchSuite } from './suite.js';

const transactions = 100_000;
const transactionsPerRound = 40;
const roundsPerBatch = 50;

/** A made-up chain: a quarter of the transactions are roots, and some thousand messages are on the way in the end. */
function makeChain(): MadeTransaction[][] {
  let state = 1;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const steps = Array.from({ length: transactions }, (): ChainStep => {
    const root = below(4) === 0 ? (below(4) === 0 ? 'none' : 'external') : null;
    const sent = root === 'none' ? 0 : root === null ? below(2) : 2 + below(2);
    return {
      bundle: below(transactionsPerRound),
      message: below(1000),
      root,
      account: below(1000),
      wait: 0,
      sent,
      external: 0,
    };
  });
  return makeRounds(steps);
}

function assemble(batch: readonly MadeTransaction[], known?: OpenMessages): TraceBatch {
  const assembler = new TraceAssembler(known);
  for (const transaction of batch) assembler.add(transaction);
  return assembler.finish();
}

function cases(): BenchCase[] {
  const bundles = makeChain();
  const batches: MadeTransaction[][] = [];
  for (let at = 0; at < bundles.length; at += roundsPerBatch)
    batches.push(bundles.slice(at, at + roundsPerBatch).flat());
  const assembled = batches.map((batch) => assemble(batch));
  const opened = assembled.flatMap((batch) => batch.opened);
  const orphans = assembled.flatMap((batch) => batch.orphans);
  const joins = findOrphanJoins(opened, orphans);
  const joined = new Set(joins.flatMap(({ parent, orphan }) => [parent, orphan]));
  const traces = assembled.flatMap(({ started }) => started.filter(({ root }) => joined.has(root)));
  return [
    {
      name: `assemble batches of ${roundsPerBatch} bundles`,
      unit: 'transactions',
      work: transactions,
      ours: () => batches.map((batch) => assemble(batch)),
    },
    {
      name: 'assemble bundle by bundle, with hints',
      unit: 'transactions',
      work: transactions,
      ours: () => {
        const known = new OpenMessages();
        for (const bundle of bundles) {
          const { opened, received: arrived } = assemble(bundle, known);
          known.remove(arrived);
          known.add(opened);
        }
        return known;
      },
    },
    {
      name: 'find and stitch the orphans of all batches',
      unit: 'orphans',
      work: joins.length,
      ours: () => joinTraces(findOrphanJoins(opened, orphans), traces),
    },
  ];
}

export const suite: BenchSuite = { name: 'traces', cases };
