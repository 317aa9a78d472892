import type { LitePoolModules, PoolSettings } from '#drivers/lite/options.js';
import type { LiteServer, QueryOutcome } from '#drivers/lite/server.js';
import type { TlFunction, TlValue } from '#formats/tl/constructor.js';
import {
  LiteServerGetConfigParams,
  LiteServerGetMasterchainInfo,
  LiteServerGetMasterchainInfoExt,
  LiteServerGetTime,
  LiteServerLookupBlock,
} from '#formats/tl/lite-api.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import { pause } from '#kernel/clock.js';

/** Maximum wait for a block that the reference server accepts. */
export const MAX_WAIT_MS = 10_000;
/** Minimum interval of queries to servers that answer a wait too early. */
const MIN_INTERVAL_MS = 100;
const MASTERCHAIN = { workchain: -1, shard: -(2n ** 63n) };
/** `lookupBlock`: by seqno. */
const BY_SEQNO = 1;

type WatchModules = Pick<LitePoolModules, 'clock' | 'unixTimeMs' | 'random'>;

/** Monitors a server while it is connected: head, clock and history depth. */
export class ServerWatch {
  readonly #server: LiteServer;
  readonly #settings: PoolSettings;
  readonly #modules: WatchModules;
  readonly #signal: AbortSignal;
  #isProbing = false;

  constructor(server: LiteServer, settings: PoolSettings, modules: WatchModules, signal: AbortSignal) {
    this.#server = server;
    this.#settings = settings;
    this.#modules = modules;
    this.#signal = signal;
  }

  start(): void {
    void this.#keepRunning(() => this.#followHead());
    void this.#keepRunning(() => this.#checkTime());
  }

  /** Never rejects. A failure of a loop is due to what the server sends: it is quarantined, and the loop starts over. */
  async #keepRunning(loop: () => Promise<void>): Promise<void> {
    const { clock } = this.#modules;
    while (!this.#signal.aborted) {
      try {
        await loop();
        return;
      } catch (error) {
        this.#server.quarantine(`not monitored: ${error instanceof Error ? error.message : String(error)}`);
      }
      await pause(this.#settings.checkIntervalMs, clock, this.#signal);
    }
  }

  /** Follows the head with queries that wait for the next block; one is always in flight. */
  async #followHead(): Promise<void> {
    const { clock } = this.#modules;
    let failures = 0;
    while (!this.#signal.aborted) {
      const startedAt = clock.now();
      const answered = await this.#queryHead(this.#server.health.hasHead ? this.#server.seqno + 1 : 0);
      if (answered && !this.#isProbing) {
        this.#isProbing = true;
        void this.#keepRunning(() => this.#probeDepth());
      }
      failures = answered ? 0 : failures + 1;
      const least = answered ? MIN_INTERVAL_MS : MIN_INTERVAL_MS * 2 ** Math.min(failures, 7);
      const left = least - (clock.now() - startedAt);
      if (left > 0) await pause(left, clock, this.#signal);
    }
  }

  /** @returns whether the server gave a possible answer, including an expired wait */
  async #queryHead(waitSeqno: number): Promise<boolean> {
    const server = this.#server;
    const waits = waitSeqno > 0;
    if (server.unsupported.has(LiteServerGetMasterchainInfoExt.name)) {
      const old = await this.#query(LiteServerGetMasterchainInfo, {}, waitSeqno);
      if (!old.ok) return waits && old.failure.kind === 'expired';
      // The block time is unknown; local time is used instead, because lag is measured in blocks.
      const last_utime = Math.floor(this.#modules.unixTimeMs() / 1000);
      return server.recordHead({ last: old.answer.last, last_utime, version: 0, capabilities: 0n });
    }
    const outcome = await this.#query(LiteServerGetMasterchainInfoExt, { mode: 0 }, waitSeqno);
    return outcome.ok ? server.recordHead(outcome.answer) : waits && outcome.failure.kind === 'expired';
  }

  /** Queries the time periodically, to measure health, latency and clock skew. */
  async #checkTime(): Promise<void> {
    const { clock, random, unixTimeMs } = this.#modules;
    while (!this.#signal.aborted) {
      const startedAt = clock.now();
      const outcome = await this.#query(LiteServerGetTime, {}, 0);
      if (outcome.ok) {
        const half = (clock.now() - startedAt) / 2;
        this.#server.clockSkewSeconds = Math.round(outcome.answer.now - (unixTimeMs() - half) / 1000) + 0;
      }
      await pause(this.#settings.checkIntervalMs * (0.75 + random() / 2), clock, this.#signal);
    }
  }

  async #probeDepth(): Promise<void> {
    const { depthRefreshMs } = this.#settings;
    while (depthRefreshMs > 0 && !this.#signal.aborted) {
      const isKnown = await this.#server.depth.probe(this.#server.seqno, (history, seqno) =>
        this.#probeSeqno(history, seqno),
      );
      if (isKnown) this.#server.recordDepth();
      const pauseMs = isKnown ? depthRefreshMs : Math.min(depthRefreshMs, this.#settings.checkIntervalMs);
      await pause(pauseMs * (0.75 + this.#modules.random() / 2), this.#modules.clock, this.#signal);
    }
  }

  async #probeSeqno(history: 'blocks' | 'states', seqno: number): Promise<boolean | null> {
    const id = { ...MASTERCHAIN, seqno };
    const header = await this.#query(LiteServerLookupBlock, { mode: BY_SEQNO, id, lt: null, utime: null }, 0, true);
    if (!header.ok) return header.failure.kind === 'missing' ? false : null;
    if (history === 'blocks') return true;
    const config = await this.#query(
      LiteServerGetConfigParams,
      { mode: 0, id: header.answer.id, param_list: [] },
      0,
      true,
    );
    if (config.ok) return true;
    return config.failure.kind === 'missing' ? false : null;
  }

  #query<F extends TlFunction>(
    fn: F,
    query: TlValue<F>,
    waitSeqno: number,
    probes = false,
  ): Promise<QueryOutcome<TlValue<F['result']>>> {
    const wait = waitSeqno > 0 ? { seqno: waitSeqno, timeout_ms: MAX_WAIT_MS } : null;
    return this.#server.query(fn, encodeLiteQuery(fn, query, wait), {
      timeoutMs: this.#settings.attemptTimeoutMs + (wait === null ? 0 : MAX_WAIT_MS),
      signal: this.#signal,
      waits: wait !== null,
      probes,
      isUrgent: !probes,
    }) as Promise<QueryOutcome<TlValue<F['result']>>>;
  }
}
