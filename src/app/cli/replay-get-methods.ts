import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { RunGetMethod } from '#localnet/liteserver/get-methods.js';

/** Get methods for a liteserver, run in worker threads. */
export interface GetMethodRunner {
  readonly run: RunGetMethod;
  close(): Promise<void>;
}

/** Starts the virtual machine; `close()` ends its threads. @throws tvm/not-started */
export async function startGetMethods(): Promise<GetMethodRunner> {
  const pool = new TvmPool({}, { clock: systemClock });
  try {
    await pool.start();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    run: (run) => pool.runInContext(run),
    close: () => pool.close(),
  };
}
