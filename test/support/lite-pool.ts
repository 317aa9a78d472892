import { randomBytes } from 'node:crypto';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest } from '#drivers/lite/lite-source.js';
import type { LitePoolOptions } from '#drivers/lite/options.js';
import { LitePool } from '#drivers/lite/pool.js';
import { type LiteServerBlockHeader, LiteServerLookupBlock } from '#formats/tl/lite-api.js';
import { systemClock } from '#kernel/clock.js';
import type { LogFields } from '#kernel/logger.js';
import { Random } from '#test/fuzz/random.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { FakeLiteserver } from '#test/support/fake-liteserver.js';
import { MemoryNetwork } from '#test/support/memory-connection.js';

type Lookup = (typeof LiteServerLookupBlock)['load'] extends (reader: never) => infer Arguments ? Arguments : never;

/** A request for a made-up masterchain block; its value is the seqno. */
export type SeqnoRequest = LiteRequest<Lookup, LiteServerBlockHeader, number>;

/** [0, 1), always the same ones. */
function seededRandom(label: string): () => number {
  const random = new Random(label);
  return () => random.uint32() / 2 ** 32;
}

/** Asks which block has this seqno, and takes an answer about another one for a lie. */
export function seqnoRequest(seqno: number, rest: Partial<SeqnoRequest> = {}): SeqnoRequest {
  return {
    fn: LiteServerLookupBlock,
    query: { mode: 1, id: { workchain: -1, shard: -(2n ** 63n), seqno }, lt: null, utime: null },
    need: { kind: 'block', seqno },
    verify: ({ id }) => {
      if (id.seqno === seqno) return seqno;
      const problem = `block ${id.seqno} is not block ${seqno}`;
      throw liteErrors['bad-answer']({ server: '?', function: 'lookupBlock', problem });
    },
    ...rest,
  };
}

/** Lets everything happen that needs no time. */
export async function flush(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate);
}

/** Servers, a pool and a clock that only the test moves. */
export class PoolInMemory {
  readonly clock = new FakeClock(1_000_000);
  readonly servers: FakeLiteserver[];
  readonly network: MemoryNetwork;
  readonly pool: LitePool;
  readonly log: { readonly message: string; readonly fields: LogFields | undefined }[] = [];

  constructor(
    count: number,
    options: Partial<LitePoolOptions> = {},
    prepare: (servers: FakeLiteserver[]) => void = () => {},
  ) {
    const { clock } = this;
    this.servers = Array.from({ length: count }, (_, i) => new FakeLiteserver(`s${i}`, { clock }));
    for (const server of this.servers) server.delayMs = 1;
    prepare(this.servers);
    this.network = new MemoryNetwork(this.servers, clock);
    const note = (message: string, fields?: LogFields) => void this.log.push({ message, fields });
    this.pool = new LitePool(
      { servers: this.servers.map(({ address }) => address), depthRefreshMs: 0, ...options },
      {
        clock,
        unixTimeMs: () => clock.now(),
        random: seededRandom('pool'),
        randomBytes,
        connect: this.network.connect,
        logger: { info: note, warn: note },
      },
    );
  }

  /** Connects, and lets the servers say what their heads are. */
  async start(): Promise<this> {
    this.pool.start();
    await this.pass(50);
    return this;
  }

  /** Lets time pass, and everything happen that falls due, each at its own time. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    await flush();
    for (let next = this.clock.next; next !== null && next <= end; next = this.clock.next) {
      this.clock.advance(next - this.clock.now());
      await flush();
    }
    this.clock.advance(end - this.clock.now());
    await flush();
  }

  /** The outcome of a promise after so much time: its value, its error, or `pending`. */
  async after<T>(ms: number, promise: Promise<T>): Promise<T | 'pending'> {
    let outcome: { value: T } | { error: unknown } | null = null;
    promise.then(
      (value) => {
        outcome = { value };
      },
      (error) => {
        outcome = { error };
      },
    );
    await this.pass(ms);
    const found = outcome as { value: T } | { error: unknown } | null;
    if (found === null) return 'pending';
    if ('error' in found) throw found.error;
    return found.value;
  }
}

/** A pool over servers on real sockets. */
export function poolOnSockets(servers: LitePoolOptions['servers'], options: Partial<LitePoolOptions> = {}): LitePool {
  return new LitePool(
    { servers, ...options },
    { clock: systemClock, unixTimeMs: Date.now, random: seededRandom('pool'), randomBytes },
  );
}
