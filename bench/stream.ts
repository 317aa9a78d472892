import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { walletContract } from '../src/localnet/wallets/wallet-contract.js';
import { fundHighloadSenders, type HighloadSender, sendBoc } from '../test/load/highload-senders.js';
import { ServedTern } from '../test/support/served-tern.js';
import { percentile } from './latency.js';
import type { ReportTable } from './report.js';
import type { BenchSuite } from './suite.js';

/** Clients that get each event; none: what the transfers cost without streams. */
const SUBSCRIBERS = [1, 100, 1_000] as const;
/** Connections that are opened to see what each takes. */
const CONNECTIONS = 1_000;
const SENDERS = 4;
/** Transfers a second, each of which is one event. */
const RATE = 20;
/** Seconds of each measurement; another number by this variable. */
const SECONDS_VARIABLE = 'TERN_BENCH_SECONDS';
const SECONDS = '10';
/** Windows before the one that says what transfers take. */
const WARM_UPS = 3;
/** How long transfers of one window may take to be final before the next one begins. */
const BETWEEN_MS = 2_000;
/** How long events of the last transfers may take. */
const SETTLE_MS = 10_000;
const OPEN_AT_ONCE = 50;
const GIB = 2 ** 30;

type Transport = 'WebSocket' | 'SSE';
const TRANSPORTS: readonly Transport[] = ['WebSocket', 'SSE'];

/** What all clients wait for: one account that gets all transfers. */
const receiver = walletContract({ version: 'v3r2', publicKey: new Uint8Array(32).fill(9) }).address;
const SUBSCRIPTION = { types: ['transactions'], addresses: [receiver.toRaw()] };

/** A client that counts its events and looks into none. */
interface CountingClient {
  close(): void;
}

function openWebSocket(url: string, onEvent: () => void): Promise<CountingClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/streaming/v2/ws`);
  return new Promise((resolve, reject) => {
    let isOpen = false;
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ operation: 'subscribe', ...SUBSCRIPTION })));
    socket.on('message', (data: Buffer) => {
      if (isOpen) return onEvent();
      isOpen = true;
      if (data.includes('"subscribed"')) resolve({ close: () => socket.terminate() });
      else reject(new Error(`refused: ${data}`));
    });
  });
}

function openSse(url: string, onEvent: () => void): Promise<CountingClient> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(`${url}/api/streaming/v2/sse`, { method: 'POST', headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`refused: ${response.statusCode}`));
      response.on('error', () => {});
      let isOpen = false;
      response.on('data', (part: Buffer) => {
        if (!isOpen) resolve({ close: () => sent.destroy() });
        isOpen = true;
        for (let at = part.indexOf('event: event\n'); at >= 0; at = part.indexOf('event: event\n', at + 1)) onEvent();
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(SUBSCRIPTION));
  });
}

/** Opens clients that all wait for the same account. */
async function openClients(
  url: string,
  transport: Transport,
  count: number,
  onEvent: () => void,
): Promise<readonly CountingClient[]> {
  const open = transport === 'SSE' ? openSse : openWebSocket;
  const clients: CountingClient[] = [];
  while (clients.length < count) {
    const some = Math.min(OPEN_AT_ONCE, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: some }, () => open(url, onEvent)))));
  }
  return clients;
}

/** What a server took for the transfers of some seconds. */
interface Window {
  readonly seconds: number;
  readonly transfers: number;
  readonly delivered: number;
  readonly cpuMs: number;
  /** From the answer to a transfer to its event at a client, the first one; milliseconds. */
  readonly delays: readonly number[];
}

/** Sends transfers for some seconds and counts the events. */
async function measureWindow(
  tern: ServedTern,
  senders: readonly HighloadSender[],
  transport: Transport,
  subscribers: number,
): Promise<Window> {
  const seconds = Number(process.env[SECONDS_VARIABLE] ?? SECONDS);
  let delivered = 0;
  const delays: number[] = [];
  const sentAt: number[] = [];
  const clients = await openClients(tern.url, transport, subscribers, () => {
    // One client after the other gets an event: the first delivery of each counts.
    if (delivered % subscribers === 0) delays.push(performance.now() - (sentAt[delays.length] ?? Number.NaN));
    delivered++;
  });
  try {
    const cpuBefore = await tern.cpuMs();
    const began = performance.now();
    let transfers = 0;
    for (let number = 0; number < seconds * RATE; number++) {
      const due = began + (number * 1000) / RATE;
      if (due > performance.now()) await delay(due - performance.now());
      const sender = senders[number % senders.length]!;
      const boc = sender.transfer({ to: receiver, value: 1_000_000n, bounce: false });
      sentAt.push(performance.now());
      const { accepted } = await sendBoc(tern.url, boc);
      if (accepted) transfers++;
      else sentAt.pop();
    }
    const until = performance.now() + SETTLE_MS;
    while (delivered < transfers * subscribers && performance.now() < until) await delay(20);
    const took = (performance.now() - began) / 1000;
    return { seconds: took, transfers, delivered, cpuMs: (await tern.cpuMs()) - cpuBefore, delays };
  } finally {
    for (const client of clients) client.close();
    await delay(BETWEEN_MS);
  }
}

/** Events of one account to all clients, and the CPU time of the server besides that of the transfers. */
async function measureEvents(tern: ServedTern, senders: readonly HighloadSender[]): Promise<ReportTable> {
  process.stderr.write('bench: stream: transfers without clients …\n');
  // The first windows compile code: they would make transfers look dearer than events.
  const without: Window[] = [];
  for (let i = 0; i < WARM_UPS + 1; i++) without.push(await measureWindow(tern, senders, 'WebSocket', 0));
  const alone = without.at(-1)!;
  const perTransfer = alone.cpuMs / alone.transfers;
  const rows: string[][] = [];
  for (const transport of TRANSPORTS) {
    for (const subscribers of SUBSCRIBERS) {
      process.stderr.write(`bench: stream: ${subscribers} clients over ${transport} …\n`);
      const { seconds, transfers, delivered, cpuMs, delays } = await measureWindow(
        tern,
        senders,
        transport,
        subscribers,
      );
      const own = cpuMs - perTransfer * transfers;
      rows.push([
        transport,
        String(subscribers),
        `${delivered} of ${transfers * subscribers}`,
        (delivered / seconds).toFixed(0),
        `${(own / transfers).toFixed(2)} ms`,
        `${((own * 1000) / delivered).toFixed(1)} µs`,
        `${percentile(delays, 0.5).toFixed(0)} ms`,
        `${percentile(delays, 0.99).toFixed(0)} ms`,
      ]);
    }
  }
  return {
    title: `events of one account to all clients, ${RATE} a second (without clients a transfer takes ${perTransfer.toFixed(1)} ms of CPU time)`,
    head: ['over', 'clients', 'delivered', 'events/s', 'CPU per event', 'CPU per event and client', 'p50', 'p99'],
    rows,
  };
}

/** Memory of idle subscriptions. */
async function measureConnections(tern: ServedTern): Promise<ReportTable> {
  const rows: string[][] = [];
  for (const transport of TRANSPORTS) {
    process.stderr.write(`bench: stream: ${CONNECTIONS} idle clients over ${transport} …\n`);
    // The first ones fill what stays: buffers, compiled code.
    for (const client of await openClients(tern.url, transport, CONNECTIONS, () => {})) client.close();
    await delay(1_000);
    const before = await tern.residentBytes();
    const clients = await openClients(tern.url, transport, CONNECTIONS, () => {});
    await delay(1_000);
    const each = ((await tern.residentBytes()) - before) / CONNECTIONS;
    for (const client of clients) client.close();
    const perGib = each > 0 ? Math.round(GIB / each).toLocaleString('en-US') : 'more than can be measured';
    rows.push([transport, String(CONNECTIONS), `${(each / 1024).toFixed(1)} KiB`, perGib]);
  }
  return {
    title: 'idle subscriptions, resident memory of the server',
    head: ['over', 'clients', 'each', 'per GiB'],
    rows,
  };
}

export const suite: BenchSuite = {
  name: 'stream',
  cases: () => [],
  async tables() {
    const folder = mkdtempSync(join(tmpdir(), 'tern-bench-'));
    const most = String(CONNECTIONS * 3);
    const tern = await ServedTern.start([
      ...['dev', '--data', join(folder, 'data'), '--port', '0', '--block-time', '400', '--mining', 'steady'],
      ...['--max-streams-per-client', most, '--max-connections-per-address', most],
    ]);
    try {
      const connections = await measureConnections(tern);
      const senders = await fundHighloadSenders(tern.url, SENDERS);
      return [await measureEvents(tern, senders), connections];
    } finally {
      await tern.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
