import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#kernel/clock.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import { startLiteserver } from '#localnet/liteserver/server.js';
import { Random } from '#test/fuzz/random.js';
import { startTcpProxy } from '#test/support/tcp-proxy.js';
import { differences, emptyIndex } from './index-ground.js';
import { IndexerProcess } from './indexer-process.js';
import type { Scenario } from './scenario.js';

const BLOCKS_PER_SECOND = 12;
const PATIENCE_MS = 240_000;
const TIMES = 12;

/**
 * The liteserver vanishes and comes back, its answers stop in the middle, its connections break; the only other one has
 * lost the first half of the chain.
 */
export const liteserverOutages: Scenario = async ({ network, reference, program, say, seed }) => {
  const random = new Random(`${seed} liteserver`);
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: network.port });
  const partial = await startLiteserver(
    { host: '127.0.0.1', port: 0, seed: randomBytes(32) },
    {
      ledger: withoutHistory(() => network.ledger, Math.floor(network.last / 2)),
      clock: systemClock,
      unixTime: () => Math.floor(Date.now() / 1000),
      randomBytes: (size) => randomBytes(size),
    },
  );
  const config = join(network.folder, 'two-servers.config.json');
  const both = JSON.parse(await readFile(network.config, 'utf8'));
  const [first] = both.liteservers;
  const key = { ...first.id, key: Buffer.from(partial.publicKey).toString('base64') };
  both.liteservers = [
    { ...first, port: proxy.port },
    { ...first, port: partial.port, id: key },
  ];
  await writeFile(config, JSON.stringify(both));
  const found: string[] = [];
  try {
    for (const work of ['follow', 'fill'] as const) {
      const index = await emptyIndex(network);
      await network.restart(work === 'follow' ? 1 : null);
      if (work === 'follow') network.follow(BLOCKS_PER_SECOND);
      const args = { config, databaseUrl: index.url, data: index.data, workers: 2 };
      const tern = new IndexerProcess(program, { command: work === 'fill' ? 'index' : 'serve', ...args });
      let hurt = 0;
      try {
        const until = Date.now() + PATIENCE_MS;
        while (!tern.leads && !tern.hasEnded && Date.now() < until) await delay(20);
        while (!(await index.isWhole()) && !tern.hasEnded && Date.now() < until) {
          await delay(random.below(work === 'fill' ? 300 : 1500));
          if (hurt >= TIMES) continue;
          switch (hurt++ % 3) {
            case 0:
              proxy.refusing = true;
              proxy.resetAll();
              break;
            case 1:
              proxy.toClient.resetAfterBytes = proxy.toClient.passed + random.below(100_000);
              break;
            default:
              proxy.toClient.stall();
          }
          await delay(500 + random.below(1500));
          proxy.heal();
          proxy.resetAll();
        }
        if (work === 'fill') await Promise.race([tern.ended, delay(60_000)]);
      } finally {
        proxy.heal();
        await tern.kill();
      }
      const differing = await differences(reference, index.client);
      say(`liteserver, ${work}: ${hurt} outages; ${differing.join('\n') || 'same rows'}`);
      found.push(...differing);
      if (differing.length > 0) found.push(tern.log);
      await index.close();
    }
  } finally {
    await partial.close();
    await proxy.close();
  }
  return found;
};

/** A ledger that has dropped all blocks that masterchain blocks below a seqno have committed. */
function withoutHistory(ledger: () => Ledger, first: number): Ledger {
  const kept = <Block extends { readonly mc_seqno: number }>(block: Block | null): Block | null =>
    block !== null && block.mc_seqno >= first ? block : null;
  return new Proxy({} as Ledger, {
    get: (_, name: keyof Ledger) => {
      const whole = ledger();
      if (name === 'block') return (id: Parameters<Ledger['block']>[0]) => kept(whole.block(id));
      if (name === 'lookup') return (query: Parameters<Ledger['lookup']>[0]) => kept(whole.lookup(query));
      const value = whole[name];
      return typeof value === 'function' ? value.bind(whole) : value;
    },
  });
}
