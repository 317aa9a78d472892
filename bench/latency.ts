import { type Spread, sink, spreadOf } from './harness.js';

/** Calls that wait for something outside, so that many of them can be under way at once. */
export interface LatencyCase {
  /** What is measured, such as `verified account read`. */
  readonly name: string;
  /** What one call does one of, such as `reads`. */
  readonly unit: string;
  /** How many calls are under way at any time. */
  readonly inFlight: number;
  /** Does the work once. */
  call(): Promise<unknown>;
}

export interface LatencyResult {
  readonly name: string;
  readonly unit: string;
  readonly inFlight: number;
  /** Units per second. */
  readonly rate: Spread;
  /** Of the calls of each sample, in milliseconds: half of them took no longer, … */
  readonly p50: Spread;
  /** … and 99 of 100. */
  readonly p99: Spread;
  /** Samples. */
  readonly runs: number;
}

export interface LatencyOptions {
  readonly runs: number;
  /** The least time of one sample, in milliseconds. */
  readonly sampleMs: number;
  /** Milliseconds since some moment. */
  readonly now: () => number;
}

export const latencyDefaults: LatencyOptions = {
  runs: 5,
  sampleMs: 1500,
  now: () => performance.now(),
};

/** The least value that a share of all values (0 to 1) does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}

interface Sample {
  readonly durations: readonly number[];
  readonly ms: number;
}

/** Keeps so many calls under way until the time is over; those that are then under way are waited for, and count. */
async function takeSample({ inFlight, call }: LatencyCase, { sampleMs, now }: LatencyOptions): Promise<Sample> {
  const durations: number[] = [];
  const start = now();
  const worker = async (): Promise<void> => {
    for (let began = now(); began - start < sampleMs; ) {
      sink.result = await call();
      const ended = now();
      durations.push(ended - began);
      began = ended;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { durations, ms: now() - start };
}

/** Measures one case: one sample to warm up, then as many as are wanted. A call that fails ends it with its error. */
export async function measureLatency(
  bench: LatencyCase,
  options: LatencyOptions = latencyDefaults,
): Promise<LatencyResult> {
  await takeSample(bench, options);
  const samples: Sample[] = [];
  for (let run = 0; run < options.runs; run++) samples.push(await takeSample(bench, options));
  return {
    name: bench.name,
    unit: bench.unit,
    inFlight: bench.inFlight,
    rate: spreadOf(samples.map(({ durations, ms }) => (durations.length * 1000) / ms)),
    p50: spreadOf(samples.map(({ durations }) => percentile(durations, 0.5))),
    p99: spreadOf(samples.map(({ durations }) => percentile(durations, 0.99))),
    runs: options.runs,
  };
}
