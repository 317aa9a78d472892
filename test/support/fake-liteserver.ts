import { randomBytes } from 'node:crypto';
import { type AdnlServer, listenAdnl } from '#drivers/adnl/server.js';
import type { LiteServerAddress } from '#drivers/lite/global-config.js';
import { encodeBoxed, type TlConstructor, type TlFunction, type TlValue } from '#formats/tl/constructor.js';
import {
  LiteServerBlockHeader,
  LiteServerConfigInfo,
  LiteServerCurrentTime,
  LiteServerError,
  LiteServerGetConfigParams,
  LiteServerGetMasterchainInfo,
  LiteServerGetMasterchainInfoExt,
  LiteServerGetTime,
  LiteServerLookupBlock,
  LiteServerMasterchainInfo,
  LiteServerMasterchainInfoExt,
  type TonNodeBlockIdExt,
} from '#formats/tl/lite-api.js';
import { type DecodedLiteQuery, decodeLiteQuery } from '#formats/tl/lite-query.js';
import { type Clock, pause, systemClock } from '#kernel/clock.js';

const MASTERCHAIN_SHARD = -(2n ** 63n);

/** What a script gives: the bytes of an answer; or null for none, ever. */
export type Answer = Uint8Array | null;

/** Answers one function. */
export type Script = (args: never, query: DecodedLiteQuery) => Answer | Promise<Answer>;

/** The id of a made-up masterchain block: its hashes follow from its seqno. */
export function fakeBlockId(seqno: number): TonNodeBlockIdExt {
  const hash = (mark: number) => Uint8Array.from({ length: 32 }, (_, i) => (seqno >> ((i % 4) * 8)) ^ mark);
  return { workchain: -1, shard: MASTERCHAIN_SHARD, seqno, root_hash: hash(1), file_hash: hash(2) };
}

/** The header of such a block, as an answer. */
export function headerOf(seqno: number): Uint8Array {
  return encodeBoxed(LiteServerBlockHeader, { id: fakeBlockId(seqno), mode: 0, header_proof: new Uint8Array(0) });
}

/** `liteServer.error` as bytes. */
export function errorAnswer(code: number, message: string): Uint8Array {
  return encodeBoxed(LiteServerError, { code, message });
}

/**
 * A liteserver of which a test says how it behaves. It knows made-up masterchain blocks and states up to `seqno`, waits
 * as a real one does, and answers other functions as scripted.
 */
export class FakeLiteserver {
  readonly name: string;
  /** Newest block; see {@link FakeLiteserver.advance}. */
  seqno: number;
  oldestBlock = 1;
  oldestState = 1;
  /** Answers `getTime`; the time of its clock when null. */
  now: number | null = null;
  /** Each answer comes so much later: always the same, or drawn for each. */
  delayMs: number | (() => number) = 0;
  /** Takes queries and answers none. */
  isSilent = false;
  /** Claims so many blocks more than it has. */
  boast = 0;
  /** Has `getMasterchainInfoExt`. */
  hasExt = true;
  /** How often each function was asked. */
  readonly asked = new Map<string, number>();
  /** How often a wait was asked for. */
  waits = 0;
  readonly #clock: Clock;
  readonly #seed = randomBytes(32);
  readonly #scripts = new Map<string, Script>();
  readonly #waiting = new Set<() => void>();
  #server: AdnlServer | null = null;
  #port = 0;

  /** @param clock by which it waits and delays */
  constructor(name: string, { seqno = 100, clock = systemClock }: { seqno?: number; clock?: Clock } = {}) {
    this.name = name;
    this.seqno = seqno;
    this.#clock = clock;
  }

  get address(): LiteServerAddress {
    const publicKey = this.#server?.publicKey ?? new Uint8Array(32);
    const host = this.#server === null ? this.name : '127.0.0.1';
    return { host, port: this.#server === null ? 1 : this.#port, publicKey, slices: null };
  }

  /** The server's address as seen through a proxy. */
  through(proxy: { readonly host: string; readonly port: number }): LiteServerAddress {
    return { ...this.address, host: proxy.host, port: proxy.port };
  }

  /** What the pool calls it. */
  get peer(): string {
    const { host, port } = this.address;
    return `${host}:${port}`;
  }

  get connections(): number {
    return this.#server?.connections ?? 0;
  }

  /** Listens; on the same port again after {@link FakeLiteserver.stop}. */
  async start(): Promise<this> {
    this.#server = await listenAdnl(
      { seed: this.#seed, port: this.#port, closeGraceMs: 0 },
      { clock: systemClock, randomBytes, onQuery: (data) => this.handle(data) },
    );
    this.#port = this.#server.port;
    return this;
  }

  async stop(): Promise<void> {
    for (const wake of [...this.#waiting]) wake();
    await this.#server?.close();
  }

  /** Answers this function so from now on. */
  on<F extends TlFunction>(
    fn: F,
    script: (args: TlValue<F>, query: DecodedLiteQuery) => Answer | Promise<Answer>,
  ): this {
    this.#scripts.set(fn.name, script as Script);
    return this;
  }

  count(fn: { readonly name: string }): number {
    return this.asked.get(fn.name) ?? 0;
  }

  /** A new block. */
  advance(seqno = this.seqno + 1): void {
    this.seqno = seqno;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Answers a query, or never does. */
  async handle(data: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#answer(data);
    if (this.isSilent || answer === null) return new Promise(() => {});
    const delayMs = typeof this.delayMs === 'number' ? this.delayMs : this.delayMs();
    if (delayMs > 0) await pause(delayMs, this.#clock);
    return answer;
  }

  async #answer(data: Uint8Array): Promise<Answer> {
    const query = decodeLiteQuery(data);
    const { wait, call } = query;
    this.asked.set(call.name, this.count(call) + 1);
    if (wait !== null) {
      this.waits++;
      if (wait.seqno > this.seqno + 100) return errorAnswer(651, 'too big masterchain block seqno');
      if (!(await this.#wait(wait.seqno, wait.timeout_ms))) return errorAnswer(652, 'timeout');
    }
    const script = this.#scripts.get(call.name);
    if (script !== undefined) return script(call.value as never, query);
    return this.#builtIn(query);
  }

  #builtIn({ call }: DecodedLiteQuery): Uint8Array {
    const claimed = this.seqno + this.boast;
    const state_root_hash = new Uint8Array(32);
    const init = { workchain: -1, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };
    const now = this.now ?? Math.floor((this.#clock === systemClock ? Date.now() : this.#clock.now()) / 1000);
    if (call.name === LiteServerGetMasterchainInfo.name) {
      return encodeBoxed(LiteServerMasterchainInfo, { last: fakeBlockId(claimed), state_root_hash, init });
    }
    if (call.name === LiteServerGetMasterchainInfoExt.name && this.hasExt) {
      const last = fakeBlockId(claimed);
      const head = { mode: 0, version: 0x101, capabilities: 15n, last, last_utime: now, now, state_root_hash, init };
      return encodeBoxed(LiteServerMasterchainInfoExt, head);
    }
    if (call.name === LiteServerGetTime.name) return encodeBoxed(LiteServerCurrentTime, { now });
    if (call.name === LiteServerLookupBlock.name) {
      const { id } = call.value as TlValue<typeof LiteServerLookupBlock>;
      if (id.seqno > this.seqno) return errorAnswer(651, 'cannot find block: ltdb: block not found');
      if (id.seqno < this.oldestBlock) return errorAnswer(651, 'cannot find block: seqno not in db');
      return headerOf(id.seqno);
    }
    if (call.name === LiteServerGetConfigParams.name) {
      const { id } = call.value as TlValue<typeof LiteServerGetConfigParams>;
      if (id.seqno < this.oldestState || id.seqno > this.seqno) return errorAnswer(651, 'state not in db');
      const nothing = new Uint8Array(0);
      return encodeBoxed(LiteServerConfigInfo, { mode: 0, id, state_proof: nothing, config_proof: nothing });
    }
    return errorAnswer(0, `Unknown constructor found ${call.name} at 0`);
  }

  #wait(seqno: number, timeoutMs: number): Promise<boolean> {
    if (this.seqno >= seqno) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#waiting.delete(wake);
        resolve(this.seqno >= seqno);
      };
      const wake = () => {
        if (this.seqno >= seqno) end();
      };
      const cancel = this.#clock.schedule(Math.min(timeoutMs, 10_000), end);
      this.#waiting.add(wake);
    });
  }
}

/** The constructor of a function's answer, for scripts. */
export function answerOf<F extends TlFunction>(fn: F, value: TlValue<F['result']>): Uint8Array {
  return encodeBoxed(fn.result as TlConstructor, value);
}
