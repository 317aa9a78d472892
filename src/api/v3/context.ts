import { endpointOf } from '#api/http/endpoint.js';
import type { ApiRequest, Profile } from '#api/http/http-api.js';
import type { SwitchValues } from '#api/http/request-switches.js';
import { DEFAULT_TIMEOUT_MS, type V3Switches } from '#api/v3/switches.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions } from '#drivers/store/read/index-reads.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-options.js';
import type { Contracts } from '#services/contracts/contracts.js';

/** One network, as the methods of v3 see it. */
export interface V3Network {
  readonly index: IndexPort;
  readonly chain: ChainReads;
  readonly contracts: Contracts;
  /** User-friendly addresses say so. */
  readonly isTestnet: boolean;
}

/** What a method of v3 works with during one request. */
export interface V3Context {
  readonly network: V3Network;
  /** Deadline and abort signal of the request; for reads of the chain. */
  readonly read: ReadOptions;
  /** The same for reads of the index. */
  readonly query: IndexReadOptions;
  /** What the answer is written in. */
  readonly profile: Profile;
  readonly switches: SwitchValues<V3Switches>;
  /** Adds a header to the answer: what the body has no place for. */
  readonly header: (name: string, value: string) => void;
}

/** The context of one request. */
export function v3Context(network: V3Network, request: ApiRequest<SwitchValues<V3Switches>>): V3Context {
  const { read, profile, switches, header } = request;
  const timeoutMs = Math.min(switches.timeoutMs ?? DEFAULT_TIMEOUT_MS, read.deadlineMs);
  return { network, read, query: { signal: read.signal, timeoutMs }, profile, switches, header };
}

export const v3Endpoint = endpointOf<V3Context>();
