import { type AdnlClient, connectAdnl } from '#drivers/adnl/client.js';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { liteErrors } from '#drivers/lite/errors.js';
import { type LiteServerAddress, serverName } from '#drivers/lite/global-config.js';
import type { LitePoolModules, LitePoolOptions, PoolSettings } from '#drivers/lite/options.js';
import { ArchiveDepth, ServerHealth, ServerStatistics } from '#drivers/lite/server-health.js';
import { ServerSlots, type SlotTurn, URGENT_SLOTS } from '#drivers/lite/server-slots.js';
import type { TlConstructor } from '#formats/tl/constructor.js';
import {
  type LiteServerError,
  type LiteServerMasterchainInfoExt,
  LiteServerRunSmcMethod,
  LiteServerSendMessage,
} from '#formats/tl/lite-api.js';
import { decodeLiteAnswer } from '#formats/tl/lite-query.js';
import { pause } from '#kernel/clock.js';
import { LinkedList } from '#kernel/linked-list.js';
import { silentLogger } from '#kernel/logger.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** After a connection of at least this duration, or one on which the server reported its head, the reconnect pause starts over. */
const GOOD_CONNECTION_MS = 30_000;

/** Maximum length of an error message of a server; the longest messages of nodes end with a TVM log. */
const MAX_MESSAGE = 4_096;

/** Maximum seqno of a head: that of the next block is an int32, too. */
const MAX_HEAD_SEQNO = 2 ** 31 - 2;

export interface LiteQueryOptions extends Pick<SlotTurn, 'client' | 'hasKey' | 'isUrgent'> {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The query waits for a block first, so its latency is not a measurement. */
  readonly waits?: boolean;
  /** The query probes for data: missing data is not an error. */
  readonly probes?: boolean;
}

/** Functions for which a server executes something before it answers. */
const EXECUTIONS: ReadonlySet<string> = new Set([LiteServerSendMessage.name, LiteServerRunSmcMethod.name]);

/** The parts of a TL function that decoding an answer requires. */
export interface LiteFunction<Answer> {
  readonly name: string;
  readonly result: TlConstructor<string, Answer>;
}

/** The head as reported by a server. */
export type ServerHead = Pick<LiteServerMasterchainInfoExt, 'last' | 'last_utime' | 'version' | 'capabilities'>;

/** Receives events of a server; must not throw. */
export interface ServerListener {
  /** The state of the server has changed. */
  onChange(server: LiteServer): void;
  /** A connection ended or could not be made. */
  onNotConnected?(server: LiteServer, problem: TernError): void;
  /** A connection is established; the signal is aborted when it ends. */
  onConnected(server: LiteServer, signal: AbortSignal): void;
}

/** One liteserver: maintains the connection, sends queries, and tracks health and statistics. */
export class LiteServer {
  readonly name: string;
  readonly address: LiteServerAddress;
  readonly statistics: ServerStatistics;
  readonly health: ServerHealth;
  readonly depth = new ArchiveDepth();
  isDepthKnown = false;
  /** Names of functions that the server does not support. */
  readonly unsupported = new Set<string>();
  /** Newest masterchain seqno claimed on this connection; 0 when unknown. */
  seqno = 0;
  /** Clock time of that claim. */
  seqnoSince = 0;
  lastUtime = 0;
  version = 0;
  capabilities = 0n;
  /** Offset of the server's clock in seconds; positive when ahead, null when unknown. */
  clockSkewSeconds: number | null = null;
  readonly #options: LitePoolOptions;
  readonly #settings: PoolSettings;
  readonly #modules: LitePoolModules;
  readonly #listener: ServerListener;
  readonly #slots: ServerSlots;
  readonly #closing = sharedAbortController();
  /** Send times of the queries in flight without a wait, in order. */
  readonly #pending = new LinkedList<{ readonly since: number }>();
  #client: AdnlClient | null = null;
  #connecting: Promise<void> | null = null;

  constructor(
    address: LiteServerAddress,
    options: LitePoolOptions,
    settings: PoolSettings,
    modules: LitePoolModules,
    listener: ServerListener,
  ) {
    this.name = serverName(address);
    this.address = address;
    this.#options = options;
    this.#settings = settings;
    this.#modules = modules;
    this.#listener = listener;
    this.statistics = new ServerStatistics(modules.clock);
    this.health = new ServerHealth(settings, modules.clock);
    this.#slots = new ServerSlots(settings.maxInFlightPerServer, modules.clock);
  }

  get inFlight(): number {
    return this.#slots.taken;
  }

  /** Queued queries. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** Expected latency in milliseconds, including load, failures and open queries. */
  get expectedMs(): number {
    const { meanMs, success } = this.statistics;
    let ms = meanMs ?? 1;
    const oldest = this.#pending.first;
    // A query open for much longer than usual is a better estimate than the mean.
    if (oldest !== undefined) ms = Math.max(ms, (this.#modules.clock.now() - oldest.since) / 2);
    const load = (this.#slots.taken + this.#slots.waiting) / this.#settings.maxInFlightPerServer;
    return (ms * (1 + load)) / Math.max(success, 0.05);
  }

  /** Connects, and reconnects whenever the connection is lost. */
  start(): void {
    this.#connecting ??= this.#connectLoop();
  }

  /** Closes the connection; all queries fail. Resolves when done. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#client?.close();
    await this.#connecting;
  }

  /** Sends a query. Never rejects; the outcome is recorded in health and statistics. */
  async query<Answer>(
    fn: LiteFunction<Answer>,
    query: Uint8Array,
    options: LiteQueryOptions,
  ): Promise<QueryOutcome<Answer>> {
    const { clock } = this.#modules;
    const startedAt = clock.now();
    const release = await this.#acquireSlot(fn.name, options);
    if (typeof release !== 'function') return { ok: false, failure: release };
    const since = clock.now();
    const { statistics, health } = this;
    const place = options.waits === true ? null : this.#pending.add({ since });
    try {
      statistics.requests++;
      const bytes = await this.#query(query, {
        ...options,
        timeoutMs: Math.max(1, options.timeoutMs - (since - startedAt)),
      });
      const decoded = decodeLiteAnswer(fn, bytes);
      if (options.waits !== true) statistics.answered(fn.name, clock.now() - since);
      if (decoded.error !== null) return this.#refusal(decoded.error, fn.name, options);
      health.answered();
      return { ok: true, answer: (decoded as { value: Answer }).value, bytes: bytes.length };
    } catch (error) {
      return { ok: false, failure: this.#failure(error, fn.name, clock.now() - since) };
    } finally {
      this.#pending.remove(place);
      release();
    }
  }

  /** Records that the history depth is known. */
  recordDepth(): void {
    this.isDepthKnown = true;
    this.#listener.onChange(this);
  }

  /** Records the head reported by the server. @returns false when it is impossible: the server is quarantined */
  recordHead({ last, last_utime, version, capabilities }: ServerHead): boolean {
    if (last.seqno < 0 || last.seqno > MAX_HEAD_SEQNO) {
      this.quarantine(`the head has the seqno ${last.seqno}`);
      return false;
    }
    const isFirst = !this.health.hasHead;
    this.version = version;
    this.capabilities = capabilities;
    if (isFirst || last.seqno > this.seqno) {
      this.seqno = last.seqno;
      this.lastUtime = last_utime;
      this.seqnoSince = this.#modules.clock.now();
    }
    this.health.gaveHead();
    this.#listener.onChange(this);
    return true;
  }

  /** Records that the server refused a request that another one answered. */
  recordContradiction(): void {
    this.statistics.failed('contradicted');
  }

  /** Quarantines the server because of an invalid answer. */
  quarantine(reason: string): void {
    const durationMs = this.health.quarantine(reason);
    if (durationMs === 0) return;
    (this.#modules.logger ?? silentLogger).warn('lite server quarantined', {
      server: this.name,
      for_ms: durationMs,
      reason,
    });
    this.#listener.onChange(this);
    void pause(durationMs, this.#modules.clock, this.#closing.signal).then(() => this.#listener.onChange(this));
  }

  /** Acquires a slot, or returns the reason for the failure. */
  async #acquireSlot(
    fn: string,
    { timeoutMs, signal, client, hasKey, isUrgent }: LiteQueryOptions,
  ): Promise<(() => void) | QueryFailure> {
    const turn: SlotTurn = { client, hasKey, isUrgent, isExecution: EXECUTIONS.has(fn) };
    const free = this.#slots.tryAcquire(turn);
    if (free !== null) return free;
    const { clock } = this.#modules;
    const limit = new AbortController();
    const abort = () => limit.abort();
    const cancel = clock.schedule(timeoutMs, abort);
    signal?.addEventListener('abort', abort);
    try {
      return await this.#slots.acquire(turn, limit.signal);
    } catch {
      if (signal?.aborted) return { kind: 'dropped', text: 'not queried yet' };
      const error = liteErrors.busy({ server: this.name, afterMs: timeoutMs });
      this.statistics.counted('busy');
      return { kind: 'busy', text: `no free slot within ${timeoutMs} ms`, error };
    } finally {
      cancel();
      signal?.removeEventListener('abort', abort);
    }
  }

  #query(query: Uint8Array, { timeoutMs, signal }: LiteQueryOptions): Promise<Uint8Array> {
    if (this.#client !== null) return this.#client.query(query, { timeoutMs, signal });
    const problem = this.health.problem || 'not connected yet';
    return Promise.reject(liteErrors['not-connected']({ server: this.name, problem }));
  }

  /** Classifies an error answer. */
  #refusal(error: LiteServerError, fn: string, { waits, probes }: LiteQueryOptions): QueryOutcome<never> {
    const { code } = error;
    const kind = answerErrorKind(error);
    const message = printableText(error.message);
    if (kind === 'failed') {
      this.statistics.failed(String(code));
      this.health.failed(`error ${code}: ${message}`);
    } else {
      // A block that does not arrive in time is not an error of the server.
      const isExpected = (kind === 'expired' && waits === true) || (kind === 'missing' && probes === true);
      if (!isExpected) this.statistics.counted(String(code));
      this.health.answered();
    }
    if (kind === 'unsupported') this.unsupported.add(fn);
    return { ok: false, failure: { kind, code, text: `error ${code}: ${message}` } };
  }

  #failure(error: unknown, fn: string, afterMs: number): QueryFailure {
    if (!isTernError(error)) throw error;
    if (error.code === adnlErrors['query-aborted'].code) {
      this.statistics.tookLonger(afterMs);
      return { kind: 'dropped', text: `no answer after ${Math.round(afterMs)} ms` };
    }
    if (error.code === adnlErrors['query-too-large'].code) {
      return { kind: 'refused', text: error.message, error };
    }
    if (error.code.startsWith('tl/')) {
      // An unexpected constructor is another schema version; anything else is an invalid answer.
      const isOther = error.code === 'tl/unknown-constructor' && error.data.byte === 0;
      const bad = liteErrors['bad-answer']({ server: this.name, function: fn, problem: error.message }, error);
      this.#noteFailure(bad);
      return { kind: isOther ? 'failed' : 'lied', text: bad.message, error: bad };
    }
    if (error.code === adnlErrors['query-timeout'].code) this.statistics.tookLonger(afterMs);
    this.#noteFailure(error);
    return { kind: 'failed', text: error.message, error };
  }

  #noteFailure(error: TernError): void {
    // The missing connection and its reason are already recorded.
    if (this.#closing.signal.aborted || error.code === liteErrors['not-connected'].code) return;
    this.statistics.failed(error.code);
    this.health.failed(error.message);
    this.#listener.onChange(this);
  }

  /** Connects and reconnects until closed. */
  async #connectLoop(): Promise<void> {
    const { clock, random } = this.#modules;
    const { reconnectMinMs, reconnectMaxMs } = this.#settings;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = clock.now();
      const problem = await this.#connectOnce();
      if (signal.aborted) break;
      // A server that restarts is there again soon: only one that never answers is asked less and less often.
      const wasGood = this.health.hasHead || clock.now() - startedAt > GOOD_CONNECTION_MS;
      failures = wasGood ? 1 : failures + 1;
      this.health.disconnected(problem.message);
      this.statistics.counted(problem.code);
      this.#listener.onNotConnected?.(this, problem);
      this.#listener.onChange(this);
      const longest = Math.min(reconnectMinMs * 2 ** Math.min(failures - 1, 30), reconnectMaxMs);
      await pause(longest * (0.5 + random() / 2), clock, signal);
    }
    this.health.disconnected('closed');
  }

  /** Connects once and returns the reason why the connection ended. */
  async #connectOnce(): Promise<TernError> {
    const { address } = this;
    const { clock, randomBytes, adnlMetrics, connect = connectAdnl } = this.#modules;
    const adnl = { clock, randomBytes, ...(adnlMetrics === undefined ? {} : { metrics: adnlMetrics }) };
    let client: AdnlClient;
    try {
      client = await connect(
        {
          ...this.#options.connection,
          host: address.host,
          port: address.port,
          serverPublicKey: address.publicKey,
          maxInFlight: this.#settings.maxInFlightPerServer + URGENT_SLOTS,
          signal: this.#closing.signal,
        },
        adnl,
      );
    } catch (error) {
      if (isTernError(error)) return error;
      return adnlErrors['connect-failed']({ peer: this.name, problem: String(error) }, error);
    }
    const lifetime = new AbortController();
    this.#client = client;
    this.seqno = 0;
    this.unsupported.clear();
    this.health.connected();
    if (this.#closing.signal.aborted) client.close();
    else this.#listener.onConnected(this, lifetime.signal);
    const reason = await client.closed;
    this.#client = null;
    lifetime.abort();
    return reason;
  }
}

/** Error messages of servers appear in logs and terminals: truncated and without control characters. */
function printableText(text: string): string {
  return text.slice(0, MAX_MESSAGE).replace(/\p{Cc}/gu, (control) => (control === '\n' ? control : ' '));
}

/**
 * Why a query failed: the error of the server, or
 *
 * - `lied`: the answer is invalid
 * - `busy`: no free slot
 * - `dropped`: aborted by the caller
 */
type QueryFailureKind = AnswerErrorKind | 'lied' | 'busy' | 'dropped';

export interface QueryFailure {
  readonly kind: QueryFailureKind;
  /** Human-readable: `error 651: block handle not in db`. */
  readonly text: string;
  /** Code of `liteServer.error`, if that was the answer. */
  readonly code?: number;
  readonly error?: TernError;
}

/** Result of one query to one server. */
export type QueryOutcome<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly bytes: number }
  | { readonly ok: false; readonly failure: QueryFailure };

/**
 * Meaning of a `liteServer.error`.
 *
 * - `missing`: this server does not have the data; another one may
 * - `not-ready`: the server will have the data soon
 * - `expired`: the block did not arrive before the end of the wait
 * - `unsupported`: the server does not know or does not allow the function
 * - `failed`: internal failure of the server; another one may answer
 * - `refused`: the request is invalid according to this server
 */
export type AnswerErrorKind = 'missing' | 'not-ready' | 'expired' | 'unsupported' | 'failed' | 'refused';

const NOT_FOUND = /not in db|block not found|not found in db/;
const NOT_YET = /is not applied|not ready|too big masterchain block seqno/;
/** About a block that other servers have: this server lags or follows another chain. */
const BEHIND = /newer than the reference masterchain block/;
const STRANGE = /is unknown from the perspective of reference block/;
const TOO_OFTEN = /too many (requests|queries)|rate limit/i;

/** Classifies codes and messages of the reference implementation and of proxies in front of it. */
export function answerErrorKind({ code, message }: LiteServerError): AnswerErrorKind {
  if (message.startsWith('cannot apply external message')) return 'refused';
  switch (code) {
    case 651:
      return NOT_YET.test(message) ? 'not-ready' : 'missing';
    case 652:
      return 'expired';
    case 621:
      return 'unsupported';
    case 0:
      if (/^(Unknown constructor|query is not allowed)/.test(message)) return 'unsupported';
      break;
    case 429:
    case 601:
    case 602:
    case 653:
    case -503:
      return 'failed';
    default:
  }
  if (BEHIND.test(message)) return 'not-ready';
  if (NOT_FOUND.test(message) || STRANGE.test(message)) return 'missing';
  return TOO_OFTEN.test(message) ? 'failed' : 'refused';
}
