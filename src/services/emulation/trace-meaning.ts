import type { Action } from '#domain/actions/action-registry.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { ReadOptions } from '#services/chain/read-context.js';

/** A transaction of a trace that is to be understood. */
export interface UnderstoodTransaction {
  /** `Transaction` */
  readonly cell: Cell;
  readonly account: Address;
  /** Masterchain block that commits it, or is expected to. */
  readonly mc_seqno: number;
  /** `ShardAccount` before and after it; null where it is not known. */
  readonly before: Cell | null;
  readonly after: Cell | null;
}

/** An interface that a contract of the trace was found to have, with the values of its row. */
export interface FoundContract {
  readonly address: Address;
  /** Name of the interface: `jetton_master`, … */
  readonly kind: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** No contract had the interface there before the trace. */
  readonly isNew: boolean;
}

/** What happens in a trace. */
export interface TraceMeaning {
  readonly state: 'ok' | 'broken' | 'failed';
  /** By end_lt and start_lt, newest first; `transactions` of an action are positions in the given list. */
  readonly actions: readonly Action[];
  /** The interfaces of the accounts of the trace, in the states that it leaves behind. */
  readonly contracts: readonly FoundContract[];
}

/** Understands traces whose contracts may exist only in an emulation. */
export interface TraceMeanings {
  /**
   * Classifies a trace into actions. What contracts are is detected in the states of the trace, and of contracts that it does not
   * touch in their verified states.
   *
   * @param mc_seqno masterchain block whose states hold for contracts without states in the trace; absent: the newest one
   * @throws chain/*, lite/*
   */
  meaningOf(
    trace: { readonly transactions: readonly UnderstoodTransaction[]; readonly mc_seqno?: number | undefined },
    options: ReadOptions,
  ): Promise<TraceMeaning>;
}
