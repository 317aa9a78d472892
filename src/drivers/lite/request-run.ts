import {
  ALWAYS_KEPT,
  type Candidate,
  chooseServer,
  hasRequired,
  type PoolContext,
  type ServerRequirement,
  Tier,
  tierOf,
  waitFor,
} from '#drivers/lite/choose-server.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest } from '#drivers/lite/lite-source.js';
import type { LiteServer, QueryFailure, QueryOutcome } from '#drivers/lite/server.js';
import { MAX_WAIT_MS } from '#drivers/lite/server-watch.js';
import { encodeLiteQuery } from '#formats/tl/lite-query.js';
import type { CancelSchedule } from '#kernel/clock.js';
import type { Link } from '#kernel/linked-list.js';
import type { Flight } from '#kernel/single-flight.js';
import { isTernError, type TernError } from '#kernel/tern-error.js';

/** Maximum wait of a server for the required block, when the request specifies no wait. */
const SHORT_WAIT_MS = 2_000;

/** Maximum hedged queries per request. */
const MAX_HEDGES = 2;

/** After this number of refusals the request is considered invalid. */
const ENOUGH_REFUSALS = 2;

/** Time to process received data. */
const BREATH_MS = 5;

/** A verified answer and its server. */
export interface VerifiedAnswer<Answer, Value> {
  readonly server: LiteServer;
  readonly answer: Answer;
  readonly value: Value;
  readonly bytes: number;
}

interface Settle<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Attempt {
  readonly server: LiteServer;
  readonly controller: AbortController;
  readonly since: number;
  /** Block that the server waits for first; 0 for none. */
  readonly wait: number;
}

/** One request: queries servers until one returns a valid answer. */
export class RequestRun<Query, Answer, Value> {
  readonly #context: PoolContext;
  readonly #request: LiteRequest<Query, Answer, Value>;
  /** The encoded query, without a wait. */
  readonly #bytes: Uint8Array;
  readonly #wanted: ServerRequirement;
  readonly #begun: number;
  readonly #tried = new TriedServers();
  readonly #active = new Set<Attempt>();
  /** Servers not to be queried again in this pass; and servers not to be queried again at all. */
  readonly #queried = new Set<LiteServer>();
  readonly #excluded = new Set<LiteServer>();
  /** An answer of a server that is behind, for when no other one can be queried. */
  #behind: VerifiedAnswer<Answer, Value> | null = null;
  #attempts = 0;
  #pass = 0;
  #hedges = 0;
  #refusals = 0;
  #cancelHedge: CancelSchedule = () => {};
  #cancelRetry: CancelSchedule = () => {};
  #flight: Flight | null = null;
  #settle: Settle<VerifiedAnswer<Answer, Value>> | null = null;

  constructor(context: PoolContext, request: LiteRequest<Query, Answer, Value>, bytes: Uint8Array) {
    this.#context = context;
    this.#request = request;
    this.#bytes = bytes;
    this.#wanted = { need: request.need, fn: request.fn.name, waitSeqno: request.waitSeqno ?? 0 };
    this.#begun = context.modules.clock.now();
  }

  /** @throws lite/answer-error, lite/not-available, lite/unsupported, lite/unanswered, and errors of `verify` */
  run(flight: Flight): Promise<VerifiedAnswer<Answer, Value>> {
    this.#flight = flight;
    return new Promise((resolve, reject) => {
      if (flight.signal.aborted) {
        reject(this.expired());
        return;
      }
      this.#settle = { resolve, reject };
      flight.signal.addEventListener('abort', this.#onAbort);
      this.#watching = this.#context.watchers.add(this.#onChange);
      this.#context.hedges.earn();
      this.#next();
    });
  }

  /** The error for an expired deadline. */
  expired(): TernError {
    const { clock } = this.#context.modules;
    const open = [...this.#active].map(
      ({ server, since }) => `${server.name}: no answer after ${Math.round(clock.now() - since)} ms`,
    );
    return this.#unanswered([this.#tried.text(), ...open]);
  }

  readonly #onAbort = () => this.#end((settle) => settle.reject(this.expired()));

  /** A server has changed: a suitable server may be available now, or one may have the awaited block. */
  readonly #onChange = () => {
    if (this.#settle === null) return;
    if (this.#context.isClosed) {
      this.#end((settle) => settle.reject(liteErrors.closed({ function: this.#wanted.fn })));
      return;
    }
    if (this.#active.size === 0) {
      if (this.#isIdle) this.#next();
      return;
    }
    if (this.#hedges > 0 || this.#active.size > 1) return;
    const [attempt] = this.#active;
    if (attempt !== undefined && attempt.wait > 0 && this.#pick(Tier.fits) !== null) this.#planHedge(attempt, false);
  };

  /** Its place among what is called when a server has changed. */
  #watching: Link<() => void> | null = null;

  /** Set while no suitable server is available. */
  #isIdle = false;

  /**
   * @param isGivenUp whether the caller has given up. Otherwise slower servers may still answer: their actual latency is a
   *   better measurement than the fact that others were faster
   */
  #end(react: (settle: Settle<VerifiedAnswer<Answer, Value>>) => void, isGivenUp = true): void {
    const settle = this.#settle;
    if (settle === null) return;
    this.#settle = null;
    this.#flight?.signal.removeEventListener('abort', this.#onAbort);
    this.#context.watchers.remove(this.#watching);
    this.#cancelHedge();
    this.#cancelRetry();
    for (const attempt of this.#active) if (isGivenUp || attempt.wait > 0) attempt.controller.abort();
    react(settle);
  }

  /** The best server not yet queried, of this tier or a better one. */
  #pick(worst: number): LiteServer | null {
    const { servers, settings, modules, referenceSeqno } = this.#context;
    const standing = { headSeqno: referenceSeqno, maxLag: settings.maxLag };
    const candidates: Candidate[] = [];
    // Data of unknown age that a server does not have is likely to be old.
    const isOld = this.#wanted.need.kind === 'head' && this.#tried.some('missing');
    const wanted: ServerRequirement = isOld ? { ...this.#wanted, need: { kind: 'archive' } } : this.#wanted;
    for (const server of servers) {
      if (this.#queried.has(server) || this.#excluded.has(server)) continue;
      const tier = tierOf(server, wanted, standing);
      if (tier !== null && tier <= worst && !this.#isActive(server)) candidates.push({ server, tier });
    }
    return chooseServer(candidates, modules.random);
  }

  #isActive(server: LiteServer): boolean {
    for (const attempt of this.#active) if (attempt.server === server) return true;
    return false;
  }

  #next(): void {
    if (this.#settle === null) return;
    this.#isIdle = false;
    const isExhausted = this.#attempts >= this.#context.settings.maxAttempts;
    // Servers that should not have the data are queried only when no other server has reported it missing.
    const isReportedMissing = this.#wanted.need.kind !== 'head' && this.#tried.some('missing');
    const worst = this.#refusals > 0 ? Tier.lagging : isReportedMissing ? Tier.failing : Tier.lacks;
    const server = isExhausted ? null : this.#pick(worst);
    if (server === null) this.#noServer(isExhausted);
    else this.#query(server);
  }

  #query(server: LiteServer): void {
    const { clock } = this.#context.modules;
    const { fn, query, client, hasKey, isUrgent } = this.#request;
    const wait = waitFor(server, this.#wanted);
    const now = clock.now();
    const attempt: Attempt = { server, controller: new AbortController(), since: now, wait };
    let { attemptTimeoutMs: timeoutMs } = this.#context.settings;
    let bytes = this.#bytes;
    if (wait > 0) {
      const limit = this.#wanted.waitSeqno > 0 ? MAX_WAIT_MS : SHORT_WAIT_MS;
      const left = (this.#flight?.until ?? now) - now;
      const timeout_ms = Math.max(1, Math.floor(Math.min(limit, left)));
      bytes = encodeLiteQuery(fn, query, { seqno: wait, timeout_ms });
      timeoutMs += timeout_ms;
    }
    this.#attempts++;
    this.#active.add(attempt);
    const { signal } = attempt.controller;
    server.query(fn, bytes, { timeoutMs, signal, waits: wait > 0, client, hasKey, isUrgent }).then(
      (outcome) => this.#onOutcome(attempt, outcome),
      (error) => this.#end((settle) => settle.reject(error)),
    );
    if (this.#hedges === 0 && wait === 0) this.#planHedge(attempt, true);
  }

  /** @param mayBeSlow whether the delay is the server's own latency */
  #planHedge({ server }: Attempt, mayBeSlow: boolean): void {
    const { hedgeDefaultMs, hedgeMinMs } = this.#context.settings;
    const p95 = server.statistics.p95Of(this.#wanted.fn) ?? (mayBeSlow ? hedgeDefaultMs : hedgeMinMs);
    this.#scheduleHedge(Math.max(p95, hedgeMinMs), 0);
  }

  /** @param looks number of earlier checks for a hedged query; the delay doubles each time */
  #scheduleHedge(delayMs: number, checks: number): void {
    const { clock } = this.#context.modules;
    const due = clock.now() + delayMs;
    this.#cancelHedge();
    this.#cancelHedge = clock.schedule(delayMs, () => {
      // This process was busy: the answer may have arrived but not been processed.
      const isLate = clock.now() - due > delayMs / 2;
      if (isLate) this.#scheduleHedge(Math.min(delayMs, BREATH_MS), checks);
      else this.#hedge(delayMs, checks);
    });
  }

  /** Queries another server because an answer takes longer than usual. */
  #hedge(delayMs: number, checks: number): void {
    const { hedges, settings } = this.#context;
    if (this.#settle === null || this.#active.size === 0 || this.#attempts >= settings.maxAttempts) return;
    const server = this.#pick(Tier.lagging);
    if (server !== null && hedges.take(checks > 0)) {
      this.#hedges++;
      server.statistics.hedges++;
      this.#query(server);
    }
    if (this.#hedges < MAX_HEDGES) this.#scheduleHedge(delayMs * 2, checks + 1);
  }

  #onOutcome(attempt: Attempt, outcome: QueryOutcome<Answer>): void {
    this.#active.delete(attempt);
    if (this.#settle === null) return;
    if (outcome.ok) this.#onAnswer(attempt.server, outcome.answer, outcome.bytes);
    else this.#onFailure(attempt, outcome.failure);
  }

  #onAnswer(server: LiteServer, answer: Answer, bytes: number): void {
    const prepared = this.#request.prepare?.(answer);
    if (prepared === undefined) {
      this.#verify(server, answer, bytes);
      return;
    }
    prepared.then(
      () => this.#verify(server, answer, bytes),
      (error) => this.#end((settle) => settle.reject(error)),
    );
  }

  #verify(server: LiteServer, answer: Answer, bytes: number): void {
    if (this.#settle === null) return;
    let value: Value;
    try {
      value = this.#request.verify(answer);
    } catch (error) {
      if (!isTernError(error) || error.class !== 'upstream') {
        this.#end((settle) => settle.reject(error));
        return;
      }
      this.#lied(server, { kind: 'lied', text: `invalid answer: ${error.message}`, error });
      return;
    }
    if (this.#isBehind(server, value)) {
      this.#excluded.add(server);
      this.#behind ??= { server, answer, value, bytes };
      if (this.#active.size === 0) this.#next();
      return;
    }
    this.#recordHistory(server);
    for (const other of this.#tried.refused()) other.recordContradiction();
    this.#end((settle) => settle.resolve({ server, answer, value, bytes }), false);
  }

  /** Whether a server has shown to be further behind than it claims: a node that is out of sync knows newer blocks than it has. */
  #isBehind(server: LiteServer, value: Value): boolean {
    const head = this.#request.headOf?.(value) ?? null;
    const { settings, referenceSeqno } = this.#context;
    const claimed = Math.min(server.seqno, referenceSeqno) - settings.maxLag;
    return head !== null && head < Math.max(this.#wanted.waitSeqno, claimed);
  }

  #lied(server: LiteServer, failure: QueryFailure): void {
    this.#tried.add(server, failure);
    this.#excluded.add(server);
    server.quarantine(`${this.#wanted.fn}: ${failure.error?.code ?? ''}: ${failure.error?.message ?? failure.text}`);
    if (this.#active.size === 0) this.#next();
  }

  #onFailure({ server, since, wait }: Attempt, failure: QueryFailure): void {
    const { kind } = failure;
    if (kind === 'refused') {
      this.#refused(server, failure);
      return;
    }
    if (kind === 'lied') {
      this.#lied(server, failure);
      return;
    }
    if (kind === 'expired' && wait > 0 && wait === this.#wanted.waitSeqno) {
      // Continue the wait with the best server, but not immediately if the server did not actually wait.
      this.#attempts--;
      if (this.#active.size > 0) return;
      const waited = this.#context.modules.clock.now() - since;
      if (waited < this.#context.settings.retryDelayMs) this.#retryLater();
      else this.#next();
      return;
    }
    this.#tried.add(server, failure);
    if (kind === 'missing' || kind === 'unsupported' || kind === 'expired') this.#excluded.add(server);
    else this.#queried.add(server);
    if (this.#active.size === 0) this.#next();
  }

  /** A single refusal is not conclusive: the server may lag or be faulty. */
  #refused(server: LiteServer, failure: QueryFailure): void {
    this.#tried.add(server, failure);
    this.#excluded.add(server);
    this.#refusals++;
    if (failure.error !== undefined || this.#refusals === ENOUGH_REFUSALS) {
      this.#end((settle) => settle.reject(this.#conclusion()));
    } else if (this.#active.size === 0) {
      this.#next();
    }
  }

  /** All servers were queried, or none can be. */
  #noServer(isExhausted: boolean): void {
    const { settings } = this.#context;
    const behind = this.#behind;
    if (behind !== null) this.#end((settle) => settle.resolve(behind), false);
    else if (isExhausted || this.#refusals > 0 || (this.#queried.size > 0 && this.#pass + 1 >= settings.maxRounds)) {
      this.#end((settle) => settle.reject(this.#conclusion()));
    } else if (this.#queried.size > 0) {
      this.#pass++;
      this.#retryLater();
    } else if (this.#mayCome()) {
      this.#isIdle = true;
    } else {
      this.#end((settle) => settle.reject(this.#conclusion()));
    }
  }

  #retryLater(): void {
    const { settings, modules } = this.#context;
    const delay = settings.retryDelayMs * 2 ** Math.max(0, this.#pass - 1) * (0.5 + modules.random());
    this.#cancelRetry = modules.clock.schedule(delay, () => {
      this.#queried.clear();
      this.#next();
    });
  }

  /** Whether a currently unavailable server may have the answer, so that waiting makes sense. */
  #mayCome(): boolean {
    const { clock } = this.#context.modules;
    const until = this.#flight?.until ?? 0;
    for (const server of this.#context.servers) {
      if (this.#excluded.has(server) || server.unsupported.has(this.#wanted.fn)) continue;
      if (server.health.isQuarantined && server.health.quarantinedUntil > until) continue;
      if (clock.now() >= until) return false;
      // When others reported the data missing, only wait for a server known to have it.
      if (!this.#tried.some('missing') || hasRequired(server, this.#wanted.need) === 'yes') return true;
    }
    return false;
  }

  #conclusion(): TernError {
    const { fn } = this.#wanted;
    const tried = this.#tried;
    const refusal = tried.refusal(fn);
    if (refusal !== null) return refusal;
    const isFault = tried.some('failed', 'lied', 'busy', 'dropped');
    if (!isFault && tried.some('missing', 'not-ready', 'expired')) {
      return liteErrors['not-available']({ function: fn, tried: tried.text() });
    }
    const unsupporting = this.#context.servers.filter(({ unsupported }) => unsupported.has(fn));
    if (!isFault && unsupporting.length > 0) {
      const text = unsupporting.map(({ name }) => name).join(', ');
      return liteErrors.unsupported({ function: fn, tried: text });
    }
    return this.#unanswered([tried.text()]);
  }

  #unanswered(parts: readonly string[]): TernError {
    const { servers, settings, modules, referenceSeqno } = this.#context;
    const afterMs = Math.round(modules.clock.now() - this.#begun);
    const failures = parts.filter((part) => part !== '').join('; ');
    const tried = failures === '' ? unqueriedServersText(servers, referenceSeqno, settings.maxLag) : failures;
    return liteErrors.unanswered({ function: this.#wanted.fn, afterMs, tried });
  }

  /** An answer proves that the data exists: servers that reported it missing lack it. */
  #recordHistory(server: LiteServer): void {
    const { need } = this.#wanted;
    if (need.kind !== 'state' && need.kind !== 'block') return;
    const history = need.kind === 'state' ? 'states' : 'blocks';
    if (need.seqno < 1) return;
    server.depth.noteAvailable(history, need.seqno);
    for (const other of this.#tried.missing()) {
      // A new block that is missing tells that the server is late, not how far back it goes.
      if (need.seqno <= other.seqno - ALWAYS_KEPT) other.depth.noteMissing(history, need.seqno);
    }
  }
}

/** Maximum length of the list of failures. */
const MAX_TEXT = 2_000;

/** The servers that a request has queried, with their failures. */
export class TriedServers {
  readonly #failures: { readonly server: LiteServer; readonly failure: QueryFailure }[] = [];

  get count(): number {
    return this.#failures.length;
  }

  add(server: LiteServer, failure: QueryFailure): void {
    this.#failures.push({ server, failure });
  }

  /** Whether a server failed in one of these ways. */
  some(...kinds: readonly QueryFailure['kind'][]): boolean {
    return this.#failures.some(({ failure }) => kinds.includes(failure.kind));
  }

  /** Servers that reported the data missing. */
  *missing(): Iterable<LiteServer> {
    for (const { server, failure } of this.#failures) if (failure.kind === 'missing') yield server;
  }

  /** Servers that refused the request. */
  *refused(): Iterable<LiteServer> {
    for (const { server, failure } of this.#failures) if (failure.kind === 'refused') yield server;
  }

  /** The first refusal as an error; null when there is none. */
  refusal(fn: string): TernError | null {
    for (const { server, failure } of this.#failures)
      if (failure.kind === 'refused') return refusalError(server, fn, failure);
    return null;
  }

  /** Each distinct failure of each server: `1.2.3.4:5: error 651: not in db; …`. */
  text(): string {
    const parts = new Map<string, number>();
    for (const { server, failure } of this.#failures) {
      const part = `${server.name}: ${failure.text}`;
      parts.set(part, (parts.get(part) ?? 0) + 1);
    }
    const all = [...parts].map(([part, times]) => (times === 1 ? part : `${part} (${times} times)`)).join('; ');
    return all.length > MAX_TEXT ? `${all.slice(0, MAX_TEXT)}…` : all;
  }
}

/** The refusal of a server as an error. */
function refusalError(server: LiteServer, fn: string, { code = 0, text, error }: QueryFailure): TernError {
  if (error !== undefined) return error;
  const failures = text.replace(/^error -?\d+: /, '');
  return liteErrors['answer-error']({ server: server.name, function: fn, code, text: failures });
}

/** The servers that were not queried, with the reasons. */
export function unqueriedServersText(servers: readonly LiteServer[], headSeqno: number, maxLag: number): string {
  const parts = servers.map((server) => {
    const { health } = server;
    const state = health.state(headSeqno - server.seqno, maxLag);
    const reason = state === 'quarantined' ? health.quarantineReason : health.problem;
    return `${server.name}: not queried, ${state}${reason === '' ? '' : ` (${reason})`}`;
  });
  const all = parts.join('; ');
  return all.length > MAX_TEXT ? `${all.slice(0, MAX_TEXT)}…` : all;
}
