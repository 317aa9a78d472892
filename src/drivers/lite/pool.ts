import {
  type Candidate,
  chooseServer,
  HedgeBudget,
  type PoolContext,
  type ServerRequirement,
  tierOf,
} from '#drivers/lite/choose-server.js';
import { ConnectionLog } from '#drivers/lite/connection-log.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest, LiteSource, Need } from '#drivers/lite/lite-source.js';
import type { PoolMetrics, ServerMetrics } from '#drivers/lite/metrics.js';
import {
  checkPoolSettings,
  type LitePoolModules,
  type LitePoolOptions,
  type PoolSettings,
} from '#drivers/lite/options.js';
import { RequestRun, TriedServers, unqueriedServersText, type VerifiedAnswer } from '#drivers/lite/request-run.js';
import { LiteServer, type ServerListener } from '#drivers/lite/server.js';
import { ServerWatch } from '#drivers/lite/server-watch.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import { toLatin1 } from '#kernel/bytes.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';
import { LinkedList } from '#kernel/linked-list.js';
import { silentLogger } from '#kernel/logger.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { OpenEntries } from '#kernel/open-entries.js';
import { Semaphore } from '#kernel/semaphore.js';
import { type Flight, SingleFlight } from '#kernel/single-flight.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** A shareable answer with its verified value. */
interface SharedAnswer extends Omit<VerifiedAnswer<unknown, unknown>, 'server'> {
  readonly server: LiteServer | null;
  readonly verify: unknown;
  readonly verifiedAs: string | undefined;
}

/** {@link LiteSource} over several liteservers. */
export class LitePool implements LiteSource {
  readonly #settings: PoolSettings;
  readonly #modules: LitePoolModules;
  readonly #servers: readonly LiteServer[];
  readonly #context: PoolContext;
  readonly #flights: SingleFlight<SharedAnswer>;
  /** Requests in flight, by flight key. */
  readonly #runs = new OpenEntries<string, { expired(): TernError }>();
  readonly #slots: Semaphore;
  readonly #cache: LruByBytes<SharedAnswer>;
  readonly #connectionLog: ConnectionLog;
  #isClosed = false;
  readonly #watchers = new LinkedList<() => void>();
  #referenceSeqno = 0;
  #requests = 0;
  #failures = 0;
  #overloads = 0;
  #cacheHits = 0;
  #cacheMisses = 0;

  /** Does not connect yet: see {@link LitePool.start}. @throws lite/bad-option */
  constructor(options: LitePoolOptions, modules: LitePoolModules) {
    const settings = checkPoolSettings(options);
    const { clock } = modules;
    this.#settings = settings;
    this.#modules = modules;
    this.#flights = new SingleFlight(clock);
    this.#slots = new Semaphore(settings.maxInFlight, settings.maxWaiting);
    this.#cache = new LruByBytes(settings.cacheBytes);
    this.#connectionLog = new ConnectionLog(options.servers.length, { clock, logger: modules.logger ?? silentLogger });
    const listener: ServerListener = {
      onNotConnected: ({ name }, problem) => this.#connectionLog.note(name, problem),
      onChange: () => this.#onChange(),
      onConnected: (server, signal) => new ServerWatch(server, settings, modules, signal).start(),
    };
    const servers = options.servers.map((address) => new LiteServer(address, options, settings, modules, listener));
    this.#servers = servers;
    const pool = this;
    this.#context = {
      servers,
      settings,
      modules,
      hedges: new HedgeBudget(settings.hedgeShare, settings.hedgeBurst),
      watchers: this.#watchers,
      get isClosed() {
        return pool.#isClosed;
      },
      get referenceSeqno() {
        return pool.#referenceSeqno;
      },
    };
  }

  get headSeqno(): number {
    let newest = 0;
    const { maxLag } = this.#settings;
    for (const { health, seqno } of this.#servers) {
      const lag = this.#referenceSeqno - seqno;
      // A server may have a block a little before all others, but nobody is that far ahead of them.
      if (-lag <= maxLag && health.state(lag, maxLag) === 'healthy') newest = Math.max(newest, seqno);
    }
    return newest;
  }

  /** Connects to all servers and reconnects until {@link LitePool.close}. */
  start(): void {
    for (const server of this.#servers) server.start();
  }

  /** Fails all requests with `lite/closed` and closes all connections. Resolves when done. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#slots.refuseWaiting();
    this.#wake();
    await Promise.all(this.#servers.map((server) => server.close()));
    this.#connectionLog.close();
  }

  async query<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value> {
    this.#requests++;
    try {
      return await this.#query(request);
    } catch (error) {
      this.#failures++;
      throw error;
    }
  }

  async fanOut<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>, count: number): Promise<Value> {
    this.#requests++;
    const bytes = encodeLiteQuery(request.fn, request.query);
    const deadline = this.#deadline(request, () => this.#expired(request, bytes));
    const finished = new AbortController();
    const { signal } = finished;
    try {
      return await withDeadline(
        this.#fanOut(request, bytes, count, { ...deadline, signal }),
        deadline,
        this.#modules.clock,
      );
    } catch (error) {
      this.#failures++;
      throw error;
    } finally {
      // A request that is still queued must not be sent after the caller has given up.
      finished.abort();
    }
  }

  /** Resolves when the state of each server is known, or after `timeoutMs`. */
  async whenSettled(timeoutMs: number): Promise<void> {
    const until = this.#modules.clock.now() + timeoutMs;
    const isSettled = ({ health, isDepthKnown, clockSkewSeconds }: LiteServer) =>
      health.problem !== '' || (health.hasHead && clockSkewSeconds !== null && (isDepthKnown || !this.#looksUpDepth));
    while (!this.#isClosed && this.#modules.clock.now() < until && !this.#servers.every(isSettled)) {
      await this.#nextChange(until);
    }
  }

  /** Current metrics of the pool and its servers. */
  metrics(): PoolMetrics {
    return {
      head_seqno: this.headSeqno,
      requests: this.#requests,
      failures: this.#failures,
      in_flight: this.#slots.taken,
      waiting: this.#slots.waiting,
      overloads: this.#overloads,
      hedges: this.#context.hedges.spent,
      single_flight_joins: this.#flights.joined,
      cache_hits: this.#cacheHits,
      cache_misses: this.#cacheMisses,
      cache_bytes: this.#cache.bytes,
      cache_entries: this.#cache.size,
      cache_evictions: this.#cache.evicted,
      servers: this.#servers.map((server) => this.#serverMetrics(server)),
    };
  }

  async #query<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>): Promise<Value> {
    const { fn, query, need, waitSeqno = 0, immutable = false } = request;
    const bytes = encodeLiteQuery(fn, query);
    const queryKey = toLatin1(bytes);
    const key = request.verifiedAs === undefined ? queryKey : `${request.verifiedAs}\n${queryKey}`;
    if (immutable) {
      const cached = this.#cache.get(key);
      if (cached !== undefined) {
        const value = this.#valueFor(cached, request);
        if (value !== null) {
          this.#cacheHits++;
          return value.value;
        }
        this.#cache.delete(key);
      }
      this.#cacheMisses++;
    }
    const flightKey = `${needKey(need)} ${waitSeqno} ${key}`;
    const deadline = this.#deadline(
      request,
      () => this.#runs.get(flightKey)?.expired() ?? this.#expired(request, bytes),
    );
    for (;;) {
      const shared = await this.#flights.do(
        flightKey,
        (flight) => this.#runShared(flightKey, request, bytes, flight),
        deadline,
      );
      const value = this.#valueFor(shared, request);
      if (value === null) continue;
      if (immutable) this.#store(key, shared, request);
      return value.value;
    }
  }

  async #fanOut<Query, Answer, Value>(
    request: LiteRequest<Query, Answer, Value>,
    bytes: Uint8Array,
    count: number,
    deadline: Deadline,
  ): Promise<Value> {
    const fn = request.fn.name;
    const release = await this.#acquireSlot(fn, deadline);
    try {
      const wanted: ServerRequirement = { need: request.need, fn, waitSeqno: 0 };
      const servers = await this.#serversToFanOut(wanted, count, deadline);
      return await fanOut(this.#context, request, bytes, servers);
    } catch (error) {
      throw this.#isClosed ? liteErrors.closed({ function: fn }) : error;
    } finally {
      release();
    }
  }

  async #runShared<Query, Answer, Value>(
    key: string,
    request: LiteRequest<Query, Answer, Value>,
    bytes: Uint8Array,
    flight: Flight,
  ): Promise<SharedAnswer> {
    const release = await this.#acquireSlot(request.fn.name, flight);
    const run = new RequestRun(this.#context, request, bytes);
    this.#runs.set(key, run);
    try {
      const { verify, verifiedAs } = request;
      return { ...(await run.run(flight)), verify, verifiedAs };
    } finally {
      if (this.#runs.get(key) === run) this.#runs.delete(key);
      release();
    }
  }

  /** Acquires a slot for a request. @throws lite/overloaded, lite/closed, lite/aborted */
  async #acquireSlot(fn: string, { signal }: Pick<Deadline, 'signal'>): Promise<() => void> {
    if (this.#isClosed) throw liteErrors.closed({ function: fn });
    const slot = this.#slots.acquire(signal);
    if (slot === null) {
      this.#overloads++;
      throw liteErrors.overloaded({ inFlight: this.#slots.taken, waiting: this.#slots.waiting });
    }
    try {
      return await slot;
    } catch (error) {
      if (this.#isClosed) throw liteErrors.closed({ function: fn });
      throw liteErrors.aborted({ function: fn }, error);
    }
  }

  /** The deadline of a request. */
  #deadline<Query, Answer, Value>(
    { fn, deadlineMs = this.#settings.deadlineMs, signal }: LiteRequest<Query, Answer, Value>,
    expired: () => TernError,
  ): Deadline {
    return {
      until: this.#modules.clock.now() + deadlineMs,
      signal,
      expired,
      aborted: (reason) => liteErrors.aborted({ function: fn.name }, reason),
    };
  }

  /** The value for this request, verified again unless the verification is the same; null when it fails. */
  #valueFor<Query, Answer, Value>(
    { answer, value, verify, verifiedAs, server }: SharedAnswer,
    request: LiteRequest<Query, Answer, Value>,
  ): { readonly value: Value } | null {
    const isSame = verify === request.verify || (verifiedAs !== undefined && verifiedAs === request.verifiedAs);
    if (isSame) return { value: value as Value };
    try {
      return { value: request.verify(answer as Answer) };
    } catch (error) {
      if (!isTernError(error) || error.class !== 'upstream') throw error;
      server?.quarantine(`${request.fn.name}: ${error.code}: ${error.message}`);
      return null;
    }
  }

  #store<Query, Answer, Value>(key: string, shared: SharedAnswer, request: LiteRequest<Query, Answer, Value>): void {
    const isNamed = request.verifiedAs !== undefined;
    const size = isNamed ? request.size?.(shared.value as Value, shared.bytes) : undefined;
    // Without a name the value is unknown to other requests: only the answer is cached.
    const cached = isNamed
      ? { ...shared, answer: null, server: null }
      : { ...shared, value: null, verify: null, server: null };
    this.#cache.set(key, cached, size ?? shared.bytes);
  }

  /** Servers to fan out to, as soon as there is at least one. */
  async #serversToFanOut(wanted: ServerRequirement, count: number, { until, signal }: Deadline): Promise<LiteServer[]> {
    const { clock } = this.#modules;
    for (;;) {
      if (this.#isClosed) throw liteErrors.closed({ function: wanted.fn });
      if (signal?.aborted) throw liteErrors.aborted({ function: wanted.fn });
      const servers = chooseServers(this.#context, wanted, count);
      if (servers.length > 0 || clock.now() >= until) return servers;
      await this.#nextChange(until);
    }
  }

  #nextChange(until: number): Promise<void> {
    const { clock } = this.#modules;
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#watchers.remove(place);
        resolve();
      };
      const cancel = clock.schedule(until - clock.now(), wake);
      const place = this.#watchers.add(wake);
    });
  }

  get #looksUpDepth(): boolean {
    return this.#settings.depthRefreshMs > 0;
  }

  #expired<Query, Answer, Value>(request: LiteRequest<Query, Answer, Value>, bytes: Uint8Array): TernError {
    return new RequestRun(this.#context, request, bytes).expired();
  }

  #onChange(): void {
    this.#referenceSeqno = referenceSeqno(this.#servers);
    this.#wake();
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #serverMetrics(server: LiteServer): ServerMetrics {
    const { clock } = this.#modules;
    const { health, statistics, depth } = server;
    const lag = Math.max(0, this.#referenceSeqno - server.seqno);
    const state = health.state(lag, this.#settings.maxLag);
    const seconds = (ms: number | null) => (ms === null ? null : ms / 1000);
    return {
      server: server.name,
      state,
      reason: state === 'quarantined' ? health.quarantineReason : state === 'healthy' ? '' : health.problem,
      quarantine_seconds: Math.max(0, (health.quarantinedUntil - clock.now()) / 1000),
      quarantines: health.quarantines,
      requests: statistics.requests,
      answers: statistics.answers,
      errors: Object.fromEntries(statistics.errors),
      hedges: statistics.hedges,
      in_flight: server.inFlight,
      waiting: server.waiting,
      seqno: server.seqno,
      lag: health.hasHead ? lag : 0,
      seqno_age_seconds: health.hasHead ? (clock.now() - server.seqnoSince) / 1000 : null,
      rtt_mean_seconds: seconds(statistics.meanMs),
      rtt_p50_seconds: seconds(statistics.p50),
      rtt_p95_seconds: seconds(statistics.p95),
      clock_skew_seconds: server.clockSkewSeconds,
      version: server.version,
      capabilities: server.capabilities,
      oldest_block: depth.oldest('blocks'),
      oldest_state: depth.oldest('states'),
      is_archive: depth.isArchive,
    };
  }
}

/**
 * The seqno that lag is measured against: with three or more servers the newest seqno that two of them have reached, so
 * that a single server with a false claim does not make all others lag; otherwise the newest one.
 */
function referenceSeqno(servers: readonly LiteServer[]): number {
  const seqnos: number[] = [];
  for (const { health, seqno } of servers) if (health.hasHead && !health.isQuarantined) seqnos.push(seqno);
  seqnos.sort((a, b) => b - a);
  return seqnos[seqnos.length >= 3 ? 1 : 0] ?? 0;
}

function needKey(need: Need): string {
  return 'seqno' in need ? `${need.kind} ${need.seqno}` : need.kind;
}

/** Up to `count` suitable servers, best first. */
function chooseServers(context: PoolContext, wanted: ServerRequirement, count: number): LiteServer[] {
  const { servers, settings, modules, referenceSeqno } = context;
  let candidates: Candidate[] = [];
  for (const server of servers) {
    const tier = tierOf(server, wanted, { headSeqno: referenceSeqno, maxLag: settings.maxLag });
    if (tier !== null) candidates.push({ server, tier });
  }
  const chosen: LiteServer[] = [];
  while (chosen.length < count) {
    const server = chooseServer(candidates, modules.random);
    if (server === null) break;
    chosen.push(server);
    candidates = candidates.filter((each) => each.server !== server);
  }
  return chosen;
}

/**
 * Sends a query to several servers; the first verified answer is returned, the others are ignored.
 *
 * @throws lite/answer-error when no server accepts it and one states a reason; otherwise lite/unanswered
 */
function fanOut<Query, Answer, Value>(
  context: PoolContext,
  request: LiteRequest<Query, Answer, Value>,
  bytes: Uint8Array,
  servers: readonly LiteServer[],
): Promise<Value> {
  const { settings, modules, referenceSeqno } = context;
  const fn = request.fn.name;
  const startedAt = modules.clock.now();
  const tried = new TriedServers();
  const timeoutMs = request.deadlineMs ?? settings.deadlineMs;
  return new Promise((resolve, reject) => {
    let left = servers.length;
    const end = () => {
      if (--left > 0) return;
      const afterMs = Math.round(modules.clock.now() - startedAt);
      const text =
        tried.count > 0 ? tried.text() : unqueriedServersText(context.servers, referenceSeqno, settings.maxLag);
      reject(tried.refusal(fn) ?? liteErrors.unanswered({ function: fn, afterMs, tried: text }));
    };
    if (left === 0) {
      left = 1;
      end();
    }
    for (const server of servers) {
      server.query(request.fn, bytes, { timeoutMs, client: request.client, hasKey: request.hasKey }).then((outcome) => {
        if (!outcome.ok) {
          tried.add(server, outcome.failure);
          if (outcome.failure.kind === 'lied') server.quarantine(`${fn}: ${outcome.failure.text}`);
          end();
          return;
        }
        try {
          resolve(request.verify(outcome.answer));
        } catch (error) {
          if (!isTernError(error) || error.class !== 'upstream') {
            reject(error);
            return;
          }
          tried.add(server, { kind: 'lied', text: `invalid answer: ${error.message}`, error });
          server.quarantine(`${fn}: ${error.code}: ${error.message}`);
          end();
        }
      }, reject);
    }
  });
}
