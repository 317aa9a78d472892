import { setTimeout as delay } from 'node:timers/promises';
import { ServedTern } from '#test/support/served-tern.js';
import { percentile } from '../../bench/latency.js';
import { type HttpAnswer, type HttpCall, KeepAliveClient } from '../../bench/v2/keep-alive-client.js';
import { v2Requests } from '../../bench/v2/requests.js';
import type { Ground } from './run.js';

const SAMPLE_MS = 2_000;
/** Of the time, before memory is taken for settled. */
const WARM_UP = 1 / 3;
/** By how much of itself memory may grow after that. */
const GROWTH = 0.1;

/** Many connections at once, each always asking: answers right, memory flat, no error but 429 and 503. */
export async function loadConnections({ folder, config, data, seconds, connections, write }: Ground): Promise<boolean> {
  const tern = await ServedTern.start(['serve', '--network', config, '--listen', '127.0.0.1:0', '--data', data]);
  const client = new KeepAliveClient(tern.url, connections);
  try {
    const calls = Object.values(v2Requests(folder)).flat();
    const expected = await expectedAnswers(client, calls);
    const statuses = new Map<number, number>();
    const durations: number[] = [];
    const wrong: string[] = [];
    const failures = new Map<string, number>();
    const memory: number[] = [];
    const end = performance.now() + seconds * 1000;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (performance.now() < end) {
        const call = calls[next++ % calls.length]!;
        const began = performance.now();
        const answer = await client.ask(call).catch((error: NodeJS.ErrnoException) => error);
        durations.push(performance.now() - began);
        if (answer instanceof Error) {
          const name = answer.code ?? answer.message;
          failures.set(name, (failures.get(name) ?? 0) + 1);
          continue;
        }
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status === 200 && resultOf(answer) !== expected.get(call)) wrong.push(call.path);
      }
    };
    const watch = async (): Promise<void> => {
      while (performance.now() < end) {
        await delay(SAMPLE_MS);
        memory.push(await tern.residentBytes());
      }
    };
    await Promise.all([watch(), ...Array.from({ length: connections }, worker)]);
    const settled = memory.slice(Math.floor(memory.length * WARM_UP));
    const growth = Math.max(...settled.slice(-3)) / Math.max(...settled.slice(0, 3)) - 1;
    const unexpected = [...statuses.keys()].filter((status) => ![200, 429, 503].includes(status));
    write(
      `${connections} connections, ${seconds} s: ${durations.length} requests, ${Math.round(durations.length / seconds)}/s`,
    );
    write(`p50 ${percentile(durations, 0.5).toFixed(0)} ms, p99 ${percentile(durations, 0.99).toFixed(0)} ms`);
    write(`statuses: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);
    write(`failed connections: ${[...failures].map(([name, count]) => `${name}: ${count}`).join(', ') || 'none'}`);
    write(`wrong answers: ${wrong.length}${wrong.length > 0 ? `, such as to ${wrong[0]}` : ''}`);
    write(
      `memory, MB: ${memory.map((bytes) => Math.round(bytes / 1e6)).join(' ')}; grew by ${(growth * 100).toFixed(1)} %`,
    );
    return wrong.length === 0 && failures.size === 0 && unexpected.length === 0 && growth < GROWTH;
  } finally {
    client.close();
    await tern.close();
  }
}

/** One at a time, before the load. */
async function expectedAnswers(client: KeepAliveClient, calls: readonly HttpCall[]): Promise<Map<HttpCall, string>> {
  const expected = new Map<HttpCall, string>();
  for (const call of calls) {
    const answer = await client.ask(call);
    if (answer.status !== 200) throw new TypeError(`${call.path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    expected.set(call, resultOf(answer));
  }
  return expected;
}

/** All but the stamp of the answer. */
function resultOf({ text }: HttpAnswer): string {
  const { result } = JSON.parse(text) as { result: unknown };
  return JSON.stringify(result);
}
