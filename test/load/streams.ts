import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { walletContract } from '#localnet/wallets/wallet-contract.js';
import { ServedTern } from '#test/support/served-tern.js';
import { percentile } from '../../bench/latency.js';
import { fundHighloadSenders, sendBoc } from './highload-senders.js';

/** The settings of the campaign of streams. */
export interface StreamsGround {
  /** A folder for what Tern keeps. */
  readonly data: string;
  readonly seconds: number;
  /** Transactions a second. */
  readonly rate: number;
  /** Clients, half of them over WebSocket, half over SSE. */
  readonly connections: number;
  /** Clients that are cut off at random and resume. */
  readonly resumes: number;
  /** How often a process is killed and started again. */
  readonly kills: number;
  /** Whether every other client reads from a second process, which only reads the index that the first one writes. */
  readonly isApart: boolean;
  readonly write: (line: string) => void;
}

const RECEIVERS = 200;
const SENDERS = 8;
const PER_TRANSFER = 2;
const BLOCK_TIME_MS = 400;
const POLL_MS = 20;
const SAMPLE_MS = 5_000;
/** How long the last events may take. */
const SETTLE_MS = 60_000;
const RECONNECT_MS = 200;
const MOST_P99_MS = 200;
const GROWTH = 0.15;
/** Clients with a gap or a double that are described. */
const MOST_REPORTED = 5;

/** A client that follows one account, and resumes from its last cursor whenever it is cut off. */
class StreamClient {
  readonly account: string;
  readonly #isSse: boolean;
  readonly #url: string;
  readonly #onEvent: (seqno: number) => void;
  readonly hashes: string[] = [];
  doubles = 0;
  resumes = 0;
  /** Why the last subscription was refused; null: none was. */
  refusal: string | null = null;
  readonly #seen = new Set<string>();
  #cursor: string | null = null;
  #close: () => void = () => {};
  #isEnded = false;
  isOpen = false;

  constructor(account: string, isSse: boolean, url: string, onEvent: (seqno: number) => void) {
    this.account = account;
    this.#isSse = isSse;
    this.#url = url;
    this.#onEvent = onEvent;
  }

  open(): void {
    if (this.#isEnded) return;
    const again = () => {
      this.isOpen = false;
      if (!this.#isEnded) setTimeout(() => this.open(), RECONNECT_MS * (1 + Math.random()));
    };
    if (this.#isSse) this.#openSse(again);
    else this.#openWs(again);
  }

  cut(): void {
    this.resumes++;
    this.#close();
  }

  end(): void {
    this.#isEnded = true;
    this.#close();
  }

  #subscription(): Record<string, unknown> {
    return { types: ['transactions'], addresses: [this.account] };
  }

  #openWs(again: () => void): void {
    const socket = new WebSocket(`${this.#url.replace('http', 'ws')}/api/streaming/v2/ws`);
    this.#close = () => socket.terminate();
    const resume = { resume_from: this.#cursor ?? 'now' };
    socket.on('open', () =>
      socket.send(JSON.stringify({ operation: 'subscribe', ...this.#subscription(), ...resume })),
    );
    socket.on('message', (data) => this.#take(data.toString()));
    socket.on('error', () => {});
    socket.on('close', again);
  }

  #openSse(again: () => void): void {
    const headers = {
      'content-type': 'application/json',
      ...(this.#cursor === null ? {} : { 'last-event-id': this.#cursor }),
    };
    const sent = request(`${this.#url}/api/streaming/v2/sse`, { method: 'POST', headers, agent: false }, (response) => {
      let rest = '';
      response.on('data', (part: Buffer) => {
        rest += part.toString();
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const data = /^data: (.*)$/m.exec(rest.slice(0, end))?.[1];
          // The id of the first frame is where the stream begins.
          const id = /^id: (.*)$/m.exec(rest.slice(0, end))?.[1];
          if (id !== undefined && data?.includes('"status"') === true) this.#cursor = id;
          rest = rest.slice(end + 2);
          if (data !== undefined) this.#take(data);
        }
      });
      response.on('error', () => {});
      response.on('close', again);
    });
    this.#close = () => sent.destroy();
    sent.on('error', () => {
      if (!this.isOpen) again();
    });
    sent.end(JSON.stringify(this.#subscription()));
  }

  #take(json: string): void {
    const event = JSON.parse(json);
    if (event.status !== undefined) this.isOpen = true;
    if (event.error !== undefined) {
      this.refusal = event.error;
      this.#close();
    }
    if (event.cursor !== undefined) this.#cursor = event.cursor;
    if (event.type !== 'transactions') return;
    for (const { hash, mc_block_seqno: seqno } of event.transactions) {
      if (this.#seen.has(hash)) this.doubles++;
      this.#seen.add(hash);
      this.hashes.push(hash);
      this.#onEvent(seqno);
    }
  }
}

/** Streams under load: each client gets exactly the transactions of its account that the index has, in time, and memory is flat. */
export async function loadStreams(ground: StreamsGround): Promise<boolean> {
  const { seconds, rate, connections, resumes, kills, write } = ground;
  const servers = await startServers(ground);
  const [first] = servers as [Server];
  const { url } = first;
  const latencies: number[] = [];
  const made = new Map<number, number>();
  const indexed = new Map<number, number>();
  let isCalm = true;
  const onEvent = (seqno: number) => {
    const at = made.get(seqno);
    if (at !== undefined && isCalm) latencies.push(performance.now() - at);
  };
  const receivers = Array.from(
    { length: RECEIVERS },
    (_, number) => walletContract({ version: 'v3r2', publicKey: new Uint8Array(32).fill(number) }).address,
  );
  const clients = Array.from({ length: connections }, (_, number) => {
    const account = receivers[number % RECEIVERS]!.toRaw().toUpperCase();
    // Each account has clients of both kinds, of both processes.
    const place = Math.floor(number / RECEIVERS);
    const server = servers[Math.floor(place / 2) % servers.length]!;
    return new StreamClient(account, place % 2 === 1, server.url, onEvent);
  });
  try {
    const senders = await fundHighloadSenders(url, SENDERS);
    for (const client of clients) {
      client.open();
      if (Math.random() < 0.05) await delay(10);
    }
    if (!(await until(() => clients.every(({ isOpen }) => isOpen), SETTLE_MS))) {
      const refused = clients.find(({ refusal }) => refusal !== null);
      throw new Error(`not all clients could subscribe: ${refused?.refusal ?? 'no answer came'}`);
    }
    write(`${clients.length} clients are connected; ${mib(await first.tern.residentBytes())} MiB`);
    const began = performance.now();
    const end = began + seconds * 1000;
    const cpuBefore = await first.tern.cpuMs();
    const memory: number[] = [];
    let sent = 0;
    const sending = async () => {
      for (let number = 0; performance.now() < end; number++) {
        const due = began + (number * 1000 * PER_TRANSFER) / rate;
        if (due > performance.now()) await delay(due - performance.now());
        const boc = senders[number % SENDERS]!.transfer({
          to: receivers[number % RECEIVERS]!,
          value: 10_000_000n,
          bounce: false,
        });
        void sendBoc(url, boc).then(
          ({ accepted }) => {
            if (accepted) sent++;
          },
          () => {},
        );
      }
    };
    const watching = async (head: (url: string) => Promise<number>, seen: Map<number, number>) => {
      while (performance.now() < end) {
        const seqno = await head(url).catch(() => null);
        if (seqno !== null && !seen.has(seqno)) seen.set(seqno, performance.now());
        await delay(POLL_MS);
      }
    };
    const sampling = async () => {
      while (performance.now() < end) {
        await delay(SAMPLE_MS);
        memory.push(await first.tern.residentBytes().catch(() => 0));
      }
    };
    const cutting = async () => {
      for (let i = 0; i < resumes; i++) {
        await delay((seconds * 900) / resumes);
        clients[Math.floor(Math.random() * clients.length)]!.cut();
      }
    };
    const killing = async () => {
      for (let i = 0; i < kills; i++) {
        await delay((seconds * 800) / kills);
        isCalm = false;
        // One after the other, and every other time without a chance to close anything.
        const server = servers[Math.floor(i / 2) % servers.length]!;
        if (i % 2 === 0) await server.tern.close();
        else server.tern.send('SIGKILL');
        await server.tern.ended;
        server.tern = await server.start();
      }
    };
    await Promise.all([
      ...[sending(), watching(headOf, made), watching(indexedHeadOf, indexed)],
      ...[sampling(), cutting(), killing()],
    ]);
    const expected = new Map<string, readonly string[]>();
    const isWhole = async () => {
      for (const each of receivers) {
        const account = each.toRaw().toUpperCase();
        const hashes = await hashesOf(url, account);
        if (hashes === null) return false;
        expected.set(account, hashes);
      }
      // Messages that still wait are processed meanwhile: then the next look is at all accounts again.
      return clients.every(({ account, hashes }) => hashes.length === expected.get(account)!.length);
    };
    await until(isWhole, SETTLE_MS);
    let wrong = 0;
    let doubles = 0;
    let events = 0;
    for (const { account, hashes, doubles: own } of clients) {
      const wanted = expected.get(account) ?? [];
      doubles += own;
      events += hashes.length;
      if (own === 0 && [...hashes].sort().join() === [...wanted].sort().join()) continue;
      wrong++;
      const missing = wanted.filter((hash) => !hashes.includes(hash));
      const foreign = hashes.filter((hash) => !wanted.includes(hash));
      if (wrong <= MOST_REPORTED)
        write(
          `${account}: ${hashes.length} of ${wanted.length}; not sent: ${missing.slice(0, 3).join(' ')}; not in the index: ${foreign.slice(0, 3).join(' ')}`,
        );
    }
    const took = (performance.now() - began) / 1000;
    const cpuMs = (await first.tern.cpuMs()) - (kills > 0 ? 0 : cpuBefore);
    const settled = memory.filter((each) => each > 0).slice(Math.floor(memory.length / 3));
    const growth = Math.max(...settled.slice(-3)) / Math.max(...settled.slice(0, 3)) - 1;
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
    write(
      `${took.toFixed(0)} s: ${sent} transfers, ${events} transactions delivered, ${(cpuMs / 1000).toFixed(1)} s of CPU time in all`,
    );
    write(
      `block to event: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, most ${percentile(latencies, 1).toFixed(0)} ms`,
    );
    const toIndex = [...indexed].flatMap(([seqno, at]) => (made.has(seqno) ? [at - made.get(seqno)!] : []));
    write(
      `of it until the index has the block: p50 ${percentile(toIndex, 0.5).toFixed(0)} ms, p99 ${percentile(toIndex, 0.99).toFixed(0)} ms`,
    );
    write(`${resumes} resumes, ${kills} kills; clients with a gap or a double: ${wrong}, doubles: ${doubles}`);
    write(`memory: ${mib(settled[0] ?? 0)} MiB after a third, ${mib(settled.at(-1) ?? 0)} MiB at the end`);
    return wrong === 0 && (kills > 0 || (p99 <= MOST_P99_MS && growth <= GROWTH));
  } finally {
    for (const client of clients) client.end();
    for (const { tern, closed } of servers.reverse()) {
      await tern.close();
      await closed?.();
    }
  }
}

/** A process that is started again at the same address. */
interface Server {
  readonly url: string;
  tern: ServedTern;
  readonly start: () => Promise<ServedTern>;
  /** Closes what it needs. */
  readonly closed?: () => Promise<void>;
}

/** A local network with its index; beside it, if that is wanted, a process that reads the index. */
async function startServers({ data, connections, isApart }: StreamsGround): Promise<Server[]> {
  const most = String(connections * 2 + 64);
  const limits = ['--max-streams-per-client', most, '--max-connections-per-address', most];
  const chain = ['--block-time', String(BLOCK_TIME_MS), '--mining', 'steady'];
  const dev = ['dev', '--data', data, ...chain, ...limits];
  if (!isApart) return [await startServer((port) => [...dev, '--port', String(port)])];
  const database = await startEmbeddedServer({ folder: `${data}-database`, sync: false }, { clock: systemClock });
  const index = ['--database-url', database.url];
  const writer = await startServer((port) => [...dev, ...index, '--port', String(port)]);
  const network = ['--network', `tern-dev=${join(data, 'localnet', 'global.config.json')}`];
  const reader = await startServer((port) => [
    ...['serve', '--role', 'api', '--data', `${data}-api`, '--listen', `127.0.0.1:${port}`],
    ...[...network, ...index, ...limits],
  ]);
  return [{ ...writer, closed: () => database.close() }, reader];
}

async function startServer(args: (port: number) => readonly string[]): Promise<Server> {
  const tern = await ServedTern.start(args(0));
  const port = Number(new URL(tern.url).port);
  return { url: tern.url, tern, start: () => ServedTern.start(args(port)) };
}

async function until(isSo: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await delay(200)) if (await isSo()) return true;
  return false;
}

async function headOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/localnet/status`);
  return ((await answer.json()) as { head: { seqno: number } }).head.seqno;
}

async function indexedHeadOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/api/v3/masterchainInfo`);
  return ((await answer.json()) as { last: { seqno: number } }).last.seqno;
}

/** Hashes of the first 1,000 transactions of an account in the index, by lt; null: it could not be read. */
export async function hashesOf(url: string, account: string): Promise<readonly string[] | null> {
  const answer = await fetch(`${url}/api/v3/transactions?account=${account}&limit=1000&sort=asc`).catch(() => null);
  if (answer?.ok !== true) return null;
  return ((await answer.json()) as { transactions: { hash: string }[] }).transactions.map(({ hash }) => hash);
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
