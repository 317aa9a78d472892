/**
 * Measures Tern against something else that does the same work, in one process, side by side.
 *
 * Both sides run in turn (ours, baseline, ours, baseline, …), so that what the machine does meanwhile meets both, and
 * each pair gives one ratio. A sample repeats its side until it has taken long enough to be timed well. Garbage is collected
 * when the engine wants to: a collection forced before each sample would make it throw away optimised code as well.
 */
export interface BenchCase {
  /** What is measured, such as `hash all cells`. */
  readonly name: string;
  /** What is counted, such as `cells`; figures are printed per second. */
  readonly unit: string;
  /** How many units one call of `ours` does. */
  readonly work: number;
  /** How many units one call of `baseline` does; `work` when not given. */
  readonly baselineWork?: number;
  /** The ratio (ours to baseline) that is wanted. */
  readonly target?: number;
  /** Does the work once. What it returns is kept alive, so that the work cannot be optimised away. */
  ours(): unknown;
  /** The same work by the other party. */
  baseline?(): unknown;
}

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface CaseResult {
  readonly name: string;
  readonly unit: string;
  /** Units per second. */
  readonly ours: Spread;
  readonly baseline: Spread | null;
  /** Of the pairs, not of the medians. */
  readonly ratio: Spread | null;
  readonly target: number | null;
  /** Whether the median ratio reaches the target; null when there is no target. */
  readonly met: boolean | null;
  readonly runs: number;
}

export interface MeasureOptions {
  /** Pairs of samples. */
  readonly runs: number;
  /** The least time of one sample, in milliseconds. */
  readonly sampleMs: number;
  /** Milliseconds since some moment. */
  readonly now: () => number;
}

export const measureDefaults: MeasureOptions = {
  runs: 7,
  sampleMs: 250,
  now: () => performance.now(),
};

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? Number.NaN;
  return { min: sorted[0] ?? Number.NaN, median: (lower + upper) / 2, max: sorted.at(-1) ?? Number.NaN };
}

/** Where results end up, so that no call can be dropped as useless. */
export const sink: { result: unknown } = { result: undefined };

function timeCalls(call: () => unknown, count: number, { now }: MeasureOptions): number {
  const start = now();
  for (let i = 0; i < count; i++) sink.result = call();
  return now() - start;
}

/** Warms `call` up and finds how many calls fill one sample. */
function callsPerSample(call: () => unknown, options: MeasureOptions): number {
  for (let count = 1; ; ) {
    const took = timeCalls(call, count, options);
    if (took >= options.sampleMs) return count;
    const wanted = took > 0 ? Math.ceil((count * options.sampleMs * 1.1) / took) : Number.POSITIVE_INFINITY;
    count = Math.min(Math.max(wanted, count + 1), count * 10);
  }
}

/** Measures one case. */
export function measureCase(bench: BenchCase, options: MeasureOptions = measureDefaults): CaseResult {
  const ours = () => bench.ours();
  const baseline = bench.baseline === undefined ? null : () => bench.baseline?.();
  const ourCalls = callsPerSample(ours, options);
  const baselineCalls = baseline === null ? 0 : callsPerSample(baseline, options);
  const ourRates: number[] = [];
  const baselineRates: number[] = [];
  for (let run = 0; run < options.runs; run++) {
    ourRates.push((ourCalls * bench.work * 1000) / timeCalls(ours, ourCalls, options));
    if (baseline === null) continue;
    const units = baselineCalls * (bench.baselineWork ?? bench.work);
    baselineRates.push((units * 1000) / timeCalls(baseline, baselineCalls, options));
  }
  const ratio = baseline === null ? null : spreadOf(ourRates.map((rate, i) => rate / (baselineRates[i] ?? Number.NaN)));
  const target = bench.target ?? null;
  return {
    name: bench.name,
    unit: bench.unit,
    ours: spreadOf(ourRates),
    baseline: baseline === null ? null : spreadOf(baselineRates),
    ratio,
    target,
    met: target === null || ratio === null ? null : ratio.median >= target,
    runs: options.runs,
  };
}
