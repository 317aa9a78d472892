import { endpointOf } from '#api/http/endpoint.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-options.js';
import type { Contracts } from '#services/contracts/contracts.js';

/** A server of a network as `getConsensusBlock` and `getWorkerState` tell it. */
export interface ServerState {
  readonly name: string;
  readonly alive: boolean;
  readonly archival: boolean;
  /** The newest masterchain block it told of; 0 before the first. */
  readonly seqno: number;
}

/** One network, as the methods of v2 see it. */
export interface V2Network {
  readonly chain: ChainReads;
  readonly contracts: Contracts;
  readonly servers: () => readonly ServerState[];
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/** What a method of v2 works with during one request. */
export interface V2Context {
  readonly network: V2Network;
  /** Deadline and abort signal of the request; to be passed on to every read. */
  readonly read: ReadOptions;
  /** Adds a header to the answer: what the body has no place for. */
  readonly header: (name: string, value: string) => void;
}

export const v2Endpoint = endpointOf<V2Context>();
