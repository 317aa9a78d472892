import { traceOfAnswer } from '#app/cli/explain-source.js';
import { classify } from '#domain/actions/classify.js';
import type { TraceInput } from '#domain/actions/trace-input.js';
import { fan } from '../test/support/hostile-traces.js';
import { recordedFacts, recordedTraces } from '../test/support/recorded-actions.js';
import { actionsOfAnIndex } from './actions/index-tables.js';
import type { BenchCase } from './harness.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';

const facts = recordedFacts();

function transactionsOf(traces: readonly TraceInput[]): number {
  return traces.reduce((sum, { transactions }) => sum + transactions.length, 0);
}

function classification(name: string, traces: readonly TraceInput[]): BenchCase {
  const work = transactionsOf(traces);
  return { name, unit: 'transactions', work, ours: () => traces.map((trace) => classify(trace, facts)) };
}

/** All traces of the recorded network but those of tick-tock transactions, which mean nothing. */
function tracesOfRecordedNet(): readonly TraceInput[] {
  const traces = Array.from(recordedTraces(), traceOfAnswer);
  return traces.filter(({ transactions }) => transactions.length > 1 || transactions[0]!.kind === 'ordinary');
}

const recorded = tracesOfRecordedNet();

const JETTON_TRANSFER = 0x0f8a7ea5;

/** Time per trace: the longest are those that hold up others. */
function timeTable(): ReportTable {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (const trace of recorded) {
      const start = performance.now();
      classify(trace, facts);
      if (round > 0) times.push(performance.now() - start);
    }
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => `${times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(3)} ms`;
  return {
    title: 'time per trace of the recorded network',
    head: ['median', 'p99', 'p99.9', 'longest'],
    rows: [[at(0.5), at(0.99), at(0.999), at(1)]],
  };
}

/** How fast traces become actions, on one thread and in an index. `bench -- v3` measures answers with actions, and bytes. */
export const suite: BenchSuite = {
  name: 'actions',
  cases: () => [
    classification('traces of the recorded network', recorded),
    classification('a fan of 10,000 transactions', [fan(10_000, JETTON_TRANSFER)]),
  ],
  tables: async () => [timeTable(), ...(await actionsOfAnIndex())],
};
