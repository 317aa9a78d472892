import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '#test/fuzz/random.js';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.js';
import { differences, emptyIndex } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import type { Scenario } from './scenario.js';

const BLOCKS_PER_SECOND = 12;
const PATIENCE_MS = 240_000;
/** Of 100 segments. */
const LOST = 5;
/** What a TCP connection carries in one packet of an Ethernet. */
const SEGMENT_BYTES = 1_448;
/** After which TCP has sent a lost segment again: about a round trip, since later segments tell that it is lost. */
const RETRANSMISSION_MS = 20;

/** What happens to the line while the index is written; returns what ends it. */
const LINES: Readonly<Record<string, (proxy: TcpProxy, random: Random) => () => void>> = {
  'loses 5 % of its packets': (proxy, random) => {
    for (const direction of [proxy.toClient, proxy.toServer]) {
      direction.segmentBytes = SEGMENT_BYTES;
      direction.delayMs = () => (random.below(100) < LOST ? RETRANSMISSION_MS : 0);
    }
    return () => proxy.heal();
  },
  'ends in a liteserver that restarts each second': (proxy) => {
    let up: NodeJS.Timeout | undefined;
    const timer = setInterval(() => {
      proxy.refusing = true;
      proxy.resetAll();
      up = setTimeout(() => proxy.heal(), 300);
    }, 1_000);
    return () => {
      clearInterval(timer);
      clearTimeout(up);
      proxy.heal();
    };
  },
};

/** The line to the only liteserver is bad all the time: the index is slower, and the same. */
export const lossyLines: Scenario = async ({ network, reference, program, say, seed }) => {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: network.port });
  const config = join(network.folder, 'lossy.config.json');
  const known = JSON.parse(await readFile(network.config, 'utf8'));
  await writeFile(config, JSON.stringify({ ...known, liteservers: [{ ...known.liteservers[0], port: proxy.port }] }));
  const found: string[] = [];
  try {
    for (const [name, begin] of Object.entries(LINES)) {
      for (const work of ['follow', 'fill'] as const) {
        const startedAt = performance.now();
        const index = await emptyIndex(network);
        await network.restart(work === 'follow' ? 1 : null);
        if (work === 'follow') network.follow(BLOCKS_PER_SECOND);
        const args = { config, databaseUrl: index.url, data: index.data, workers: 2 };
        const end = begin(proxy, new Random(`${seed} ${name} ${work}`));
        const tern = new IndexerProcess(program, { command: work === 'fill' ? 'index' : 'serve', ...args });
        try {
          const until = Date.now() + PATIENCE_MS;
          while (!(await index.isWhole()) && !tern.hasEnded && Date.now() < until) await delay(200);
          if (work === 'fill') await Promise.race([tern.ended, delay(60_000)]);
        } finally {
          end();
          await tern.kill();
        }
        const differing = await differences(reference, index.client);
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
        const kilobytes = (tern.log.length / 1000).toFixed(1);
        say(
          `a line that ${name}, ${work}: ${seconds} s, ${kilobytes} kB of log; ${differing.join('\n') || 'same rows'}`,
        );
        found.push(...differing);
        if (differing.length > 0) found.push(tern.log);
        await index.close();
      }
    }
  } finally {
    await proxy.close();
  }
  return found;
};
