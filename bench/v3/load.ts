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
  const ask = async (until: number, durations: number[]): Promise<number> => {
    let bytes = 0;
    await Promise.all(
      clients.map(async (client) => {
        for (let began = performance.now(); began < until; ) {
          const path = options.paths[next++ % options.paths.length]!;
          const answer = await client.get(path);
          if (answer.status !== 200)
            throw new Error(`${path}: ${answer.status} ${answer.body.toString().slice(0, 300)}`);
          bytes += answer.bytes;
          const ended = performance.now();
          durations.push(ended - began);
          began = ended;
        }
      }),
    );
    return bytes;
  };
  try {
    await ask(performance.now() + warmUpMs, []);
    const before = cpuMs();
    const durations: number[] = [];
    const began = performance.now();
    const bytes = await ask(began + ms, durations);
    const took = performance.now() - began;
    const after = cpuMs();
    const count = durations.length;
    const cpu = Object.fromEntries(Object.keys(after).map((who) => [who, (after[who]! - before[who]!) / count]));
    const [p50, p99] = [percentile(durations, 0.5), percentile(durations, 0.99)];
    return { connections, rps: (count * 1000) / took, p50, p99, bytes: bytes / count, cpu };
  } finally {
    for (const client of clients) client.close();
  }
}
