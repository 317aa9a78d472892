import { validateHeaderValue } from 'node:http';
import type { AnyEndpoint, Freshness } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork } from '#api/http/http-api.js';
import type { ParameterSource } from '#api/http/parameter-coercion.js';
import { compileParameters, type ParameterReader } from '#api/http/parameters.js';
import { type RenameTypes, typeRenamer } from '#api/http/profile.js';
import type { RawParameters } from '#api/http/query-string.js';
import type { RequestWatch } from '#api/http/request-watch.js';
import { parametersKey, ResponseCache, Result } from '#api/http/response-cache.js';
import { type Flight, SingleFlight } from '#kernel/async/single-flight.js';
import { waitUntil } from '#kernel/async/wait-until.js';
import type { Clock } from '#kernel/clock/clock.js';

/** An endpoint, ready to be called. */
export interface CompiledEndpoint {
  readonly endpoint: AnyEndpoint<never>;
  readonly parameters: ParameterReader;
  readonly network: HttpNetwork;
  readonly api: AnyHttpApi;
  readonly rename: RenameTypes;
  /** Begins the keys of its kept results. */
  readonly key: string;
  /** Whether its results are ever kept. */
  readonly keeps: boolean;
}

/** All endpoints of an API by name, aliases included. @throws http/bad-endpoint */
export function compileApi(network: HttpNetwork, api: AnyHttpApi): ReadonlyMap<string, CompiledEndpoint> {
  const rename = typeRenamer(api.typeNames ?? {});
  const byName = new Map<string, CompiledEndpoint>();
  for (const endpoint of api.endpoints as readonly AnyEndpoint<never>[]) {
    const compiled: CompiledEndpoint = {
      endpoint,
      parameters: compileParameters(endpoint),
      network,
      api,
      rename,
      key: `${network.name} ${api.prefix}/${endpoint.name}`,
      keeps: endpoint.freshness !== 'none',
    };
    for (const name of [endpoint.name, ...(endpoint.aliases ?? [])]) {
      if (byName.has(name)) throw httpErrors['bad-endpoint']({ endpoint: name, problem: 'the name is used twice' });
      byName.set(name, compiled);
    }
  }
  return byName;
}

/** One call of an endpoint. */
export interface Call {
  readonly endpoint: CompiledEndpoint;
  readonly raw: RawParameters;
  readonly source: ParameterSource;
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
  keyOf({ endpoint, raw, source, group }: Call): string | null {
    if (!endpoint.keeps || this.#settings.cacheBytes === 0) return null;
    const parameters = parametersKey(raw, source);
    return group === null ? endpoint.key + parameters : `${endpoint.key} ${group.length},${group}${parameters}`;
  }

  /** A result that needs no work. */
  kept(call: Call, key: string): Result | undefined {
    return this.cache.get(key, call.endpoint.network.headSeqno());
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
    const patience = watch.patience(this.#settings.deadlineMs, this.#clock);
    this.#inFlight++;
    try {
      const freshness = freshnessOf(endpoint, params);
      if (key === null || freshness === 'none') {
        return await waitUntil(this.#handle(call, params, watch.signal), patience, this.#clock);
      }
      const headSeqno = freshness === 'forever' ? null : call.endpoint.network.headSeqno();
      const work = async ({ signal }: Pick<Flight, 'signal'>) => {
        const result = await this.#handle(call, params, signal);
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

  async #handle({ endpoint: { endpoint, api, rename }, group }: Call, params: never, signal: AbortSignal) {
    const headers = new Map<string, string>();
    const context = api.context({
      read: { signal, deadlineMs: this.#settings.deadlineMs },
      group,
      header: (name, value) => {
        validateHeaderValue(name, value);
        headers.set(name, value);
      },
    });
    const value: unknown = await endpoint.handle(params, context as never);
    return new Result(JSON.stringify(value) ?? 'null', [...headers], rename);
  }
}

function freshnessOf(endpoint: AnyEndpoint<never>, params: never): Freshness {
  return typeof endpoint.freshness === 'function' ? endpoint.freshness(params) : endpoint.freshness;
}
