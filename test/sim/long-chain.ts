import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';
import { longRun } from '../localnet/long-run.js';

/** At most so many blocks of shards come with a masterchain block; the run goes on until there are enough. */
const SAID_EVERY = 500;

/**
 * Makes a chain of a local network with random traffic, splits, merges and key blocks, and checks every block as a
 * validator does. @returns what is not as it should be
 */
export async function longChain(blocks: number, seed: string, say: (line: string) => void): Promise<readonly string[]> {
  const pool = new TvmPool({ workers: 1, spares: 0 }, { clock: systemClock });
  await pool.start();
  let said = 0;
  try {
    const report = await longRun(
      {
        enough: (counts) => counts.blocks >= blocks,
        seed,
        messages: 12,
        progress: (counts) => {
          if (counts.blocks - said < SAID_EVERY) return;
          said = counts.blocks;
          say(`${counts.blocks} blocks, ${counts.transactions} transactions, ${process.memoryUsage().rss >> 20} MB`);
        },
      },
      pool,
    );
    say(JSON.stringify(report));
    return [];
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  } finally {
    await pool.close();
  }
}
