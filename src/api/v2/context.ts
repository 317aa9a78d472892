import { endpointOf } from '#api/http/endpoint.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadOptions } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';
import type { LiveMessages } from '#services/pending/live-messages.js';

/** A liteserver of a network, for `getConsensusBlock` and `getWorkerState`. */
export interface LiteserverStatus {
  readonly name: string;
  readonly alive: boolean;
  readonly archival: boolean;
  /** The newest masterchain block it reported; 0 before the first. */
  readonly seqno: number;
}

/** One network, as the methods of v2 see it. */
export interface V2Network {
  readonly chain: ChainReads;
  readonly contracts: ContractReads;
  readonly servers: () => readonly LiteserverStatus[];
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Follows messages that were sent; absent: this process follows none. */
  readonly pending?: Pick<LiveMessages, 'submit' | 'refused'>;
}

/** The context of a method of v2 during one request. */
export interface V2Context {
  readonly network: V2Network;
  /** Deadline and abort signal of the request, to be passed to every read. */
  readonly read: ReadOptions;
  /** Adds a header to the response, for what the published body has no field for. */
  readonly header: (name: string, value: string) => void;
  /** Reports work beside that of the price, in work units. */
  readonly worked: (units: number) => void;
}

export const v2Endpoint = endpointOf<V2Context>();

/** Verbs of methods that read. */
export const GET_OR_POST = ['GET', 'POST'] as const;

/** A text as the value of a header: printable ASCII, at most 200 characters. */
export function headerText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}
