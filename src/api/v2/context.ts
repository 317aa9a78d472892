import { endpointOf } from '#api/http/endpoint.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';

/** A server of a network as `getConsensusBlock` and `getWorkerState` tell it. */
export interface LiteserverStatus {
  readonly name: string;
  readonly alive: boolean;
  readonly archival: boolean;
  /** The newest masterchain block it told of; 0 before the first. */
  readonly seqno: number;
}

/** One network, as the methods of v2 see it. */
export interface V2Network {
  readonly chain: ChainReads;
  readonly contracts: ContractReads;
  readonly servers: () => readonly LiteserverStatus[];
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

/** A text as the value of a header: printable ASCII, not long. */
export function headerText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}
