import { endpointOf } from '#api/http/endpoint.js';
import type { Address } from '#formats/address/address.js';
import type { LocalNode } from '#localnet/node/local-node.js';

/** What a method works with during one request. */
export interface LocalnetContext {
  readonly node: LocalNode;
  /** Nanotons that an account has now: after the newest block of the node, or a newer one. */
  readonly balanceOf: (address: Address) => Promise<bigint>;
}

export const localnetEndpoint = endpointOf<LocalnetContext>();
