import type { LogLevel } from '#drivers/tvm/request-fields.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';
import { type Judgement, judgeGenesis, judgeRecorded } from '#test/support/expected-repetitions.js';
import { type Repetition, TransactionRepeater } from '#test/support/repeated-transactions.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Emulates every transaction of both recorded chains again. @returns what is not as expected */
export async function repeatTransactions(say: (line: string) => void): Promise<readonly string[]> {
  const waitMs = 600_000;
  const pool = new TvmPool({ spares: 0, maxWaiting: 100_000, queueTimeoutMs: waitMs }, { clock: systemClock });
  await pool.start();
  const repeat = async (
    path: string,
    log_level: LogLevel,
    judge: (all: readonly Repetition[]) => Judgement,
  ): Promise<readonly string[]> => {
    const folder = vectorPath(`collection/${path}`);
    const repeater = new TransactionRepeater(folder, pool, log_level);
    const { masterchain, shards } = repeater.chain;
    const all: Repetition[] = [];
    for (const block of [...masterchain, ...shards]) all.push(...(await repeater.repeatBlock(block)));
    const { same, different, problems } = judge(all);
    say(`${path}: ${same} of ${all.length} transactions have the recorded hash`);
    for (const [cause, count] of Object.entries(different)) say(`  ${count} differ: ${cause}`);
    return problems;
  };
  try {
    return [
      ...(await repeat('recorded-net/chain', 'short', judgeRecorded)),
      ...(await repeat('mainnet-genesis', 'full', judgeGenesis)),
    ];
  } finally {
    await pool.close();
  }
}
