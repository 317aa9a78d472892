import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admit } from '#api/http/admission.js';
import type { ApiStyle } from '#api/http/api-style.js';
import {
  type Call,
  type CompiledApi,
  type CompiledEndpoint,
  compileApi,
  type EndpointCalls,
} from '#api/http/endpoint-calls.js';
import { httpErrors } from '#api/http/errors.js';
import type { HttpNetwork, Profile } from '#api/http/http-api.js';
import type { JsonBody } from '#api/http/json-body.js';
import { JSON_RPC, parseRpc, rpcIdOf } from '#api/http/json-rpc.js';
import type { NetworkChoice } from '#api/http/network-choice.js';
import { refuseForeignPage } from '#api/http/page-origin.js';
import { chooseProfile, TONCENTER_MOUNT } from '#api/http/profile.js';
import { parseQuery, type RawParameters } from '#api/http/query-string.js';
import type { Replies } from '#api/http/replies.js';
import { takeExtra } from '#api/http/request-extra.js';
import { RequestState } from '#api/http/request-state.js';
import { RequestWatch } from '#api/http/request-watch.js';
import { styleOf } from '#api/http/styles.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Access } from '#services/access/access.js';

interface RouteModules {
  readonly access: Access;
  readonly clock: Clock;
  readonly calls: EndpointCalls;
  readonly replies: Replies;
  readonly choice: NetworkChoice;
  readonly networks: readonly HttpNetwork[];
}

/** The API at one prefix, of all networks. */
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

  /** Adds the routes, with and without the mount that chooses the profile. */
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

  /** The verbs that a method takes; null: there is no such method. */
  verbsOf(host: string | undefined, name: string): readonly string[] | null {
    if (this.#isRpc(name)) return ['POST'];
    return this.#apis.get(this.#modules.choice.of(host))?.find(name)?.methods ?? null;
  }

  #isRpc(name: string): boolean {
    return this.#style.hasRpc && name === JSON_RPC;
  }

  /** Before the body is read: what is asked for, and whether it is let in. */
  #onRequest(ofPath: Profile | null) {
    const { access, clock, choice } = this.#modules;
    return (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
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
        const verbs = this.verbsOf(headers.host, asked);
        if (verbs === null) throw httpErrors['not-found']({});
        if (!verbs.includes(method)) throw httpErrors['method-not-allowed']({ method, allowed: verbs.join(', ') });
        if (state.api?.pages === 'local') refuseForeignPage(method, headers);
        state.profile = chooseProfile(ofPath, headers, this.#profile);
        const { url } = request.raw;
        const mark = url === undefined ? -1 : url.indexOf('?');
        if (mark >= 0) state.query = parseQuery((url as string).slice(mark + 1), this.#style.query);
        if (this.#style.hasRpc) state.extra = takeExtra(state.query);
        if (compiled !== undefined) state.switches = compiled.takeSwitches(headers, state.query);
        const later = admit(access, request, state);
        if (later === undefined) done();
        else later.then(() => done(), done);
      } catch (error) {
        done(error as Error);
      }
    };
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
      if (stray !== undefined) {
        throw httpErrors['unknown-parameter']({ parameter: stray.slice(0, 80), known: 'parameters in the body only' });
      }
      this.#call(request, reply, state, this.#parametersOf(state, body), 'body');
    } catch (error) {
      this.#modules.replies.failure(request, reply, error);
    }
  }

  /** The parameters in a body; finds the endpoint of JSON-RPC. */
  #parametersOf(state: RequestState, body: JsonBody | undefined): RawParameters {
    if (state.rpcId !== null) {
      if (body === undefined) throw httpErrors['bad-rpc']({ problem: 'the body is empty' });
      const { method, params, extra } = parseRpc(body);
      state.extra ??= takeExtra({ '@extra': extra });
      state.extra ??= takeExtra(params);
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
    state.extra ??= takeExtra(params);
    delete params['@extra'];
    return params;
  }

  #call(request: FastifyRequest, reply: FastifyReply, state: RequestState, raw: RawParameters, source: Call['source']) {
    const { calls, replies } = this.#modules;
    const { profile, switches, group } = state;
    const call: Call = { endpoint: state.endpoint as CompiledEndpoint, raw, source, profile, switches, group };
    const key = calls.keyOf(call);
    const kept = key === null ? undefined : calls.kept(call, key);
    if (kept !== undefined) {
      replies.success(request, reply, state, { result: kept, isCached: true });
      return;
    }
    const watch = new RequestWatch(reply.raw);
    calls
      .run(call, key, watch)
      .finally(() => watch.end())
      .then((result) => replies.success(request, reply, state, { result, isCached: false }))
      .catch((error) => replies.failure(request, reply, error));
  }
}
