import { type ServerResponse, validateHeaderValue } from 'node:http';
import type { TObject } from '@sinclair/typebox';
import { styleOf } from '#api/http/api-style.js';
import { type AnyEndpoint, type Freshness, JsonText, type RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type HeldAnswers, noRoom } from '#api/http/held-answers.js';
import type {
  AnyHttpApi,
  ApiRequest,
  CallThreads,
  HttpNetwork,
  Profile,
  RequestClient,
  ThreadAnswer,
} from '#api/http/http-api.js';
import { FreshnessWaits } from '#api/http/min-seqno.js';
import {
  compileParameters,
  compileSwitches,
  type ParameterReader,
  type ParameterSource,
  type ReadSwitches,
  type RequestSwitches,
  type TakeSwitches,
} from '#api/http/parameters.js';
import {
  type CurrentHead,
  EndpointResult,
  parametersKey,
  type RenameTypes,
  ResponseCache,
  typeRenamer,
} from '#api/http/response-cache.js';
import {
  cachedPrice,
  priceOf,
  type WorkPermit,
  type WorkPlace,
  WorkQueue,
  type WorkSettings,
  workDone,
} from '#api/http/work-queue.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { type Flight, SingleFlight } from '#kernel/single-flight.js';
import type { WorkBudget, WorkDecision } from '#services/access/access.js';

/**
 * How much longer than its deadline a read may take, so that its own error, which says what was queried and what happened,
 * comes before the general one.
 */
const GRACE_MS = 250;

/** Watches one request: whether its client is still connected, and its deadline. */
export class RequestWatch {
  readonly #response: ServerResponse;
  readonly #controller = sharedAbortController();
  readonly #onClose = () => {
    if (!this.#response.writableFinished) this.#controller.abort(httpErrors['client-left']({}));
  };

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', this.#onClose);
    if (response.destroyed) this.#onClose();
  }

  /** Aborted when the client has disconnected, and by `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param until time of the clock */
  deadline(deadlineMs: number, until: number): Deadline {
    return {
      until: until + GRACE_MS,
      signal: this.signal,
      expired: () => httpErrors.deadline({ ms: deadlineMs }),
      aborted: () => httpErrors['client-left']({}),
    };
  }

  /** Calls when the response is written or its connection is closed, at once when it is. */
  onClosed(run: () => void): void {
    if (this.#response.destroyed) run();
    else this.#response.once('close', run);
  }

  /** Aborts the work that is done for this request alone. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  end(): void {
    this.#response.off('close', this.#onClose);
  }
}

/** A compiled endpoint. */
export interface CompiledEndpoint {
  readonly endpoint: AnyEndpoint<never>;
  readonly parameters: ParameterReader;
  /** HTTP verbs. */
  readonly methods: readonly string[];
  readonly network: HttpNetwork;
  readonly api: AnyHttpApi;
  readonly rename: RenameTypes;
  /** Prefix of the cache keys of its results. */
  readonly key: string;
  /** Whether its results are ever cached. */
  readonly keeps: boolean;
}

/** A compiled API. */
export interface CompiledApi {
  readonly api: AnyHttpApi;
  readonly takeSwitches: TakeSwitches;
  /** Their names in a query. */
  readonly switchNames: ReadonlySet<string>;
  /** Null: no such endpoint. */
  find(name: string): CompiledEndpoint | null;
}

/** @throws http/bad-endpoint */
export function compileApi(network: HttpNetwork, api: AnyHttpApi): CompiledApi {
  const { query, hasLenientPaths } = styleOf(api);
  const byName = compileEndpoints(network, api);
  const switches: RequestSwitches = api.switches ?? {};
  const keyOf = hasLenientPaths ? (name: string) => name.toLowerCase() : (name: string) => name;
  return {
    api,
    takeSwitches: compileSwitches(switches, query),
    switchNames: new Set(Object.values(switches).flatMap(({ query: name }) => (name === undefined ? [] : [name]))),
    find: (name) => byName.get(keyOf(name)) ?? null,
  };
}

/** All endpoints by name, aliases included; in lower case where names are case-insensitive. */
function compileEndpoints(network: HttpNetwork, api: AnyHttpApi): ReadonlyMap<string, CompiledEndpoint> {
  const { query, hasLenientPaths } = styleOf(api);
  const rename = typeRenamer(api.typeNames ?? {});
  const byName = new Map<string, CompiledEndpoint>();
  for (const endpoint of api.endpoints as readonly AnyEndpoint<never>[]) {
    checkNames(endpoint, api);
    const compiled: CompiledEndpoint = {
      endpoint,
      parameters: compileParameters(endpoint, query),
      methods: hasLenientPaths
        ? endpoint.verbs.flatMap((verb) => (verb === 'GET' ? ['GET', 'HEAD'] : verb))
        : endpoint.verbs,
      network,
      api,
      rename,
      key: `${network.name} ${api.prefix}/${endpoint.name}`,
      keeps: endpoint.freshness !== 'none',
    };
    for (const given of [endpoint.name, ...(endpoint.aliases ?? [])]) {
      const name = hasLenientPaths ? given.toLowerCase() : given;
      if (byName.has(name)) throw httpErrors['bad-endpoint']({ endpoint: name, problem: 'the name is used twice' });
      byName.set(name, compiled);
    }
  }
  return byName;
}

/** Refuses names of parameters that no request could give, or that are ambiguous. */
function checkNames({ name: endpoint, params }: AnyEndpoint<never>, api: AnyHttpApi): void {
  const { query } = styleOf(api);
  const switches = Object.values((api.switches ?? {}) as RequestSwitches).map(({ query: name }) => name);
  for (const name of [...Object.keys((params as TObject).properties), ...switches]) {
    if (name === undefined || query.nameOf(name) === name) continue;
    throw httpErrors['bad-endpoint']({ endpoint, problem: `the parameter ${name} must be in lower case` });
  }
  const twice = switches.find((name) => name !== undefined && Object.hasOwn((params as TObject).properties, name));
  if (twice === undefined) return;
  throw httpErrors['bad-endpoint']({ endpoint, problem: `the parameter ${twice} is also a switch of the API` });
}

/** One call of an endpoint. */
export interface EndpointCall {
  readonly endpoint: CompiledEndpoint;
  readonly raw: RawParameters;
  readonly source: ParameterSource;
  readonly profile: Profile;
  readonly switches: ReadSwitches;
  /** The private group of liteservers; null: none. */
  readonly group: string | null;
  /** Who shares the process with others. */
  readonly client: string;
  readonly hasKey: boolean;
  readonly work: WorkBudget;
  /** Counts work units for the place of the client among those that wait; negative: less than was counted before. */
  readonly charge: (units: number) => void;
  /** The masterchain seqno that the answer has to include; null: any. */
  readonly minSeqno: number | null;
  /** Milliseconds for which the request has waited for that. */
  readonly waitedMs: number;
}

export interface CallOutcome {
  readonly result: EndpointResult;
  readonly isCached: boolean;
}

interface CallSettings extends WorkSettings {
  readonly cacheBytes: number;
  readonly headCacheMs: number;
  readonly deadlineMs: number;
  readonly maxConcurrent: number;
}

/** Calls under way from which on other threads help with smaller ones. */
const BUSY_FROM = 3;

/**
 * What a call that is queued elsewhere takes of this thread before its result is sent, in work units: the account state that get-methods and
 * emulation begin with is read and verified here. (A list of `threads` counts as a whole: it is large, and sent here.)
 */
const MOST_HERE = 3;

/** What they have not answered so soon is answered here as well: they go behind this thread where processors are scarce. */
const HELP_MS = 250;

/** Thrown by `ApiRequest.foresee`: the call is for another thread. */
class ForAnotherThread extends Error {
  /** Of what remains to be done. */
  readonly price: number;

  constructor(price: number) {
    super();
    this.price = price;
  }
}

/** Calls endpoints: from the cache, coalesced with an identical call in flight, or by new work. */
export class EndpointCalls {
  readonly cache: ResponseCache;
  readonly #settings: CallSettings;
  readonly #clock: Clock;
  readonly #held: HeldAnswers;
  readonly #flights: SingleFlight<EndpointResult>;
  readonly #onWork: (endpoint: CompiledEndpoint, units: number) => void;
  readonly queue: WorkQueue;
  /** Calls that wait for a block. */
  readonly fresh: FreshnessWaits;
  /** Results that are not kept: something could not be read then. */
  readonly #notKept = new WeakSet<EndpointResult>();
  #inFlight = 0;

  /**
   * @param held no call goes to another thread while they are full
   * @param onWork called with the work that each call did, in work units
   */
  constructor(
    settings: CallSettings,
    clock: Clock,
    held: HeldAnswers,
    onWork: (endpoint: CompiledEndpoint, units: number) => void = () => {},
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#held = held;
    this.#onWork = onWork;
    this.cache = new ResponseCache(settings.cacheBytes, settings.headCacheMs, clock);
    this.queue = new WorkQueue(settings, clock);
    this.fresh = new FreshnessWaits(clock);
    this.#flights = new SingleFlight(clock);
  }

  /** Calls in progress; coalesced ones count each. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Large answers that clients have not received yet. */
  get heldBytes(): number {
    return this.#held.bytes;
  }

  /** Calls that were coalesced with an identical one. */
  get joined(): number {
    return this.#flights.joined;
  }

  /** The cache key of a call; null when its result is not cached. */
  keyOf({ endpoint, raw, source, profile, switches, group }: EndpointCall): string | null {
    if (!endpoint.keeps || this.#settings.cacheBytes === 0) return null;
    let { key } = endpoint;
    if (endpoint.api.profiles === 'separate') key += ` ${profile}`;
    if (group !== null) key += ` ${group.length},${group}`;
    const epoch = endpoint.network.epoch?.() ?? 0;
    if (epoch !== 0) key += ` #${epoch}`;
    if (switches.given !== null) key += ` ${parametersKey(switches.given, 'query')}`;
    return key + parametersKey(raw, source);
  }

  /**
   * The cached result of a call; undefined: there is none, or its price has to be waited for: then `run` finds it.
   *
   * @throws http/work-limit
   */
  kept(call: EndpointCall, key: string): EndpointResult | undefined {
    const result = this.cache.get(key, new HeadOfCall(call));
    if (result === undefined || !isFreshEnough(result, call)) return undefined;
    const price = cachedPrice(result.length);
    if (price > this.#settings.smallWork) return undefined;
    const decision = call.work.take(price);
    if (decision instanceof Promise) return undefined;
    refuseLimited(decision);
    call.charge(price);
    this.#settle(call, price, price);
    return result;
  }

  /**
   * Waits until the data are as fresh as a call wants.
   *
   * @returns undefined when they are; else a promise of the milliseconds that it took
   * @throws http/not-fresh, http/overloaded, http/client-left
   */
  untilFresh(call: EndpointCall, seqno: number, watch: RequestWatch): Promise<number> | undefined {
    const began = this.#clock.now();
    const { group, client } = call;
    const { api } = call.endpoint;
    const until = began + this.#deadlineOf(call);
    const waiting = this.fresh.wait({ api, group, seqno, until, client, signal: watch.signal });
    return waiting?.then(() => this.#clock.now() - began);
  }

  /**
   * Checks the parameters, takes the price of the call, waits until there is room for it, and calls the endpoint.
   *
   * @param key of {@link EndpointCalls.keyOf}
   * @throws http/bad-parameter, http/unknown-parameter, http/work-limit, http/overloaded, http/deadline, http/client-left, and
   * what the endpoint throws
   */
  async run(call: EndpointCall, key: string | null, watch: RequestWatch): Promise<CallOutcome> {
    const { endpoint } = call.endpoint;
    const { parameters } = call.endpoint;
    let given: { readonly params: never } | null = { params: parameters.read(call.raw, call.source) };
    const cached = this.#cached(call, key);
    const price = cached === undefined ? priceOf(endpoint, given.params, call.profile) : cachedPrice(cached.length);
    const deadlineMs = this.#deadlineOf(call);
    const until = this.#clock.now() + deadlineMs;
    const decision = call.work.take(price);
    refuseLimited(decision instanceof Promise ? await decision : decision);
    const place = cached === undefined ? placeOf(call.endpoint, price) : 'cached';
    const charged = place === 'queued-elsewhere' ? Math.min(price, MOST_HERE) : price;
    call.charge(charged);
    let done = 0;
    let sent = 0;
    let permit: WorkPermit | null = null;
    try {
      const entered = this.queue.enter(call.client, price, { until, signal: watch.signal }, place);
      // Values of parameters take several times as much memory as their text.
      if (entered instanceof Promise) given = null;
      permit = entered instanceof Promise ? await entered : entered;
      watch.onClosed(permit.closed);
      // While it waited, the result may have come from another call.
      const kept = cached ?? (entered instanceof Promise ? this.#cached(call, key) : undefined);
      if (kept !== undefined) {
        done = cachedPrice(kept.length);
        return { result: kept, isCached: true };
      }
      if (this.#inFlight >= this.#settings.maxConcurrent) {
        throw httpErrors.overloaded({ limit: `${this.#inFlight} requests are in progress` });
      }
      done = price;
      const { params } = given ?? { params: parameters.read(call.raw, call.source) };
      const result = await this.#work(call, params, key, watch, watch.deadline(deadlineMs, until));
      done = workDone(endpoint, params, call.profile, result);
      sent = cachedPrice(result.length);
      return { result, isCached: false };
    } finally {
      permit?.done();
      this.#settle(call, price, done);
      const more = (place === 'queued-elsewhere' ? Math.min(done, MOST_HERE + sent) : done) - charged;
      if (more !== 0) call.charge(more);
    }
  }

  #cached(call: EndpointCall, key: string | null): EndpointResult | undefined {
    const result = key === null ? undefined : this.cache.get(key, new HeadOfCall(call), false);
    return result !== undefined && isFreshEnough(result, call) ? result : undefined;
  }

  #clientOf(call: EndpointCall): RequestClient {
    const onTvmCost: RequestClient['onTvmCost'] = ({ gas, cpuMs }) => {
      // The gas of a result is part of the work that its endpoint reports.
      if (gas === 0) this.#settle(call, 0, cpuMs);
    };
    return { id: call.client, hasKey: call.hasKey, onTvmCost };
  }

  #settle(call: EndpointCall, taken: number, done: number): void {
    call.work.settle(taken, done);
    this.#onWork(call.endpoint, done);
  }

  async #work(
    call: EndpointCall,
    params: never,
    key: string | null,
    watch: RequestWatch,
    deadline: Deadline,
  ): Promise<EndpointResult> {
    this.#inFlight++;
    try {
      const freshness = freshnessOf(call.endpoint.endpoint, params);
      if (key === null || freshness === 'none') {
        return await withDeadline(this.#handle(call, params, freshness, watch.signal), deadline, this.#clock);
      }
      // Known before anything is read: a change that is seen later is one of what was read.
      const head = freshness === 'forever' ? null : new HeadOfCall(call);
      const headSeqno = head?.seqno ?? null;
      const stale = head === null ? undefined : this.cache.withOldTail(key, head);
      const work = async ({ signal }: Pick<Flight, 'signal'>) => {
        const result = await this.#handle(call, params, freshness, signal, stale);
        if (!this.#notKept.has(result)) this.cache.set(key, result, headSeqno);
        return result;
      };
      const result = await this.#flights.do(headSeqno === null ? key : `${headSeqno} ${key}`, work, deadline);
      if (isFreshEnough(result, call)) return result;
      // It was begun before the wanted block was known.
      return await withDeadline(work({ signal: watch.signal }), deadline, this.#clock);
    } catch (error) {
      watch.stop(error);
      throw error;
    } finally {
      this.#inFlight--;
    }
  }

  /** The deadline of the server or of the endpoint, or that of the request if it is shorter. */
  #deadlineOf({ endpoint: { api, endpoint }, switches, waitedMs }: EndpointCall): number {
    const granted = api.deadlineMs?.(switches.values) ?? null;
    const most = Math.max(this.#settings.deadlineMs, endpoint.deadlineMs ?? 0);
    const whole = granted === null ? most : Math.max(1, Math.min(granted, most));
    return Math.max(LEAST_MS, whole - waitedMs);
  }

  /** @param stale an earlier result of which only the tail is written anew */
  async #handle(
    call: EndpointCall,
    params: never,
    freshness: Freshness,
    signal: AbortSignal,
    stale?: EndpointResult,
  ): Promise<EndpointResult> {
    const { endpoint, api, rename } = call.endpoint;
    const { threads } = api;
    const headers = new Map<string, string>();
    let worked = 0;
    let isKept = true;
    const finished = (result: EndpointResult): EndpointResult => {
      if (!isKept) this.#notKept.add(result);
      return result;
    };
    const named: string[] = [];
    const mcSeqno = freshness === 'forever' ? null : (api.freshness?.(call.group).mcSeqno ?? null);
    const request: ApiRequest = {
      read: { signal, deadlineMs: this.#deadlineOf(call), client: this.#clientOf(call) },
      profile: api.profiles === 'separate' ? call.profile : 'spec',
      switches: call.switches.values,
      group: call.group,
      header: (name, value) => {
        validateHeaderValue(name, value);
        headers.set(name, value);
      },
      worked: (units) => {
        worked += units;
      },
      dependsOn: (key) => void named.push(key),
      notKept: () => {
        isKept = false;
      },
      foresee: (price) => {
        if (threads?.takes(endpoint.name, price)) throw new ForAnotherThread(price);
      },
    };
    if (stale !== undefined) {
      const { text, keys } = await api.writeTail!(stale.tail!.source as never, api.context(request) as never);
      const renewed = stale.withTail(text, keys, mcSeqno);
      renewed.headers = [...stale.headers.filter(([name]) => !headers.has(name)), ...headers];
      return finished(renewed);
    }
    const keysWith = (more: readonly string[]) => {
      const keys = endpoint.depends?.(params) ?? null;
      return keys && [...keys, ...more];
    };
    const finishedThere = (answer: ThreadAnswer) => {
      const { bytes, headers, worked: workedThere, keys = [], tail = null } = answer;
      if (!answer.isKept) isKept = false;
      return finished(new EndpointResult(bytes, headers, rename, mcSeqno, workedThere, { keys: keysWith(keys), tail }));
    };
    const price = priceOf(endpoint, params, request.profile);
    const mayHelp = this.#inFlight >= BUSY_FROM && !this.#held.isFull;
    if (threads?.takes(endpoint.name, price)) return finishedThere(await this.#onThread(call, request, price));
    if (mayHelp && threads?.helps(endpoint.name, price)) {
      const answer = await this.#withHelp(call, request, price);
      if (answer !== null) return finishedThere(answer);
    }
    try {
      const value: unknown = await endpoint.handle(params, api.context(request) as never);
      const json = value instanceof JsonText ? value.json : (JSON.stringify(value) ?? 'null');
      const holds = { keys: keysWith(named), tail: value instanceof JsonText ? value.tail : null };
      return finished(new EndpointResult(json, [...headers], rename, mcSeqno, worked, holds));
    } catch (error) {
      if (error instanceof ForAnotherThread) return finishedThere(await this.#onThread(call, request, error.price));
      throw error;
    }
  }

  /** @returns null: no thread has answered within {@link HELP_MS} @throws as {@link EndpointCalls.#onThread} */
  async #withHelp(call: EndpointCall, request: ApiRequest, price: number): Promise<ThreadAnswer | null> {
    let cancel: CancelSchedule = () => {};
    const calledOff = new AbortController();
    const late = new Promise<null>((resolve) => {
      cancel = this.#clock.schedule(HELP_MS, () => {
        // Before the call is cancelled, whose error would otherwise be taken for its answer.
        resolve(null);
        calledOff.abort();
      });
    });
    const answering = this.#onThread(call, request, price, calledOff.signal);
    answering.catch(() => {});
    try {
      return await Promise.race([answering, late]);
    } finally {
      cancel();
    }
  }

  /** @throws http/overloaded, and as {@link CallThreads.answer} */
  async #onThread(
    { endpoint, raw, source, client }: EndpointCall,
    request: ApiRequest,
    price: number,
    late?: AbortSignal,
  ): Promise<ThreadAnswer> {
    if (!this.#held.makeRoom()) throw noRoom(this.#held);
    const { read, profile, switches } = request;
    const call = { endpoint: endpoint.endpoint.name, raw, source, profile, switches, deadlineMs: read.deadlineMs };
    return (endpoint.api.threads as CallThreads).answer(call, {
      signal: read.signal,
      client,
      price,
      ...(late && { late }),
    });
  }
}

/** Where the result of a call of this price is made. */
function placeOf({ endpoint, api }: CompiledEndpoint, price: number): WorkPlace {
  if (endpoint.isQueuedElsewhere === true) return 'queued-elsewhere';
  return api.threads?.takes(endpoint.name, price) ? 'threads' : 'here';
}

/** @throws http/work-limit */
export function refuseLimited(decision: WorkDecision): void {
  if (decision.kind === 'allowed') return;
  const retryAfterSeconds = Math.max(1, Math.ceil(decision.retryAfterMs / 1000));
  throw httpErrors['work-limit']({ limit: decision.limit, retryAfterSeconds });
}

/** What is valid for ever includes any block. */
function isFreshEnough({ mcSeqno }: EndpointResult, { minSeqno }: EndpointCall): boolean {
  return minSeqno === null || mcSeqno === null || mcSeqno >= minSeqno;
}

/** A call that has waited for a block has so long left at least. */
const LEAST_MS = 1;

/** What cached results of a call are compared with. */
class HeadOfCall implements CurrentHead {
  readonly seqno: number;
  readonly changes: CurrentHead['changes'];
  readonly keptHeaders: CurrentHead['keptHeaders'];
  readonly #api: AnyHttpApi;
  readonly #group: string | null;

  constructor({ endpoint: { api, network, endpoint }, group }: Pick<EndpointCall, 'endpoint' | 'group'>) {
    const own = api.headSeqno?.();
    // Both only grow: their sum changes with either.
    if (own === undefined) this.seqno = network.headSeqno();
    else this.seqno = endpoint.readsChain === true ? own + network.headSeqno() : own;
    this.changes = api.changes;
    this.keptHeaders = api.keptHeaders;
    this.#api = api;
    this.#group = group;
  }

  /** Seldom wanted, and found by going through all liteservers. */
  get mcSeqno(): number | null {
    return this.#api.freshness?.(this.#group).mcSeqno ?? null;
  }
}

function freshnessOf(endpoint: AnyEndpoint<never>, params: never): Freshness {
  return typeof endpoint.freshness === 'function' ? endpoint.freshness(params) : endpoint.freshness;
}
