import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type ApiStyle, styleOf } from '#api/http/api-style.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import type { TernError } from '#kernel/tern-error.js';

/** Prefix of all paths whose profile is `toncenter`. */
export const TONCENTER_MOUNT = '/toncenter';

/** The error of a path that live services have and this one not yet; null: it is no such path. See `HttpModules.missingPaths`. */
export function missingPath(path: string, missing: Readonly<Record<string, string>>): TernError | null {
  const bare = path.startsWith(`${TONCENTER_MOUNT}/`) ? path.slice(TONCENTER_MOUNT.length) : path;
  const asked = bare.toLowerCase();
  for (const [known, instead] of Object.entries(missing)) {
    const isIt = known.endsWith('/') ? asked.startsWith(known.toLowerCase()) : asked === known.toLowerCase();
    if (isIt) return httpErrors['not-implemented']({ path: known, instead });
  }
  return null;
}

/** A prefix of API paths, with or without the mount of a profile. */
interface ApiBase {
  /** Mount and prefix. */
  readonly path: string;
  /** Null: the path does not determine it. */
  readonly profile: Profile | null;
  readonly style: ApiStyle;
  readonly first: AnyHttpApi;
  readonly byNetwork: ReadonlyMap<HttpNetwork, AnyHttpApi>;
}

/** The API that a path belongs to. */
export interface ApiOfPath {
  /** The API of the network of the host; of another network where that has none at the prefix. */
  readonly api: AnyHttpApi;
  readonly style: ApiStyle;
  readonly profile: Profile | null;
}

/** Finds the API of a path before routing, and for requests without a route. */
export class ApiPaths {
  readonly #bases: readonly ApiBase[];
  readonly #choice: NetworkChoice;
  /** Whether there are case-insensitive paths. */
  readonly hasLenient: boolean;

  /** @throws http/bad-option when APIs of one prefix have different styles */
  constructor(networks: readonly HttpNetwork[], choice: NetworkChoice) {
    this.#choice = choice;
    const byPrefix = new Map<string, Map<HttpNetwork, AnyHttpApi>>();
    for (const network of networks) {
      for (const api of network.apis) {
        const byNetwork = byPrefix.get(api.prefix) ?? new Map<HttpNetwork, AnyHttpApi>();
        byPrefix.set(api.prefix, byNetwork.set(network, api));
      }
    }
    this.#bases = [...byPrefix].flatMap(([prefix, byNetwork]) => {
      const [first] = [...byNetwork.values()] as [AnyHttpApi];
      const style = styleOf(first);
      for (const api of byNetwork.values()) {
        if (styleOf(api) === style) continue;
        throw httpErrors['bad-option']({ option: 'apis', found: `${prefix} in two styles`, accepted: 'one style' });
      }
      const shared = { style, first, byNetwork };
      return [
        { ...shared, path: prefix, profile: null },
        { ...shared, path: `${TONCENTER_MOUNT}${prefix}`, profile: 'toncenter' as const },
      ];
    });
    this.hasLenient = this.#bases.some(({ style }) => style.hasLenientPaths);
  }

  /** Null: the path belongs to no API. */
  of(host: string | undefined, url: string): ApiOfPath | null {
    const base = this.#baseOf(url);
    if (base === null) return null;
    const { style, profile, byNetwork, first } = base;
    return { api: byNetwork.get(this.#choice.of(host)) ?? first, style, profile };
  }

  /** A URL as the routes have it: lower case and without a slash at the end where these are ignored. The query stays. */
  canonical(url: string): string {
    const base = this.#baseOf(url);
    if (base === null || !base.style.hasLenientPaths) return url;
    const mark = url.indexOf('?');
    const path = (mark < 0 ? url : url.slice(0, mark)).toLowerCase();
    // The prefix itself is a page whose links depend on the slash.
    const isLonger = path.length > base.path.length + 1;
    return (isLonger && path.endsWith('/') ? path.slice(0, -1) : path) + (mark < 0 ? '' : url.slice(mark));
  }

  #baseOf(url: string): ApiBase | null {
    for (const base of this.#bases) {
      const { length } = base.path;
      const next = url[length];
      if (next !== undefined && next !== '/' && next !== '?') continue;
      const begin = url.slice(0, length);
      if (begin === base.path || (base.style.hasLenientPaths && begin.toLowerCase() === base.path)) return base;
    }
    return null;
  }
}

/**
 * The profile of a request: by its path, else by `X-Tern-Profile`, else `toncenter` for clients that send
 * `X-Ton-Client-Version`, else the default of the server.
 *
 * @throws http/bad-parameter for an unknown profile
 */
export function chooseProfile(ofPath: Profile | null, headers: IncomingHttpHeaders, byDefault: Profile): Profile {
  if (ofPath !== null) return ofPath;
  const named = headers['x-tern-profile'];
  if (named === undefined) return headers['x-ton-client-version'] === undefined ? byDefault : 'toncenter';
  if (named === 'spec' || named === 'toncenter') return named;
  throw httpErrors['bad-parameter']({ parameter: 'X-Tern-Profile', problem: 'it must be spec or toncenter' });
}

/** Finds the network of a request by its host name. */
export class NetworkChoice {
  readonly #first: HttpNetwork;
  readonly #byHost = new Map<string, HttpNetwork>();

  /** @throws http/bad-option when two networks have one name or one host */
  constructor(networks: readonly HttpNetwork[]) {
    const [first] = networks;
    if (first === undefined) {
      throw httpErrors['bad-option']({ option: 'networks', found: 'empty', accepted: 'at least one network' });
    }
    this.#first = first;
    const names = new Set<string>();
    for (const network of networks) {
      if (names.has(network.name)) {
        throw httpErrors['bad-option']({ option: 'networks', found: `${network.name} twice`, accepted: 'each once' });
      }
      names.add(network.name);
      for (const host of network.hosts) {
        if (this.#byHost.has(host.toLowerCase())) {
          throw httpErrors['bad-option']({ option: 'hosts', found: `${host} twice`, accepted: 'each host once' });
        }
        this.#byHost.set(host.toLowerCase(), network);
      }
    }
  }

  /** @param host the `Host` header, with or without port */
  of(host: string | undefined): HttpNetwork {
    if (this.#byHost.size === 0 || host === undefined) return this.#first;
    return this.#byHost.get(host.replace(/:\d+$/, '').toLowerCase()) ?? this.#first;
  }
}

const ABSOLUTE_FORM = /^https?:\/\//i;

/**
 * Gives a request its target in origin form (RFC 9112, 3.2): `http://host/path` becomes `/path` when the host is that of the
 * `Host` header. Others stay for {@link requireHost}.
 */
export function toOriginForm(message: IncomingMessage): void {
  const { url = '', headers } = message;
  if (url.startsWith('/') || !ABSOLUTE_FORM.test(url)) return;
  const host = `http://${headers.host}`;
  if (!URL.canParse(url) || !URL.canParse(host)) return;
  const target = new URL(url);
  const isSame = target.host === new URL(host.replace(/^http:/, target.protocol)).host;
  if (!isSame || target.username !== '' || target.password !== '') return;
  const path = url.replace(ABSOLUTE_FORM, '').replace(/^[^/?#]*/, '');
  message.url = path.startsWith('/') ? path : `/${path}`;
}

/**
 * Refuses requests whose host is not one: proxies differ in which they take, and the host selects the network.
 *
 * @throws http/bad-host
 */
export function requireHost({ url = '', httpVersion, headers, rawHeaders }: IncomingMessage): void {
  if (ABSOLUTE_FORM.test(url)) {
    throw httpErrors['bad-host']({ problem: 'the host of the target is not that of the Host header' });
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw httpErrors['bad-host']({ problem: `there are ${hosts} Host headers` });
  if (headers.host === undefined && httpVersion !== '1.0') {
    throw httpErrors['bad-host']({ problem: 'there is no Host header' });
  }
}
