import type { Profile } from '#api/http/http-api.js';
import type { IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexedJettonWallet, IndexedTransaction, StateSummary } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { LiveTrace, LiveTransaction } from '#services/pending/live-trace.js';

/** JSON, and the addresses in it by raw form with upper-case digits. */
export interface WrittenPart {
  readonly json: string;
  readonly addresses: ReadonlyMap<string, Address>;
}

/** A trace as JSON. */
interface WrittenTrace {
  /** The tree. */
  readonly trace: string;
  /** Transactions by hash. */
  readonly transactions: string;
  readonly addresses: ReadonlyMap<string, Address>;
}

/** Which of the two is added to an event. */
export interface AddressMembers {
  readonly book: boolean;
  readonly metadata: boolean;
}

/**
 * Writes the parts of events: as API v3 writes them, by the same writers. They are passed in, since API generations do not import
 * each other.
 */
export interface EventSerializer {
  /** A JSON array in the given order. */
  transactions(transactions: readonly IndexedTransaction[], profile: Profile): WrittenPart;
  /** @param transactions of the whole trace, by lt @param external_hash of the message that it began with */
  trace(transactions: readonly IndexedTransaction[], external_hash: Uint8Array | null, profile: Profile): WrittenTrace;
  /** A JSON array with the participants of each action. */
  actions(actions: readonly IndexedAction[], profile: Profile): WrittenPart;
  /** Transactions that the index does not have, as a JSON array in the given order. */
  liveTransactions(
    transactions: readonly LiveTransaction[],
    trace: Pick<LiveTrace, 'trace_id'>,
    profile: Profile,
  ): WrittenPart;
  liveTrace(trace: LiveTrace, profile: Profile): WrittenTrace;
  /** The actions of a trace of these types that a client is shown, as a JSON array; null: none. */
  liveActions(trace: LiveTrace, supported: readonly string[], profile: Profile): WrittenPart | null;
  /** @param after `ShardAccount` */
  liveState(after: Cell, profile: Profile): string;
  /** @param hash of the account cell @param state null: only the hash is known */
  accountState(hash: Uint8Array, state: StateSummary | null, profile: Profile): string;
  jettonWallet(wallet: IndexedJettonWallet, profile: Profile): WrittenPart;
  /** `"address_book":{…}`, `"metadata":{…}`, or both with a comma between them. */
  addressMembers(addresses: ReadonlyMap<string, Address>, wanted: AddressMembers, profile: Profile): Promise<string>;
}
