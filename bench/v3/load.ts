import { percentile } from '../latency.js';
import { SocketClient } from './socket-client.js';

/** What loading an endpoint gave. */
export interface LoadResult {
  readonly connections: number;
  readonly rps: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Of an answer, on average. */
  readonly bytes: number;
  /** Of each answer, in the order in which they came. */
  readonly sizes: readonly number[];
  /** Milliseconds of CPU time for each request, by who took it. */
  readonly cpu: Readonly<Record<string, number>>;
}

export interface LoadOptions {
  readonly url: string;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly ms: number;
  /** CPU time that each has taken so far. */
  readonly cpuMs: () => Readonly<Record<string, number>>;
}

/** Asks in turn for all paths, over so many connections at once. @throws when an answer is not 200 */
export async function measureLoad(options: LoadOptions): Promise<LoadResult> {
  const { url, connections, warmUpMs, ms, cpuMs } = options;
  const clients = await Promise.all(Array.from({ length: connections }, () => SocketClient.open(url)));
  let next = 0;
  const ask = async (until: number, durations: number[], sizes: number[]): Promise<void> => {
    await Promise.all(
      clients.map(async (client) => {
        for (let began = performance.now(); began < until; ) {
          const path = options.paths[next++ % options.paths.length]!;
          const answer = await client.get(path);
          if (answer.status !== 200)
            throw new Error(`${path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
          sizes.push(answer.bytes);
          const ended = performance.now();
          durations.push(ended - began);
          began = ended;
        }
      }),
    );
  };
  try {
    await ask(performance.now() + warmUpMs, [], []);
    const before = cpuMs();
    const durations: number[] = [];
    const sizes: number[] = [];
    const began = performance.now();
    await ask(began + ms, durations, sizes);
    const took = performance.now() - began;
    const after = cpuMs();
    const count = durations.length;
    const cpu = Object.fromEntries(Object.keys(after).map((who) => [who, (after[who]! - before[who]!) / count]));
    const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
    const bytes = sizes.reduce((sum, size) => sum + size, 0) / count;
    return { connections, rps: (count * 1000) / took, p50, p99, bytes, sizes, cpu };
  } finally {
    for (const client of clients) client.close();
  }
}
