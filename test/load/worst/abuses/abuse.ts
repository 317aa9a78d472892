import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { HttpCall } from '../../../../bench/v2/keep-alive-client.js';
import type { NetworkFacts } from '../hostile-network.js';

/** Something that a hostile visitor does for as long as it is let. */
export interface Abuse {
  /** As in `--only`. */
  readonly name: string;
  /** What it does, for the table. */
  readonly what: string;
  run(attack: Attack): Promise<void>;
}

/** What came of an abuse. */
export interface AbuseTally {
  requests: number;
  /** Answers by status; failures by their code. */
  readonly statuses: Record<string, number>;
  /** Bytes that were received. */
  bytes: number;
  /** Milliseconds until the slowest answer. */
  slowest: number;
  /** One of the requests, shortened. */
  example: string;
  /** The first answer other than 200, 429 and 503, shortened: to see that the abuse is what it is meant to be. */
  refusal: string;
}

/** A request; a body that is sent often is one buffer, so that this process does not copy it each time. */
type HostileCall = Pick<HttpCall, 'path'> & { readonly body?: string | Buffer | undefined };

/** How something is asked. */
export interface Asking {
  readonly from: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long a request of an attacker is waited for. */
const TIMEOUT_MS = 60_000;
/** Requests of one abuse that may be open at once, so that the attack does not end with the memory of the attacker. */
const MOST_OPEN = 200;
/** Requests of one abuse that are begun at once when this process is late. */
const AT_ONCE = 8;
const REFUSAL_LENGTH = 160;
/** All of 127.0.0.0/8 is this machine. */
const FIRST_NETWORK = 10;
const ADDRESSES = 250;

/** An abuse while it runs. */
export class Attack {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Keys of plan free, for this abuse alone. */
  readonly keys: readonly string[];
  readonly facts: NetworkFacts;
  readonly tally: AbuseTally = { requests: 0, statuses: {}, bytes: 0, slowest: 0, example: '', refusal: '' };
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4 });
  readonly #sockets = new Set<Socket>();
  /** End open requests. An abort signal looks through all its listeners for each one that comes or goes. */
  readonly #stops = new Set<() => void>();
  /** Second byte of its addresses: they are of no other abuse. */
  readonly #network: number;

  constructor(options: {
    readonly url: string;
    readonly keys: readonly string[];
    readonly facts: NetworkFacts;
    readonly signal: AbortSignal;
    /** 0 to 200: another one for each abuse. */
    readonly network: number;
  }) {
    this.url = options.url;
    const { hostname, port } = new URL(options.url);
    this.host = hostname;
    this.port = Number(port);
    this.keys = options.keys;
    this.facts = options.facts;
    this.signal = options.signal;
    this.#network = FIRST_NETWORK + options.network;
    options.signal.addEventListener('abort', () => {
      for (const stop of [...this.#stops]) stop();
    });
  }

  /** An address of the loopback network, as that of another client. */
  address(number: number): string {
    return `127.${this.#network}.0.${1 + (number % ADDRESSES)}`;
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** Resolves at the end of the pause or of the attack. */
  async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.signal }).catch(() => {});
  }

  /** Asks so often each second, whether or not there were answers. */
  async atRate(perSecond: number, ask: (number: number) => Promise<void>): Promise<void> {
    const began = performance.now();
    let open = 0;
    for (let number = 0; !this.isOver; number++) {
      const wait = began + (number * 1000) / perSecond - performance.now();
      if (wait > 0) await this.pause(wait);
      // Node runs timers as long as any are due, and reads nothing meanwhile: late ones must not ask all at once.
      if (wait > 0 || number % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      if (this.isOver) {
        const late = Math.floor(((performance.now() - began) * perSecond) / 1000) - number;
        if (late > 0) this.tally.statuses['not sent: late'] = late;
        return;
      }
      if (open >= MOST_OPEN) {
        this.count('not sent: too many are unanswered');
        continue;
      }
      open++;
      void ask(number).finally(() => open--);
    }
  }

  /** Sends a request and reads the answer, of which only the size is kept. */
  ask({ path, body }: HostileCall, { from, key = null, headers = {} }: Asking): Promise<void> {
    const { tally } = this;
    tally.requests++;
    if (tally.example === '') tally.example = `${body === undefined ? 'GET' : 'POST'} ${path}`.slice(0, 120);
    return new Promise((resolve) => {
      const began = performance.now();
      const all: Record<string, string | number> = { ...headers };
      if (key !== null) all['x-api-key'] = key;
      if (body !== undefined) {
        all['content-type'] ??= 'application/json';
        all['content-length'] = Buffer.byteLength(body);
      }
      const method = body === undefined ? 'GET' : 'POST';
      const route = { agent: this.#agent, host: this.host, port: this.port, localAddress: from };
      const sent = request({ ...route, method, path, headers: all, timeout: TIMEOUT_MS }, (answer) => {
        let start = '';
        answer.on('data', (part: Buffer) => {
          tally.bytes += part.length;
          if (start.length < REFUSAL_LENGTH) start += part.toString('latin1', 0, REFUSAL_LENGTH);
        });
        answer.on('error', () => {});
        answer.on('close', () => {
          this.#answered(answer.statusCode!, start, began);
          resolve();
        });
      });
      const stop = (): void => void sent.destroy();
      this.#stops.add(stop);
      sent.on('timeout', () => sent.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (!this.isOver) this.count(error.code ?? error.message);
        resolve();
      });
      sent.on('close', () => this.#stops.delete(stop));
      sent.end(body);
    });
  }

  /** A bare connection; what comes is counted, and the first status line of it. */
  socket(from: string, { allowHalfOpen = false, reads = true } = {}): Socket {
    const { tally } = this;
    tally.requests++;
    const socket = connect({ host: this.host, port: this.port, localAddress: from, allowHalfOpen });
    this.#sockets.add(socket);
    const began = performance.now();
    let isNew = true;
    if (reads) {
      socket.on('data', (part: Buffer) => {
        tally.bytes += part.length;
        if (!isNew) return;
        isNew = false;
        this.#answered(Number(part.toString('latin1', 9, 12)), part.toString('latin1', 0, 400), began);
      });
    }
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!this.isOver) this.count(error.code ?? error.message);
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (!this.isOver) this.count('closed');
    });
    return socket;
  }

  /** A WebSocket; messages are counted as answers, and the code that it is closed with. */
  webSocket(path: string, from: string): WebSocket {
    const { tally } = this;
    tally.requests++;
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}${path}`, { localAddress: from });
    const began = performance.now();
    socket.once('open', () => this.#answered(101, '', began));
    socket.on('message', (data: Buffer) => {
      tally.bytes += data.length;
      this.count(data.toString('latin1', 0, 9) === '{"error":' ? 'refused' : 'messages');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!this.isOver) this.count(error.code ?? error.message);
    });
    socket.on('close', (code) => {
      if (!this.isOver) this.count(`closed with ${code}`);
    });
    return socket;
  }

  /** Keeps so many connections, spread over so many addresses; those that were closed are opened again. */
  async keepSockets(
    { sockets, addresses }: { readonly sockets: number; readonly addresses: number },
    open: (from: string, number: number) => Socket,
  ): Promise<void> {
    for (let number = 0; !this.isOver; ) {
      // No more than a hundred new ones a second.
      for (let i = 0; i < 5 && this.#sockets.size < sockets; i++) {
        open(this.address(number % addresses), number);
        number++;
      }
      await this.pause(50);
    }
  }

  count(name: string | number): void {
    this.tally.statuses[name] = (this.tally.statuses[name] ?? 0) + 1;
  }

  close(): void {
    this.count(`open at the end: ${this.#sockets.size}`);
    if (this.#sockets.size === 0) delete this.tally.statuses['open at the end: 0'];
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #answered(status: number, start: string, began: number): void {
    if (this.isOver) return;
    const { tally } = this;
    this.count(status);
    tally.slowest = Math.max(tally.slowest, performance.now() - began);
    if (![200, 429, 503].includes(status) && tally.refusal === '') tally.refusal = start.slice(-REFUSAL_LENGTH);
  }
}
