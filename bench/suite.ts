import type { DisturbanceCase } from './disturbance.js';
import type { BenchCase } from './harness.js';
import type { LatencyCase } from './latency.js';
import type { ReportTable } from './report.js';

/** What a file `bench/NAME.ts` exports as `suite`. */
export interface BenchSuite {
  readonly name: string;
  /** What the other party is, with its version, such as `@ton/core 0.63.1`. */
  readonly baseline?: string;
  /** Prepares the inputs, outside the measurement. */
  cases(): readonly BenchCase[] | Promise<readonly BenchCase[]>;
  /** Calls that wait, measured after the cases. */
  latencies?(): readonly LatencyCase[] | Promise<readonly LatencyCase[]>;
  /** Calls that wait while something goes wrong, measured last. */
  disturbances?(): readonly DisturbanceCase[] | Promise<readonly DisturbanceCase[]>;
  /** Measures what fits none of these, last of all, and gives it as tables. @param size of the input, where it can be chosen */
  tables?(size: number | null): Promise<readonly ReportTable[]>;
  /** Ends what the inputs have started, also after a failure. */
  close?(): Promise<void>;
}
