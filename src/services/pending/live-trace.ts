import type { Action } from '#domain/actions/action-registry.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/**
 * How certain a transaction is: `pending`, emulated only; `confirmed`, in a shard block that the masterchain has not committed;
 * `finalized`, committed by the masterchain.
 */
export type Finality = 'pending' | 'confirmed' | 'finalized';

/** Lowest first. */
export const FINALITIES: readonly Finality[] = ['pending', 'confirmed', 'finalized'];

/** A transaction of a live trace. */
export interface LiveTransaction {
  readonly finality: Finality;
  /** `Transaction` */
  readonly cell: Cell;
  readonly account: Address;
  /** Of the masterchain block that commits it, or is expected to. */
  readonly mc_seqno: number;
  readonly block: { readonly workchain: number; readonly shard: bigint; readonly seqno: number };
  /** `global_version` of the configuration. */
  readonly global_version: number;
  /** `ShardAccount`; null where it is not known. */
  readonly before: Cell | null;
  readonly after: Cell | null;
}

/** An action and how certain it is: the lowest finality of its transactions. */
export interface LiveAction {
  readonly finality: Finality;
  readonly action: Action;
}

/** A trace on its way from a message to finalized transactions. An update is a new value: values do not change. */
export interface LiveTrace {
  /** Hash of the external-in message, or of the root transaction of a trace that no external-in message began. */
  readonly external_hash: Uint8Array;
  /** Normalised as of TEP-467. */
  readonly external_hash_norm: Uint8Array;
  /** Hash of the root transaction; null while that is emulated. */
  readonly trace_id: Uint8Array | null;
  /** Breadth first. */
  readonly transactions: readonly LiveTransaction[];
  /** The lowest of its transactions. */
  readonly finality: Finality;
  /** Null until the present transactions have been classified. By end_lt and start_lt, newest first. */
  readonly actions: readonly LiveAction[] | null;
  /** The emulation was cut. */
  readonly is_incomplete: boolean;
  /** Unix milliseconds of its first appearance. */
  readonly since: number;
}

/** Why a trace that was pending will not be. */
export interface Invalidation {
  readonly external_hash: Uint8Array;
  readonly external_hash_norm: Uint8Array;
  /**
   * `expired`, `replaced` (the seqno is used by another message), `dropped`, `refused`; `mispredicted`: a block has other
   * transactions than the emulation, and events with the real trace follow
   */
  readonly reason: 'expired' | 'replaced' | 'dropped' | 'refused' | 'mispredicted';
  /** A sentence for people. */
  readonly problem: string;
  /** Of the contract, when it refused. */
  readonly exit_code: number | null;
}

/** What happens to traces. For one trace, events are in the order in which it happened, and finality never falls. */
export type LiveEvent =
  /** Transactions appeared or became more certain; `trace.actions` may still be null. */
  | { readonly kind: 'transactions'; readonly trace: LiveTrace }
  /** The trace was classified. */
  | { readonly kind: 'actions'; readonly trace: LiveTrace }
  | { readonly kind: 'invalidated'; readonly invalidation: Invalidation };

/** Live traces: what is pending or confirmed, and what became final a short time ago. */
export interface LiveTraces {
  /** Traces with transactions of any of these accounts, at most `limit`, newest first. */
  ofAccounts(accounts: readonly Address[], limit: number): readonly LiveTrace[];
  /** By raw or normalised hash of the external-in message, or by trace id. */
  find(hash: Uint8Array): LiveTrace | null;
  /** @returns ends the subscription */
  subscribe(listener: (event: LiveEvent) => void): () => void;
}
