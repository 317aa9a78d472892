import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stopTestServer, testDatabase } from '#test/support/test-database.js';
import { HostileNetwork } from './hostile-network.js';
import { MeasuredTern } from './measured-tern.js';
import { readingsBetween, summary } from './probe-readings.js';
import { type SingleRequest, singleRequests } from './single-requests.js';
import { table } from './worst-report.js';

export interface SingleArguments {
  /** In place of the `tern` of this checkout: to compare two versions. */
  readonly program: string | undefined;
  readonly rounds: number;
  /** Rows of the table. */
  readonly rows: number;
}

/** @throws TypeError that says what is wrong */
export function readSingleArguments(args: readonly string[]): SingleArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tern: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      rows: { type: 'string', default: '10' },
    },
  });
  const rounds = Number(values.rounds);
  const rows = Number(values.rows);
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 100)) throw new TypeError('--rounds is 1 to 100');
  if (!(Number.isInteger(rows) && rows >= 1 && rows <= 100)) throw new TypeError('--rows is 1 to 100');
  return { program: values.tern, rounds, rows };
}

const BLOCK_TIME_MS = 1_000;
const SENDERS = 8;
/** After a request, until the probe has told of it. */
const PAUSE_MS = 350;
const ASK_EVERY_MS = 5;
const TIMEOUT_MS = 60_000;

/** What one request did. Milliseconds and bytes. */
interface Measured {
  readonly name: string;
  readonly status: string;
  readonly took: number;
  readonly bytes: number;
  /** Longest stall of the event loop, without waiting for a processor. */
  readonly stall: number;
  /** Slowest answer to another client, who asks for `getMasterchainInfo` all the time. */
  readonly other: number;
}

/** Each of the largest requests alone, and the table of those that stall the event loop longest. */
export async function loadSingle(
  { program, rounds, rows }: SingleArguments,
  folder: string,
  write: (line: string) => void,
): Promise<boolean> {
  const closers: (() => unknown)[] = [];
  try {
    const network = await HostileNetwork.start(join(folder, 'network'), SENDERS, BLOCK_TIME_MS);
    closers.push(() => network.close());
    const database = await testDatabase('empty');
    closers.push(() => stopTestServer());
    const options = { config: network.config, databaseUrl: database.url, data: join(folder, 'tern'), program };
    const tern = await MeasuredTern.start({ ...options, freeKeys: 0 });
    closers.push(() => tern.close());
    await tern.indexed(await network.headSeqno());
    const measured = new Map<string, Measured[]>();
    for (let round = 0; round < rounds; round++) {
      for (const single of singleRequests(network.facts)) {
        measured.set(single.name, [...(measured.get(single.name) ?? []), await measure(tern, single)]);
        if (tern.crash !== null) break;
      }
    }
    const worst = [...measured.values()]
      .map(median)
      .toSorted((a, b) => b.stall - a.stall)
      .slice(0, rows);
    const text = table(
      ['request', 'answer', 'MB', 'took', 'stall', 'other client'],
      worst.map(({ name, status, took, bytes, stall, other }) => [
        name,
        status,
        (bytes / 1e6).toFixed(1),
        `${took.toFixed(0)} ms`,
        `${stall.toFixed(0)} ms`,
        `${other.toFixed(0)} ms`,
      ]),
    );
    for (const line of text) write(line);
    if (tern.crash !== null) write(tern.crash);
    return tern.crash === null;
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** The round with the median stall: the first one compiles and fills caches. */
function median(rounds: readonly Measured[]): Measured {
  return rounds.toSorted((a, b) => a.stall - b.stall)[Math.floor(rounds.length / 2)]!;
}

async function measure(tern: MeasuredTern, { name, call, headers = {} }: SingleRequest): Promise<Measured> {
  const asking = new AbortController();
  let other = 0;
  const others = (async () => {
    const agent = new Agent({ keepAlive: true });
    while (!asking.signal.aborted) {
      const began = performance.now();
      await ask(tern, agent, { path: '/api/v2/getMasterchainInfo' }, {});
      other = Math.max(other, performance.now() - began);
      await delay(ASK_EVERY_MS);
    }
    agent.destroy();
  })();
  await delay(PAUSE_MS);
  other = 0;
  const began = Date.now();
  const agent = new Agent();
  const { status, bytes } = await ask(tern, agent, call, headers);
  const took = Date.now() - began;
  agent.destroy();
  asking.abort();
  await others;
  await delay(PAUSE_MS);
  const { stalls } = summary(readingsBetween(tern.readings(), began, Date.now()));
  return { name, status, took, bytes, stall: stalls.longestOwn, other };
}

function ask(
  tern: MeasuredTern,
  agent: Agent,
  { path, body }: SingleRequest['call'],
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: string; readonly bytes: number }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(tern.url);
    const all: Record<string, string | number> = { 'x-api-key': tern.keys.unlimited, ...headers };
    if (body !== undefined) {
      all['content-type'] ??= 'application/json';
      all['content-length'] = Buffer.byteLength(body);
    }
    const options = { agent, host: hostname, port, path, headers: all, timeout: TIMEOUT_MS };
    const sent = request({ ...options, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      let bytes = 0;
      answer.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      answer.on('close', () => resolve({ status: String(answer.statusCode), bytes }));
      answer.on('error', () => {});
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message, bytes: 0 }));
    sent.end(body);
  });
}
