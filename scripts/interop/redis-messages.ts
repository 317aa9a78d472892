import { setTimeout as delay } from 'node:timers/promises';
import { toBase64, toHex } from '#kernel/bytes.js';
import { silentLogger } from '#kernel/logger.js';
import { SharedMessages } from '#services/pending/shared-messages.js';
import { externalTo } from '#test/support/live-cells.js';
import type { CheckReport } from './check-report.js';
import type { RedisProcess } from './redis-process.js';

const PATIENCE_MS = 5_000;
const CHANNEL = 'messages-of-others';

/** Takes messages from a Redis server, as a process does that follows them. */
class Receiver {
  readonly #seen: string[] = [];
  readonly #shared: SharedMessages;

  constructor(url: string, network: string) {
    this.#shared = new SharedMessages(
      { url, network, channel: CHANNEL },
      {
        onMessage: ({ cell }, origin) => void this.#seen.push(`${origin} ${toHex(cell.hash())}`),
        logger: silentLogger,
      },
    );
  }

  publish(body: number): string {
    const message = externalTo(1, body);
    this.#shared.publish(message);
    return toHex(message.cell.hash());
  }

  /** How often a message came. */
  count(text: string): number {
    return this.#seen.filter((each) => each === text).length;
  }

  get all(): number {
    return this.#seen.length;
  }

  close(): void {
    this.#shared.close();
  }
}

async function until(isSo: () => boolean, problem: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !isSo(); await delay(20)) if (Date.now() > end) throw new Error(problem);
}

/** External-in messages that processes share through a real Redis. */
export async function checkSharedMessages(redis: RedisProcess, report: CheckReport): Promise<void> {
  const [one, other, foreign] = [
    new Receiver(redis.url, 'aa'),
    new Receiver(redis.url, 'aa'),
    new Receiver(redis.url, 'bb'),
  ];
  const arrives = async (from: Receiver, to: Receiver, body: number): Promise<void> => {
    // While a process connects, its messages are its own.
    for (let i = 0; ; i++) {
      const hash = from.publish(body + i);
      await delay(50);
      if (to.count(`shared ${hash}`) === 1) return;
      if (i === PATIENCE_MS / 50) throw new Error('no message came');
    }
  };
  try {
    await report.check('redis: pending messages reach the other processes of the network, once', async () => {
      await arrives(one, other, 1_000);
      await arrives(other, one, 2_000);
      const before = foreign.all;
      const hashes = Array.from({ length: 100 }, (_, i) => one.publish(10_000 + i));
      await until(() => other.count(`shared ${hashes[99]}`) > 0, 'the last of 100 messages did not come');
      const wrong = hashes.filter((hash) => other.count(`shared ${hash}`) !== 1);
      if (wrong.length > 0) throw new Error(`${wrong.length} of 100 came not once`);
      if (foreign.all !== before) throw new Error('another network got them');
      return '100 messages';
    });
    await report.check('redis: messages of a channel of others', async () => {
      const { boc, cell } = externalTo(1, 7);
      await redis.ask(`PUBLISH ${CHANNEL} garbage`);
      await redis.ask(`PUBLISH ${CHANNEL} ${toBase64(boc)}`);
      await until(() => one.count(`channel ${toHex(cell.hash())}`) === 1, 'it did not come');
      return 'one came, what is no message was left out';
    });
    await report.check('redis: pending messages after Redis was killed and started', async () => {
      await redis.kill();
      one.publish(5);
      await redis.start();
      await arrives(one, other, 3_000);
      return 'shared again';
    });
  } finally {
    for (const each of [one, other, foreign]) each.close();
  }
}
