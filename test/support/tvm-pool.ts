import type { TvmOptions } from '#drivers/tvm/options.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';

/** A pool that has started. It must be closed. */
export async function startTvm(options: TvmOptions = {}): Promise<TvmPool> {
  const pool = new TvmPool({ workers: 2, spares: 0, ...options }, { clock: systemClock });
  await pool.start();
  return pool;
}
