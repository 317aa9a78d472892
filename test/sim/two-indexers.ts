import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { differences, emptyIndex } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import type { Scenario } from './scenario.js';

const TAKEOVERS = 10;
/** How soon whoever stands by has to write when the leader is killed. */
const MOST_MS = 5000;
const STOPPED_MS = 10_000;
const BLOCKS_PER_SECOND = 4;
const PATIENCE_MS = 120_000;

/** Two indexers at once: the leader is killed again and again; then it is stopped for a while and goes on. */
export const twoIndexers: Scenario = async ({ network, reference, program, say }) => {
  const found: string[] = [];
  const index = await emptyIndex(network);
  const start = async (): Promise<IndexerProcess> =>
    new IndexerProcess(program, {
      command: 'serve',
      ...{ config: network.config, databaseUrl: index.url, workers: 1 },
      data: await mkdtemp(join(network.folder, 'data-')),
    });
  await network.restart(1);
  network.follow(BLOCKS_PER_SECOND);
  let leader = await start();
  await until(() => leader.leads, 'the first one leads');
  let other = await start();
  try {
    const times: number[] = [];
    for (let n = 0; n < TAKEOVERS; n++) {
      await until(() => other.log.includes('ready for requests'), 'the other one stands by');
      await delay(300);
      if (other.leads) found.push('both of them lead');
      // Not always at the same point between two attempts.
      await delay((n * 137) % 1000);
      const killed = performance.now();
      leader.send('SIGKILL');
      await until(() => other.leads, 'the other one leads');
      times.push(Math.round(performance.now() - killed));
      await leader.ended;
      leader = other;
      other = await start();
    }
    say(`takeovers after ${times.join(', ')} ms`);
    for (const ms of times) if (ms > MOST_MS) found.push(`a takeover took ${ms} ms`);
    await until(() => other.log.includes('ready for requests'), 'the other one stands by');
    leader.send('SIGSTOP');
    await delay(STOPPED_MS);
    const during = other.leads;
    leader.send('SIGCONT');
    await waitForRows(index, 'the index is whole');
    say(`leader stopped for ${STOPPED_MS / 1000} s: the other one ${during ? 'took over' : 'waited'}`);
    const differing = await differences(reference, index.client);
    say(`two indexers: ${differing.join('\n') || 'same rows'}`);
    return [...found, ...differing];
  } finally {
    leader.send('SIGCONT');
    await leader.kill();
    await other.kill();
    await index.close();
  }
};

async function waitForRows(index: { isWhole(): Promise<boolean> }, what: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await index.isWhole()); await delay(50)) {
    if (Date.now() > end) throw new Error(`does not happen: ${what}`);
  }
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !isTrue(); await delay(10)) {
    if (Date.now() > end) throw new Error(`does not happen: ${what}`);
  }
}
