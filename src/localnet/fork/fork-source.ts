import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';

/** What a fork takes over from a block of another network. */
export interface ForkStart {
  /** Of the masterchain. */
  readonly block: BlockId;
  /** Unix seconds: the time of the block. */
  readonly gen_utime: number;
  /** Logical time after the block. */
  readonly end_lt: bigint;
  /** Global id of the network, which signed messages may refer to. */
  readonly global_id: number;
  /** Root of the complete configuration (`Hashmap 32 ^Cell`). */
  readonly config: Cell;
}

/** The verified state of another network after a masterchain block. */
export interface ForkSource {
  /** The complete `ShardAccount`; null: there is no such account. @throws fork/unreachable */
  account(address: Address): Promise<Cell | null>;
  /** A library published in the masterchain, by its hash; null: there is none. @throws fork/unreachable */
  library(hash: Uint8Array): Promise<Cell | null>;
  /**
   * The transactions of an account, starting with the one with this lt and hash, from newer to older: an encoded
   * `liteServer.transactionList` with at least one.
   * @throws fork/unreachable
   */
  transactions(address: Address, from: TransactionRef, count: number): Promise<Uint8Array>;
}
