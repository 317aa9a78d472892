import { type Spread, spreadOf } from './harness.js';
import { percentile } from './latency.js';

/** Calls that wait, while all is well and while something is not. */
export interface DisturbanceCase {
  /** What is wrong, such as `one of three stalls`. */
  readonly name: string;
  /** What one call does one of. */
  readonly unit: string;
  /** Calls under way on each side. */
  readonly inFlight: number;
  /** How many times as long p99 may be. */
  readonly target?: number;
  /** A new start, with everything well on both sides. */
  open(): Promise<DisturbedSubject>;
}

/** Two sides that do the same. */
export interface DisturbedSubject {
  /** Makes calls on both sides at the same time, for so long. A call that fails is an error. */
  sample(ms: number): Promise<{ readonly usual: readonly number[]; readonly disturbed: readonly number[] }>;
  /** Something goes wrong on one side. */
  disturb(): Promise<void>;
  close(): Promise<void>;
}

interface Percentiles {
  readonly p50: Spread;
  readonly p99: Spread;
}

export interface DisturbanceResult {
  readonly name: string;
  readonly unit: string;
  readonly inFlight: number;
  /** In milliseconds, by window. */
  readonly usual: Percentiles;
  readonly disturbed: Percentiles;
  /** Disturbed to usual, of the same windows. */
  readonly ratio: Percentiles;
  readonly target: number | null;
  /** Whether the median ratio of p99 keeps to the target; null when there is none. */
  readonly met: boolean | null;
  /** Calls of both sides. */
  readonly calls: number;
  /** Windows. */
  readonly runs: number;
}

export interface DisturbanceOptions {
  readonly runs: number;
  /** How long calls are made before a window, for all to know that all is well. */
  readonly warmMs: number;
  /** A window, which begins with the disturbance. */
  readonly sampleMs: number;
}

export const disturbanceDefaults: DisturbanceOptions = {
  runs: 12,
  warmMs: 1000,
  sampleMs: 2000,
};

/**
 * Measures short windows in which both sides, one undisturbed and one disturbed, make calls at the same time: what else
 * the machine does meets both. Each window has a start of its own.
 */
export async function measureDisturbance(
  { name, unit, inFlight, target, open }: DisturbanceCase,
  { runs, warmMs, sampleMs }: DisturbanceOptions = disturbanceDefaults,
): Promise<DisturbanceResult> {
  const windows: { readonly usual: readonly number[]; readonly disturbed: readonly number[] }[] = [];
  for (let run = 0; run < runs; run++) {
    const subject = await open();
    try {
      await subject.sample(warmMs);
      await subject.disturb();
      windows.push(await subject.sample(sampleMs));
    } finally {
      await subject.close();
    }
  }
  const usual = windows.map((window) => window.usual);
  const disturbed = windows.map((window) => window.disturbed);
  const ratioOf = (share: number) =>
    spreadOf(windows.map((window) => percentile(window.disturbed, share) / percentile(window.usual, share)));
  const ratio = { p50: ratioOf(0.5), p99: ratioOf(0.99) };
  return {
    name,
    unit,
    inFlight,
    usual: percentiles(usual),
    disturbed: percentiles(disturbed),
    ratio,
    target: target ?? null,
    met: target === undefined ? null : ratio.p99.median <= target,
    calls: [...usual, ...disturbed].reduce((sum, { length }) => sum + length, 0),
    runs,
  };
}

function percentiles(windows: readonly (readonly number[])[]): Percentiles {
  const of = (share: number) => spreadOf(windows.map((durations) => percentile(durations, share)));
  return { p50: of(0.5), p99: of(0.99) };
}
