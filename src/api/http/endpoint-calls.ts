import { validateHeaderValue } from 'node:http';
import type { TObject } from '@sinclair/typebox';
import type { AnyEndpoint, Freshness } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import { JsonText } from '#api/http/json-text.js';
import type { ParameterSource } from '#api/http/parameter-coercion.js';
import { compileParameters, type ParameterReader } from '#api/http/parameters.js';
import { type RenameTypes, typeRenamer } from '#api/http/profile.js';
import type { RawParameters } from '#api/http/query-string.js';
import {
  compileSwitches,
  type ReadSwitches,
  type RequestSwitches,
  type TakeSwitches,
} from '#api/http/request-switches.js';
import type { RequestWatch } from '#api/http/request-watch.js';
import { parametersKey, ResponseCache, Result } from '#api/http/response-cache.js';
import { styleOf } from '#api/http/styles.js';
import { type Flight, SingleFlight } from '#kernel/async/single-flight.js';
import { waitUntil } from '#kernel/async/wait-until.js';
import type { Clock } from '#kernel/clock/clock.js';

/** An endpoint, ready to be called. */
export interface CompiledEndpoint {
  readonly endpoint: AnyEndpoint<never>;
  readonly parameters: ParameterReader;
  /** Methods of HTTP. */
  readonly methods: readonly string[];
  readonly network: HttpNetwork;
  readonly api: AnyHttpApi;
  readonly rename: RenameTypes;
  /** Begins the keys of its kept results. */
  readonly key: string;
  /** Whether its results are ever kept. */
  readonly keeps: boolean;
}

/** An API, ready to be called. */
export interface CompiledApi {
  readonly api: AnyHttpApi;
  readonly takeSwitches: TakeSwitches;
  /** Null: there is no such endpoint. */
  find(name: string): CompiledEndpoint | null;
}

/** @throws http/bad-endpoint */
export function compileApi(network: HttpNetwork, api: AnyHttpApi): CompiledApi {
  const { query, hasLenientPaths } = styleOf(api);
  const byName = compileEndpoints(network, api);
  const keyOf = hasLenientPaths ? (name: string) => name.toLowerCase() : (name: string) => name;
  return {
    api,
    takeSwitches: compileSwitches(api.switches ?? {}, query),
    find: (name) => byName.get(keyOf(name)) ?? null,
  };
}

/** All endpoints by name, aliases included; in lower case where letter case does not count. */
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

/** Refuses names of parameters that no request could give, or that would mean two things. */
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
export interface Call {
  readonly endpoint: CompiledEndpoint;
  readonly raw: RawParameters;
  readonly source: ParameterSource;
  readonly profile: Profile;
  readonly switches: ReadSwitches;
  /** The private group of servers; null: none. */
  readonly group: string | null;
}

export interface Outcome {
  readonly result: Result;
  readonly isCached: boolean;
}

interface CallSettings {
  readonly cacheBytes: number;
  readonly headCacheMs: number;
  readonly deadlineMs: number;
  readonly maxConcurrent: number;
}

/** Calls endpoints: from the cache, together with an equal call under way, or anew. */
export class EndpointCalls {
  readonly cache: ResponseCache;
  readonly #settings: CallSettings;
  readonly #clock: Clock;
  readonly #flights: SingleFlight<Result>;
  #inFlight = 0;

  constructor(settings: CallSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.cache = new ResponseCache(settings.cacheBytes, settings.headCacheMs, clock);
    this.#flights = new SingleFlight(clock);
  }

  /** Calls being worked on, those that share a result counted each. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls that shared the work of an equal one. */
  get joined(): number {
    return this.#flights.joined;
  }

  /** The key of the call's result in the cache; null when it is not kept. */
  keyOf({ endpoint, raw, source, profile, switches, group }: Call): string | null {
    if (!endpoint.keeps || this.#settings.cacheBytes === 0) return null;
    let { key } = endpoint;
    if (endpoint.api.profiles === 'separate') key += ` ${profile}`;
    if (group !== null) key += ` ${group.length},${group}`;
    if (switches.given !== null) key += ` ${parametersKey(switches.given, 'query')}`;
    return key + parametersKey(raw, source);
  }

  /** A result that needs no work. */
  kept(call: Call, key: string): Result | undefined {
    return this.cache.get(key, headSeqnoOf(call.endpoint));
  }

  /**
   * Checks the parameters and does the work.
   *
   * @param key of {@link EndpointCalls.keyOf}
   * @throws http/bad-parameter, http/unknown-parameter, http/overloaded, http/deadline, http/client-left, and what the
   * endpoint throws
   */
  async run(call: Call, key: string | null, watch: RequestWatch): Promise<Result> {
    const { endpoint } = call.endpoint;
    const params = call.endpoint.parameters.read(call.raw, call.source);
    if (this.#inFlight >= this.#settings.maxConcurrent) {
      throw httpErrors.overloaded({ limit: `${this.#inFlight} requests are being worked on` });
    }
    const patience = watch.patience(this.#deadlineOf(call), this.#clock);
    this.#inFlight++;
    try {
      const freshness = freshnessOf(endpoint, params);
      if (key === null || freshness === 'none') {
        return await waitUntil(this.#handle(call, params, freshness, watch.signal), patience, this.#clock);
      }
      const headSeqno = freshness === 'forever' ? null : headSeqnoOf(call.endpoint);
      const work = async ({ signal }: Pick<Flight, 'signal'>) => {
        const result = await this.#handle(call, params, freshness, signal);
        this.cache.set(key, result, headSeqno);
        return result;
      };
      return await this.#flights.do(headSeqno === null ? key : `${headSeqno} ${key}`, work, patience);
    } catch (error) {
      watch.stop(error);
      throw error;
    } finally {
      this.#inFlight--;
    }
  }

  /** The time of the server or of the endpoint, or less where the request grants less. */
  #deadlineOf({ endpoint: { api, endpoint }, switches }: Call): number {
    const granted = api.deadlineMs?.(switches.values) ?? null;
    const most = Math.max(this.#settings.deadlineMs, endpoint.deadlineMs ?? 0);
    return granted === null ? most : Math.max(1, Math.min(granted, most));
  }

  async #handle(call: Call, params: never, freshness: Freshness, signal: AbortSignal): Promise<Result> {
    const { endpoint, api, rename } = call.endpoint;
    const headers = new Map<string, string>();
    const mcSeqno = freshness === 'forever' ? null : (api.freshness?.().mcSeqno ?? null);
    const context = api.context({
      read: { signal, deadlineMs: this.#deadlineOf(call) },
      profile: api.profiles === 'separate' ? call.profile : 'spec',
      switches: call.switches.values,
      group: call.group,
      header: (name, value) => {
        validateHeaderValue(name, value);
        headers.set(name, value);
      },
    });
    const value: unknown = await endpoint.handle(params, context as never);
    const text = value instanceof JsonText ? value.text : (JSON.stringify(value) ?? 'null');
    return new Result(text, [...headers], rename, mcSeqno);
  }
}

/** What answers about the head hold to. */
function headSeqnoOf({ api, network }: CompiledEndpoint): number {
  return api.headSeqno === undefined ? network.headSeqno() : api.headSeqno();
}

function freshnessOf(endpoint: AnyEndpoint<never>, params: never): Freshness {
  return typeof endpoint.freshness === 'function' ? endpoint.freshness(params) : endpoint.freshness;
}
