import type { TvmOptions } from '#drivers/tvm/options.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';

/** On a busy machine a run may take as long as it likes: tests of the deadlines set their own. */
const LONG_TIMEOUTS: TvmOptions = { timeoutMs: 120_000, queueTimeoutMs: 240_000 };

/** A pool that has started. It must be closed. */
export async function startTvm(options: TvmOptions = {}): Promise<TvmPool> {
  const pool = new TvmPool({ workers: 2, spares: 0, ...LONG_TIMEOUTS, ...options }, { clock: systemClock });
  await pool.start();
  return pool;
}

/** Uses a pool that has started, and closes it. */
export async function withPool(options: TvmOptions, use: (pool: TvmPool) => Promise<void>): Promise<void> {
  const pool = await startTvm(options);
  try {
    await use(pool);
  } finally {
    await pool.close();
  }
}
