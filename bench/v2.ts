import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReplayProcess } from '../test/support/replay-process.js';
import { ServedTern } from '../test/support/served-tern.js';
import { BUILT_TERN } from '../test/support/tern-process.js';
import { vectorPath } from '../test/support/vector-files.js';
import type { LatencyCase } from './latency.js';
import type { BenchSuite } from './suite.js';
import { type HttpCall, KeepAliveClient } from './v2/keep-alive-client.js';
import { PacedReplay } from './v2/paced-replay.js';
import { movingRequests, v2Requests } from './v2/requests.js';

const CONNECTIONS = [1, 16, 100] as const;

/**
 * CPU of the reference service (ton-http-api 2.0.68, one worker, no cache) for each request on such a machine, in
 * milliseconds, at 1, 16 and 100 connections.
 */
const REFERENCE_CPU: Readonly<Record<string, Readonly<Record<(typeof CONNECTIONS)[number], number>>>> = {
  getMasterchainInfo: { 1: 2.36, 16: 2.46, 100: 2.61 },
  getAddressInformation: { 1: 4.33, 16: 3.09, 100: 3.63 },
  'getTransactions(10)': { 1: 8.64, 16: 7.15, 100: 7.03 },
  'runGetMethod(seqno)': { 1: 7.23, 16: 4.12, 100: 3.71 },
  getBlockTransactionsExt: { 1: 13.86, 16: 10.34, 100: 10.48 },
};
/** What part of it Tern may take. */
const SHARE = 1 / 10;
const SHARE_OF_GET_METHODS = 1 / 3;
/** Of an answer that is kept. */
const CACHED_CPU_TARGET = 0.1;

/** More waiting requests of one client are refused. */
const CONNECTIONS_OF_CLIENT = 10;
/** A service has run for longer than the first measurement of it waits: code is compiled, accounts are known. */
const FILL = { connections: 8, ms: 6_000 } as const;
/** Each block from there on has transactions of about 2 % of the accounts that are read. */
const MOVING = { name: 'moving chain', from: 450, blocksPerSecond: 2 } as const;

/** A Tern that serves, and what ends it. */
interface Served {
  readonly tern: ServedTern;
  readonly clients: KeepAliveClient[];
}

interface Mode {
  readonly name: string;
  readonly flags: readonly string[];
  readonly config: string;
  /** By method. */
  readonly requests: Readonly<Record<string, readonly HttpCall[]>>;
  /** CPU time of a request, in milliseconds. */
  target(method: string, inFlight: (typeof CONNECTIONS)[number]): number;
  /** Called before the first request of a method. */
  prepare?(url: string, calls: readonly HttpCall[]): Promise<void>;
}

let replay: ReplayProcess | null = null;
let paced: PacedReplay | null = null;
let scratch: string | null = null;
const served: Served[] = [];

export const suite: BenchSuite = {
  name: 'v2',
  cases: () => [],
  async latencies() {
    const folder = vectorPath('collection/recorded-net/chain');
    scratch = mkdtempSync(join(tmpdir(), 'tern-bench-'));
    const config = join(scratch, 'global.config.json');
    replay = await ReplayProcess.start(folder, config);
    paced = await PacedReplay.start(folder, MOVING.from, MOVING.blocksPerSecond);
    const standing = v2Requests(folder);
    const moving = movingRequests(folder, MOVING.from);
    const cases: LatencyCase[] = [];
    const modes: readonly Mode[] = [
      {
        name: 'uncached',
        flags: ['--cache-mb', '0', '--node-cache-mb', '0'],
        ...{ config, requests: standing },
        target: (method, inFlight) =>
          REFERENCE_CPU[method]![inFlight] * (method.startsWith('runGetMethod') ? SHARE_OF_GET_METHODS : SHARE),
      },
      { name: 'as in production', flags: [], config, requests: standing, target: () => CACHED_CPU_TARGET },
      {
        name: MOVING.name,
        flags: [],
        ...{ config: paced.config, requests: moving },
        target: (method, inFlight) => REFERENCE_CPU[method]![inFlight] * SHARE,
        prepare: async (url, calls) => {
          paced!.move();
          const client = new KeepAliveClient(url, FILL.connections);
          await Promise.all(Array.from({ length: FILL.connections }, () => fill(client, calls)));
          client.close();
        },
      },
    ];
    for (const mode of modes) {
      const data = join(scratch, mode.name);
      const tern = await ServedTern.start(
        ['serve', '--network', mode.config, '--listen', '127.0.0.1:0', '--data', data, ...mode.flags],
        BUILT_TERN,
      );
      const one: Served = { tern, clients: [] };
      served.push(one);
      for (const [method, calls] of Object.entries(mode.requests)) {
        let prepared: Promise<void> | undefined;
        const prepare = (): Promise<void> | undefined => {
          prepared ??= mode.prepare?.(tern.url, calls);
          return prepared;
        };
        for (const inFlight of CONNECTIONS) {
          const addresses = Math.ceil(inFlight / CONNECTIONS_OF_CLIENT);
          const client = new KeepAliveClient(tern.url, inFlight, {}, addresses);
          one.clients.push(client);
          cases.push({
            name: `${method}, ${mode.name}`,
            unit: 'requests',
            inFlight,
            call: inTurn(calls, async (call) => {
              await prepare();
              return rightAnswer(client, call);
            }),
            cpuMs: () => tern.cpuMs(),
            cpuTarget: round(mode.target(method, inFlight)),
          });
        }
      }
    }
    return cases;
  },
  async close() {
    for (const { tern, clients } of served) {
      for (const client of clients) client.close();
      await tern.close();
    }
    await replay?.close();
    await paced?.close();
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true });
  },
};

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** Cycles through the calls, one at a time. */
function inTurn(calls: readonly HttpCall[], ask: (call: HttpCall) => Promise<unknown>): () => Promise<unknown> {
  let next = 0;
  return () => ask(calls[next++ % calls.length]!);
}

async function fill(client: KeepAliveClient, calls: readonly HttpCall[]): Promise<void> {
  const ends = performance.now() + FILL.ms;
  for (let i = Math.floor(Math.random() * calls.length); performance.now() < ends; i++) {
    await rightAnswer(client, calls[i % calls.length]!);
  }
}

/** @throws when the status is not 200: what is measured must be the work itself */
async function rightAnswer(client: KeepAliveClient, call: HttpCall): Promise<string> {
  const { status, text } = await client.ask(call);
  if (status !== 200) throw new Error(`${call.path}: ${status} ${text.slice(0, 300)}`);
  return text;
}
