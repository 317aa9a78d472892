import { httpErrors } from '#api/http/errors.js';
import type { HttpNetwork } from '#api/http/http-api.js';

/** Finds the network of a request by the host name it was sent to. */
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
