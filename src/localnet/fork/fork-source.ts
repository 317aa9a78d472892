import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { TransactionRef } from '#formats/proofs/transactions.js';

/** What a local network takes over when it begins from a block of another one. */
export interface ForkStart {
  /** Of the masterchain. */
  readonly block: BlockId;
  /** Unix seconds: the time of the block. */
  readonly gen_utime: number;
  /** The logical time after the block: nothing there is later. */
  readonly end_lt: bigint;
  /** Of the network: what signed messages may be for. */
  readonly global_id: number;
  /** Root of the configuration (`Hashmap 32 ^Cell`), whole. */
  readonly config: Cell;
}

/** The state of another network after a masterchain block; everything is proven. */
export interface ForkSource {
  /** The `ShardAccount`, whole; null: there is no such account. @throws fork/unreachable */
  account(address: Address): Promise<Cell | null>;
  /** A library that the masterchain publishes, by its hash; null: there is none. @throws fork/unreachable */
  library(hash: Uint8Array): Promise<Cell | null>;
  /**
   * The transactions of an account from one on, known by lt and hash, from newer to older: `liteServer.transactionList`,
   * encoded. There is one at least.
   * @throws fork/unreachable
   */
  transactions(address: Address, from: TransactionRef, count: number): Promise<Uint8Array>;
}
