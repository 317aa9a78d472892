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
  /** CPU time that the measured service has taken so far, in milliseconds. */
  cpuMs?(): Promise<number>;
  /** How much of it a unit may take, in milliseconds. */
  readonly cpuTarget?: number;
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
  /** CPU time of the service for each unit, in milliseconds; `null` where it is not measured. */
  readonly cpu: Spread | null;
  readonly cpuTarget: number | null;
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
  /** CPU time of the service, if it is measured. */
  readonly cpuMs: number;
}

/** Keeps so many calls under way until the time is over; those that are then under way are waited for, and count. */
async function takeSample({ inFlight, call, cpuMs }: LatencyCase, { sampleMs, now }: LatencyOptions): Promise<Sample> {
  const durations: number[] = [];
  const cpuBefore = (await cpuMs?.()) ?? 0;
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
  const ms = now() - start;
  return { durations, ms, cpuMs: ((await cpuMs?.()) ?? 0) - cpuBefore };
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
    cpu: bench.cpuMs === undefined ? null : spreadOf(samples.map((sample) => sample.cpuMs / sample.durations.length)),
    cpuTarget: bench.cpuTarget ?? null,
    runs: options.runs,
  };
}
