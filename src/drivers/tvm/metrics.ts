/** How the pool is. Counts are since it was made, times in seconds. */
export interface TvmMetrics {
  /** Threads that take runs now. */
  readonly workers: number;
  /** Threads that stand by. */
  readonly spares: number;
  readonly busy: number;
  readonly waiting: number;
  readonly get_methods: number;
  /** Get methods that looked at the configuration or at previous blocks, so that they ran with all of it. */
  readonly get_methods_with_config: number;
  readonly transactions: number;
  /** Runs that failed, by code of the error; a contract that throws is no failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Workers stopped because of a run that took too long, or because they broke. */
  readonly replaced: number;
  /** Runs given to workers: one request may need several. */
  readonly runs: number;
  readonly run_seconds: number;
  /** Time that runs waited for a worker. */
  readonly wait_seconds: number;
  /** The largest memory that any emulator of the pool has had. */
  readonly emulator_bytes: number;
}
