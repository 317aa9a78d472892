import { type AdnlClient, connectAdnl } from '#drivers/adnl/client.js';
import { adnlErrors } from '#drivers/adnl/errors.js';
import { liteErrors } from '#drivers/lite/errors.js';
import { type LiteServerAddress, serverName } from '#drivers/lite/global-config.js';
import type { LitePoolModules, LitePoolOptions, PoolSettings } from '#drivers/lite/options.js';
import { ArchiveDepth, ServerHealth, ServerStatistics } from '#drivers/lite/server-health.js';
import type { TlConstructor } from '#formats/tl/constructor.js';
import type { LiteServerError, LiteServerMasterchainInfoExt } from '#formats/tl/lite-api.js';
import { decodeLiteAnswer } from '#formats/tl/lite-query.js';
import { pause } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { type Release, Semaphore } from '#kernel/semaphore.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** A connection that lasted so long was a good one: the next attempt comes soon. */
const GOOD_CONNECTION_MS = 30_000;

/** Servers choose the texts of their errors; the longest that nodes send is the end of a log of the virtual machine. */
const MAX_MESSAGE = 4_096;

export interface LiteQueryOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The query waits for a block first, so the time of its answer says nothing about the server. */
  readonly waits?: boolean;
  /** It is asked to find out whether something is there: that it is missing is no error. */
  readonly probes?: boolean;
}

/** What must be known of a function to read the answer. */
export interface LiteFunction<Answer> {
  readonly name: string;
  readonly result: TlConstructor<string, Answer>;
}

/** What a server says of itself. */
export type ServerHead = Pick<LiteServerMasterchainInfoExt, 'last' | 'last_utime' | 'version' | 'capabilities'>;

/** Is told about a server; must not throw. */
export interface ServerListener {
  /** It may be of more or of less use than before. */
  onChange(server: LiteServer): void;
  /** A connection stands; what is done while it does ends with the signal. */
  onConnected(server: LiteServer, signal: AbortSignal): void;
}

/** One server: keeps a connection to it, asks, and knows how it answers. */
export class LiteServer {
  readonly name: string;
  readonly address: LiteServerAddress;
  readonly statistics: ServerStatistics;
  readonly health: ServerHealth;
  readonly depth = new ArchiveDepth();
  isDepthKnown = false;
  /** Names of functions that it does not know. */
  readonly unsupported = new Set<string>();
  /** Newest masterchain seqno that it has claimed on this connection; 0 before. */
  seqno = 0;
  /** When it claimed that: a moment of the clock. */
  seqnoSince = 0;
  lastUtime = 0;
  version = 0;
  capabilities = 0n;
  /** By how many seconds its clock is ahead of ours; null before it was asked. */
  clockSkewSeconds: number | null = null;
  readonly #options: LitePoolOptions;
  readonly #settings: PoolSettings;
  readonly #modules: LitePoolModules;
  readonly #listener: ServerListener;
  readonly #slots: Semaphore;
  readonly #closing = new AbortController();
  /** When the queries under way that wait for nothing were sent; in that order. */
  readonly #pending = new Set<{ readonly since: number }>();
  #client: AdnlClient | null = null;
  #life: Promise<void> | null = null;

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
    this.#slots = new Semaphore(settings.maxInFlightPerServer);
  }

  get inFlight(): number {
    return this.#slots.taken;
  }

  /** Queries that wait for a turn. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** How long an answer is likely to take from now on, in milliseconds: load, failures and open queries included. */
  get expectedMs(): number {
    const { meanMs, success } = this.statistics;
    let ms = meanMs ?? 1;
    const [oldest] = this.#pending;
    // A query that is out for much longer than usual says more than the mean of those that came back.
    if (oldest !== undefined) ms = Math.max(ms, (this.#modules.clock.now() - oldest.since) / 2);
    const load = (this.#slots.taken + this.#slots.waiting) / this.#settings.maxInFlightPerServer;
    return (ms * (1 + load)) / Math.max(success, 0.05);
  }

  /** Begins to connect, and does so again whenever the connection is lost. */
  start(): void {
    this.#life ??= this.#live();
  }

  /** Ends the connection and all queries. Resolves when nothing is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#client?.close();
    await this.#life;
  }

  /** Asks. Never rejects; what the outcome means for the server has been noted. */
  async query<Answer>(
    fn: LiteFunction<Answer>,
    query: Uint8Array,
    options: LiteQueryOptions,
  ): Promise<QueryOutcome<Answer>> {
    const { clock } = this.#modules;
    const begun = clock.now();
    const release = await this.#turn(options);
    if (typeof release !== 'function') return { ok: false, failure: release };
    const since = clock.now();
    const entry = { since };
    const { statistics, health } = this;
    if (options.waits !== true) this.#pending.add(entry);
    try {
      statistics.requests++;
      const bytes = await this.#query(query, {
        ...options,
        timeoutMs: Math.max(1, options.timeoutMs - (since - begun)),
      });
      const decoded = decodeLiteAnswer(fn, bytes);
      if (options.waits !== true) statistics.answered(fn.name, clock.now() - since);
      if (decoded.error !== null) return this.#refusal(decoded.error, fn.name, options);
      health.answered();
      return { ok: true, answer: (decoded as { value: Answer }).value, bytes: bytes.length };
    } catch (error) {
      return { ok: false, failure: this.#failure(error, fn.name, clock.now() - since) };
    } finally {
      this.#pending.delete(entry);
      release();
    }
  }

  /** Notes that it was looked up how far back it goes. */
  recordDepth(): void {
    this.isDepthKnown = true;
    this.#listener.onChange(this);
  }

  /** Notes what the server says is its newest block. */
  recordHead({ last, last_utime, version, capabilities }: ServerHead): void {
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
  }

  /** Notes that it refused what another one answered. */
  recordContradiction(): void {
    this.statistics.failed('contradicted');
  }

  /** Sets it aside because it gave an answer that is not true. */
  quarantine(reason: string): void {
    const forMs = this.health.quarantine(reason);
    if (forMs === 0) return;
    (this.#modules.logger ?? silentLogger).warn('lite server quarantined', {
      server: this.name,
      for_ms: forMs,
      reason,
    });
    this.#listener.onChange(this);
    void pause(forMs, this.#modules.clock, this.#closing.signal).then(() => this.#listener.onChange(this));
  }

  /** A permit to ask, or why there is none. */
  async #turn({ timeoutMs, signal }: LiteQueryOptions): Promise<Release | QueryFailure> {
    const free = this.#slots.tryAcquire();
    if (free !== null) return free;
    const { clock } = this.#modules;
    const limit = new AbortController();
    const give = () => limit.abort();
    const cancel = clock.schedule(timeoutMs, give);
    signal?.addEventListener('abort', give);
    try {
      return (await this.#slots.acquire(limit.signal)) as Release;
    } catch {
      if (signal?.aborted) return { kind: 'dropped', text: 'not asked yet' };
      const error = liteErrors.busy({ server: this.name, afterMs: timeoutMs });
      this.statistics.counted('busy');
      return { kind: 'busy', text: `no turn within ${timeoutMs} ms`, error };
    } finally {
      cancel();
      signal?.removeEventListener('abort', give);
    }
  }

  #query(query: Uint8Array, { timeoutMs, signal }: LiteQueryOptions): Promise<Uint8Array> {
    if (this.#client !== null) return this.#client.query(query, { timeoutMs, signal });
    const problem = this.health.problem || 'the connection is not made yet';
    return Promise.reject(liteErrors['not-connected']({ server: this.name, problem }));
  }

  /** An answer that is an error. */
  #refusal(error: LiteServerError, fn: string, { waits, probes }: LiteQueryOptions): QueryOutcome<never> {
    const { code } = error;
    const kind = answerErrorKind(error);
    const message = printableText(error.message);
    if (kind === 'failed') {
      this.statistics.failed(String(code));
      this.health.failed(`error ${code}: ${message}`);
    } else {
      // That a block did not come in time is no error of the server.
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
      // A constructor that is not expected is another version of the schema; anything else is no honest answer.
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
    // That there is no connection is known already, and why.
    if (this.#closing.signal.aborted || error.code === liteErrors['not-connected'].code) return;
    this.statistics.failed(error.code);
    this.health.failed(error.message);
    this.#listener.onChange(this);
  }

  /** Connects, again and again. */
  async #live(): Promise<void> {
    const { clock, random, logger = silentLogger } = this.#modules;
    const { reconnectMinMs, reconnectMaxMs } = this.#settings;
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const begun = clock.now();
      const problem = await this.#connectOnce();
      if (signal.aborted) break;
      failures = clock.now() - begun > GOOD_CONNECTION_MS ? 1 : failures + 1;
      this.health.disconnected(problem.message);
      this.statistics.counted(problem.code);
      logger.info('lite server not connected', { server: this.name, code: problem.code, problem: problem.message });
      this.#listener.onChange(this);
      const longest = Math.min(reconnectMinMs * 2 ** Math.min(failures - 1, 30), reconnectMaxMs);
      await pause(longest * (0.5 + random() / 2), clock, signal);
    }
    this.health.disconnected('closed');
  }

  /** One connection, from the first attempt to its end; says why it ended. */
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
          maxInFlight: this.#settings.maxInFlightPerServer + 8,
          signal: this.#closing.signal,
        },
        adnl,
      );
    } catch (error) {
      if (isTernError(error)) return error;
      throw error;
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

/** Servers' texts come to logs and terminals: no longer than need be, and without control characters. */
function printableText(text: string): string {
  return text.slice(0, MAX_MESSAGE).replace(/\p{Cc}/gu, (control) => (control === '\n' ? control : ' '));
}

/**
 * Why a query brought nothing: what the server said, or
 *
 * - `lied`: the answer is not true, or no answer at all
 * - `busy`: no turn was free
 * - `dropped`: the one who asked does not want to know any more
 */
export type QueryFailureKind = AnswerErrorKind | 'lied' | 'busy' | 'dropped';

export interface QueryFailure {
  readonly kind: QueryFailureKind;
  /** For people: `error 651: block handle not in db`. */
  readonly text: string;
  /** The code of `liteServer.error`, when that was the answer. */
  readonly code?: number;
  readonly error?: TernError;
}

/** How one query to one server ended. */
export type QueryOutcome<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly bytes: number }
  | { readonly ok: false; readonly failure: QueryFailure };

/**
 * What a `liteServer.error` means for the one who asked.
 *
 * - `missing`: this server does not have it; another one may
 * - `not-ready`: it will have it in a moment
 * - `expired`: the wait for a block ended before it came
 * - `unsupported`: this server does not know the function, or does not allow it
 * - `failed`: something in the server; another one may answer
 * - `refused`: the request is at fault, as far as this server can tell
 */
export type AnswerErrorKind = 'missing' | 'not-ready' | 'expired' | 'unsupported' | 'failed' | 'refused';

const NOT_FOUND = /not in db|block not found|not found in db/;
const NOT_YET = /is not applied|not ready|too big masterchain block seqno/;
/** Of a block that other servers have shown already: this one is behind, or follows another chain. */
const BEHIND = /newer than the reference masterchain block/;
const STRANGE = /is unknown from the perspective of reference block/;
const TOO_OFTEN = /too many (requests|queries)|rate limit/i;

/** Codes and texts are those of the reference implementation, and of proxies in front of it. */
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
