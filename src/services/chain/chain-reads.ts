import type { Address } from '#formats/address/address.js';
import type { ProvenTransaction } from '#formats/proofs/account-transactions.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import type { AccountStateOptions, AccountStateRead } from '#services/chain/account-state.js';
import type { HistoryOptions, HistoryRead } from '#services/chain/account-transactions.js';
import type { BlockDataRead, BlockFileRead, ZerostateRead } from '#services/chain/block-data.js';
import type { FoundBlock } from '#services/chain/block-ids.js';
import type {
  AllTransactionsRead,
  StretchOptions,
  TransactionIdsRead,
  TransactionsRead,
} from '#services/chain/block-transactions.js';
import type { ConfigParamsRead, ConfigRead } from '#services/chain/config-params.js';
import type { ChainHead } from '#services/chain/head.js';
import type { HeaderRead } from '#services/chain/headers.js';
import type { LibrariesRead } from '#services/chain/libraries.js';
import type { BlockProofOptions, BlockProofRead, ShardBlockProofRead, SignaturesRead } from '#services/chain/proofs.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';
import type { QueueSizeRead, QueueSizesRead } from '#services/chain/queue-sizes.js';
import type { BlockAt, ReadAt, ReadOptions } from '#services/chain/read-options.js';
import type { SentMessage } from '#services/chain/send.js';
import type { ShardOptions, ShardRead, ShardsRead } from '#services/chain/shards.js';
import type { TransactionRead } from '#services/chain/transaction.js';

/**
 * Reads of a TON network. Every value is proven: from a configured block through the signatures of the validators, down to
 * the bytes. What servers only say is named where it is returned.
 */
export interface ChainReads {
  /** The newest masterchain block. */
  head(options?: ReadOptions): Promise<ChainHead>;
  /** The newest masterchain block, as soon as it has this seqno or a higher one. */
  waitForHead(seqno: number, options?: ReadOptions): Promise<ChainHead>;
  /** The block that a number or id stands for, proven to be in the chain. */
  blockId(at: BlockAt, options?: ReadOptions): Promise<BlockId>;
  /** The block of a shard with a seqno, or the first one that reaches an lt or a time. */
  findBlock(query: BlockQuery, options?: ReadOptions): Promise<FoundBlock>;
  header(options?: ReadAt): Promise<HeaderRead>;
  blockData(options?: ReadAt): Promise<BlockDataRead>;
  /**
   * The file of a block of which the caller holds the proof: its id stands in a block that was read here. That saves the
   * proof for each block of a chain that is read from link to link. Nothing is kept.
   */
  blockFile(block: ProvenBlock, options?: ReadOptions): Promise<BlockFileRead>;
  zerostate(id?: BlockId, options?: ReadOptions): Promise<ZerostateRead>;
  shards(options?: ReadAt): Promise<ShardsRead>;
  shard(shard: Shard, options?: ShardOptions): Promise<ShardRead>;
  transactionIds(options?: StretchOptions): Promise<TransactionIdsRead>;
  blockTransactions(options?: StretchOptions): Promise<TransactionsRead>;
  allBlockTransactions(options?: ReadAt): Promise<AllTransactionsRead>;
  account(address: Address, options?: AccountStateOptions): Promise<AccountStateRead>;
  /** As {@link account}, after a block of which the caller holds the proof; see {@link blockFile}. Nothing is kept. */
  accountAfter(address: Address, block: ProvenBlock, options?: ReadOptions): Promise<AccountStateRead>;
  accountTransactions(address: Address, options?: HistoryOptions): Promise<HistoryRead>;
  /** From newer to older, as far as they are taken. */
  walkTransactions(address: Address, options?: HistoryOptions): AsyncIterable<ProvenTransaction>;
  transaction(address: Address, lt: bigint, options?: ReadOptions): Promise<TransactionRead>;
  configParams(numbers: readonly number[], options?: ReadAt): Promise<ConfigParamsRead>;
  config(options?: ReadAt): Promise<ConfigRead>;
  libraries(hashes: readonly Uint8Array[], options?: ReadAt): Promise<LibrariesRead>;
  queueSize(options?: ReadAt): Promise<QueueSizeRead>;
  queueSizes(options?: ReadAt): Promise<QueueSizesRead>;
  /** What a server says of itself; not proven. */
  externalQueueLimit(options?: ReadOptions): Promise<number>;
  blockProof(from: BlockAt, to: BlockAt, options?: BlockProofOptions): Promise<BlockProofRead>;
  shardBlockProof(options?: ReadAt): Promise<ShardBlockProofRead>;
  blockSignatures(options?: ReadAt): Promise<SignaturesRead>;
  send(body: Uint8Array, options?: ReadOptions): Promise<SentMessage>;
}
