import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { chooseProfile, missingPath, type NetworkChoice, TONCENTER_MOUNT } from '#api/http/api-paths.js';
import { type ApiStyle, NO_ECHO, styleOf, takeEchoedExtra } from '#api/http/api-style.js';
import { arrivalOf, type Connections } from '#api/http/connections.js';
import type { EarlyRefusals } from '#api/http/early-refusals.js';
import type { RawParameters } from '#api/http/endpoint.js';
import {
  type CompiledApi,
  type CompiledEndpoint,
  compileApi,
  type EndpointCall,
  type EndpointCalls,
  RequestWatch,
} from '#api/http/endpoint-calls.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import { JSON_RPC, type JsonBody, parseRpc, rpcIdOf } from '#api/http/json-body.js';
import { takeMinSeqno } from '#api/http/min-seqno.js';
import { dropMeaningless, parseQuery } from '#api/http/parameters.js';
import { type Replies, RequestState } from '#api/http/replies.js';
import type { EndpointResult } from '#api/http/response-cache.js';
import type { Turns } from '#api/http/turns.js';
import type { Clock } from '#kernel/clock.js';
import type { TernError } from '#kernel/tern-error.js';
import type { Access, AccessDecision } from '#services/access/access.js';

interface RouteModules {
  readonly access: Access;
  readonly clock: Clock;
  readonly calls: EndpointCalls;
  readonly connections: Connections;
  readonly turns: Turns;
  readonly refusals: EarlyRefusals;
  /** `v2.2.0` */
  readonly apiVersion: string;
  readonly replies: Replies;
  readonly choice: NetworkChoice;
  readonly networks: readonly HttpNetwork[];
  /** As of the modules of the server. */
  readonly missingPaths?: Readonly<Record<string, string>>;
}

const RPC_VERBS: readonly string[] = ['POST'];

/** The routes of the APIs at one prefix, for all networks. */
export class ApiRoutes {
  readonly #prefix: string;
  readonly #profile: Profile;
  readonly #modules: RouteModules;
  readonly #style: ApiStyle;
  readonly #apis = new Map<HttpNetwork, CompiledApi>();

  /** @throws http/bad-endpoint */
  constructor(prefix: string, profile: Profile, modules: RouteModules) {
    this.#prefix = prefix;
    this.#profile = profile;
    this.#modules = modules;
    this.#style = styleOf(modules.networks.flatMap(({ apis }) => apis).find((api) => api.prefix === prefix) ?? {});
    for (const network of modules.networks) {
      const apis = network.apis.filter((api) => api.prefix === prefix);
      if (apis.length > 1) {
        throw httpErrors['bad-option']({ option: 'apis', found: `${prefix} twice`, accepted: 'each prefix once' });
      }
      if (apis[0] !== undefined) this.#apis.set(network, compileApi(network, apis[0]));
    }
  }

  /** Adds the routes, with and without the mount of the `toncenter` profile. */
  add(app: FastifyInstance): void {
    for (const [mount, profile] of [
      ['', null],
      [TONCENTER_MOUNT, 'toncenter'],
    ] as const) {
      const onRequest = this.#onRequest(profile);
      const { hasLenientPaths } = this.#style;
      const url = `${mount}${this.#prefix}/${hasLenientPaths ? '*' : ':name'}`;
      const method = hasLenientPaths ? ['GET', 'HEAD'] : ['GET'];
      app.route({ method, url, onRequest, handler: (request, reply) => this.#get(request, reply) });
      app.post(url, { onRequest }, (request, reply) => this.#post(request, reply));
    }
  }

  /** As {@link ApiRoutes.verbsOf}, by path. */
  verbsOfPath(host: string | undefined, path: string): readonly string[] | null {
    const bare = path.startsWith(`${TONCENTER_MOUNT}/`) ? path.slice(TONCENTER_MOUNT.length) : path;
    return bare.startsWith(`${this.#prefix}/`) ? this.verbsOf(host, bare.slice(this.#prefix.length + 1)) : null;
  }

  /** The verbs of a method; null: no such method. */
  verbsOf(host: string | undefined, name: string): readonly string[] | null {
    if (this.#isRpc(name)) return RPC_VERBS;
    return this.#apis.get(this.#modules.choice.of(host))?.find(name)?.methods ?? null;
  }

  /** Whether somebody posts to the base URL, as clients do that were given it in place of the JSON-RPC endpoint. */
  isRpcBase(path: string, method: string): boolean {
    return this.#style.hasRpc && method === 'POST' && [this.#prefix, `${this.#prefix}/`].includes(path);
  }

  rpcPath(): TernError {
    return httpErrors['rpc-path']({ path: `${this.#prefix}/${JSON_RPC}` });
  }

  #isRpc(name: string): boolean {
    return this.#style.hasRpc && name === JSON_RPC;
  }

  /** Before the body is read: finds the endpoint and checks access. */
  #onRequest(ofPath: Profile | null) {
    const { access, clock, choice } = this.#modules;
    return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
      const refuse = (error: Error): void => {
        this.#rememberRefusal(request, error);
        done(error);
      };
      try {
        const { headers, method } = request;
        const network = choice.of(headers.host);
        const compiled = this.#apis.get(network);
        const place = { prefix: this.#prefix, style: this.#style, api: compiled?.api ?? null };
        const state = new RequestState(clock.now(), network, place, ofPath ?? this.#profile);
        request.state = state;
        const { name, '*': path } = request.params as { readonly name?: string; readonly '*'?: string };
        const asked = name ?? path ?? '';
        if (this.#isRpc(asked)) state.rpcId = '';
        else state.endpoint = compiled?.find(asked) ?? null;
        const verbs = state.rpcId === null ? (state.endpoint?.methods ?? null) : RPC_VERBS;
        if (verbs === null) {
          const path = `${this.#prefix}/${asked}`;
          if (this.isRpcBase(path, method)) throw this.rpcPath();
          throw missingPath(path, this.#modules.missingPaths ?? {}) ?? httpErrors['not-found']({});
        }
        if (!verbs.includes(method)) throw httpErrors['method-not-allowed']({ method, allowed: verbs.join(', ') });
        if (state.api?.pages === 'local') refuseCrossOriginPage(method, headers);
        state.profile = chooseProfile(ofPath, headers, this.#profile);
        const { url } = request.raw;
        const mark = url === undefined ? -1 : url.indexOf('?');
        if (mark >= 0) state.query = parseQuery((url as string).slice(mark + 1), this.#style.query);
        if (state.api?.freshness !== undefined) state.minSeqno = takeMinSeqno(headers, state.query);
        if (this.#style.hasRpc) state.extra = takeEchoedExtra(state.query);
        const { endpoint, query } = state;
        const ignores = ignoredOf(state);
        if ((method === 'POST' || endpoint !== null) && ignores !== 'nothing') {
          const isKnown = (name: string) =>
            endpoint?.parameters.names.has(name) === true ||
            compiled?.switchNames.has(name) === true ||
            name === 'api_key';
          const mayBeEmpty = (name: string) =>
            method === 'POST' || ignores === 'unknown' || endpoint?.parameters.neverEmpty.has(name) === true;
          state.ignored = dropMeaningless(query, isKnown, mayBeEmpty);
        }
        if (compiled !== undefined) state.switches = compiled.takeSwitches(headers, state.query);
        const later = admit(access, request, state);
        if (later === undefined) done();
        else later.then(() => done(), refuse);
      } catch (error) {
        refuse(error as Error);
      }
    };
  }

  /** The same request is refused without being read, until its client is let in again. */
  #rememberRefusal(request: FastifyRequest, error: Error): void {
    const { state } = request;
    if (state === null || state.limited?.again === undefined) return;
    const { style, api, profile, limited } = state;
    const { replies, refusals, apiVersion } = this.#modules;
    const body = style.failure({ text: error.message, status: 429, profile, isLimit: true }, NO_ECHO, () => '_');
    refusals.remember(request.raw, {
      retryAfterMs: limited.retryAfterMs,
      rate: limited.rate ?? null,
      body,
      apiVersion: api?.apiVersion ?? apiVersion,
      again: () => {
        limited.again?.();
        replies.refusedAgain(state, 'http/rate-limit', 429);
      },
    });
  }

  #get(request: FastifyRequest, reply: FastifyReply): void {
    const state = request.state as RequestState;
    this.#call(request, reply, state, state.query, 'query');
  }

  #post(request: FastifyRequest, reply: FastifyReply): void {
    const state = request.state as RequestState;
    const body = request.body as JsonBody | undefined;
    const [stray] = Object.keys(state.query);
    try {
      if (body !== undefined && state.rpcId !== null) state.rpcId = rpcIdOf(body);
      const isLive = state.profile === 'toncenter' && state.endpoint?.endpoint.liveBody !== undefined;
      if (stray !== undefined && !isLive) {
        throw httpErrors['unknown-parameter']({ parameter: stray.slice(0, 80), known: 'parameters in the body only' });
      }
      this.#call(request, reply, state, this.#parametersOf(state, body), 'body');
    } catch (error) {
      this.#modules.replies.failure(request, reply, error);
    }
  }

  /** The parameters of a body; finds the endpoint of a JSON-RPC call. */
  #parametersOf(state: RequestState, body: JsonBody | undefined): RawParameters {
    if (state.rpcId !== null) {
      if (body === undefined) throw httpErrors['bad-rpc']({ problem: 'the body is empty' });
      const { method, params, extra } = parseRpc(body);
      state.extra ??= takeEchoedExtra({ '@extra': extra });
      state.extra ??= takeEchoedExtra(params);
      delete params['@extra'];
      state.endpoint = this.#apis.get(state.network)?.find(method) ?? null;
      if (state.endpoint === null) throw httpErrors['bad-rpc']({ problem: 'Unknown method' });
      return params;
    }
    if (body === undefined) {
      if (state.endpoint?.parameters.allOptional) return {};
      throw httpErrors['bad-json']({ problem: 'it is empty' });
    }
    const { value } = body;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw httpErrors['bad-json']({ problem: 'it must be an object' });
    }
    const params = value as RawParameters;
    if (!this.#style.hasRpc) return params;
    state.extra ??= takeEchoedExtra(params);
    delete params['@extra'];
    return params;
  }

  #call(
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState,
    raw: RawParameters,
    source: EndpointCall['source'],
  ) {
    const { calls, replies, connections, turns } = this.#modules;
    const turn = connections.turnOfClient(request.raw);
    const { profile, switches, group, client, work, keyId, minSeqno } = state;
    const endpoint = state.endpoint as CompiledEndpoint;
    const call: EndpointCall = {
      minSeqno,
      waitedMs: 0,
      endpoint,
      raw,
      source,
      profile,
      switches,
      group,
      client,
      work,
      hasKey: keyId !== null,
      charge: (units) => turns.charge(turn, units),
    };
    if (minSeqno === null) {
      this.#answer(request, reply, state, call);
      return;
    }
    const watch = new RequestWatch(reply.raw);
    try {
      const waiting = calls.untilFresh(call, minSeqno, watch);
      if (waiting === undefined) {
        watch.end();
        this.#answer(request, reply, state, call);
        return;
      }
      waiting
        .finally(() => watch.end())
        .then((waitedMs) => this.#answer(request, reply, state, { ...call, waitedMs }))
        .catch((error) => replies.failure(request, reply, error));
    } catch (error) {
      watch.end();
      replies.failure(request, reply, error);
    }
  }

  #answer(request: FastifyRequest, reply: FastifyReply, state: RequestState, call: EndpointCall): void {
    const { calls, replies } = this.#modules;
    const key = calls.keyOf(call);
    let kept: EndpointResult | undefined;
    try {
      kept = key === null ? undefined : calls.kept(call, key);
    } catch (error) {
      replies.failure(request, reply, error);
      return;
    }
    if (kept !== undefined) {
      replies.success(request, reply, state, { result: kept, isCached: true });
      return;
    }
    const watch = new RequestWatch(reply.raw);
    calls
      .run(call, key, watch)
      .finally(() => watch.end())
      .then((outcome) => replies.success(request, reply, state, outcome))
      .catch((error) => replies.failure(request, reply, error));
  }
}

/** Whether empty and unknown query parameters are left out of account, as by the live service. */
function ignoredOf({ profile, api }: RequestState): NonNullable<AnyHttpApi['ignores']> {
  return profile === 'toncenter' ? (api?.ignores ?? 'unknown-and-empty') : 'nothing';
}

/**
 * Checks access of a request by its API key and client address. Removes `api_key` from its query.
 *
 * @returns undefined when access is granted at once; else a promise of it
 * @throws http/unknown-key, http/network-not-allowed, http/rate-limit, http/bad-parameter; as a rejection of the promise
 */
export function admit(access: Access, request: FastifyRequest, state: RequestState): Promise<void> | undefined {
  const key = takeKey(request, state.query);
  const waitedMs = Math.max(0, state.begun - (arrivalOf(request.raw) ?? state.begun));
  const answer = access.check({ key, clientAddress: request.ip, network: state.network.name, waitedMs });
  if (answer instanceof Promise) return answer.then((later) => settle(later, state));
  settle(answer, state);
  return undefined;
}

/** The header takes precedence over the query; an empty one is none. */
function takeKey(request: FastifyRequest, query: RawParameters): string | null {
  const inQuery = query.api_key;
  if (inQuery !== undefined) delete query.api_key;
  const inHeader = request.headers['x-api-key'];
  if (typeof inHeader === 'string' && inHeader !== '') return inHeader;
  if (inQuery === undefined || inQuery === '') return null;
  if (typeof inQuery === 'string') return inQuery;
  throw httpErrors['bad-parameter']({ parameter: 'api_key', problem: 'it is given more than once' });
}

function settle(answer: AccessDecision, state: RequestState): void {
  switch (answer.kind) {
    case 'allowed':
      state.group = answer.group;
      state.keyId = answer.key;
      state.isAdmin = answer.isAdmin === true;
      state.client = answer.client;
      state.work = answer.work;
      state.streams = answer.streams ?? null;
      state.rate = answer.rate ?? null;
      if (state.api?.clients === 'admin' && !state.isAdmin) throw httpErrors['not-admin']({});
      return;
    case 'keys-unavailable':
      throw httpErrors['keys-unavailable']({});
    case 'unknown-key':
      throw httpErrors['unknown-key']({});
    case 'network-not-allowed':
      throw httpErrors['network-not-allowed']({});
    case 'limited': {
      state.limited = answer;
      state.rate = answer.rate ?? null;
      const retryAfterSeconds = Math.max(1, Math.ceil(answer.retryAfterMs / 1000));
      throw httpErrors['rate-limit']({ limit: answer.limit, retryAfterSeconds });
    }
  }
}

/**
 * Refuses requests that a browser sends for a page of another origin. Accepted are pages of this machine, pages of this server
 * when it is addressed by IP (a host name could be pointed at it by anybody: DNS rebinding), and programs, which send no
 * `Origin`.
 *
 * @throws http/foreign-page
 */
export function refuseCrossOriginPage(method: string, headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  if (origin === undefined) {
    const site = headers['sec-fetch-site'];
    // Browsers send the origin with every POST; the response of a GET without it is not visible to other pages.
    if (method !== 'POST' || site === undefined || site === 'same-origin' || site === 'none') return;
    throw httpErrors['foreign-page']({ origin: 'another site' });
  }
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url !== null && (isLoopback(url.hostname) || (url.host === host && isAddress(url.hostname)))) return;
  throw httpErrors['foreign-page']({ origin: origin.slice(0, 100) });
}

/** @param hostname as `URL` returns it: lower case, IPv6 in brackets, IPv4 in four decimal parts */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return /^127(\.\d{1,3}){3}$/.test(hostname);
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
