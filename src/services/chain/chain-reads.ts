import type { Address } from '#formats/address/address.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import type { ProvenTransaction } from '#formats/proofs/transactions.js';
import type { AccountStateOptions, AccountStateRead, HistoryOptions, HistoryRead } from '#services/chain/accounts.js';
import type { FoundBlockRead } from '#services/chain/block-lookup.js';
import type { BlockDataRead, BlockFileRead, HeaderRead, ZerostateRead } from '#services/chain/blocks.js';
import type {
  ConfigParamsRead,
  ConfigRead,
  LibrariesRead,
  QueueSizeRead,
  QueueSizesRead,
  ShardOptions,
  ShardRead,
  ShardsRead,
} from '#services/chain/masterchain-state.js';
import type { BlockProofOptions, BlockProofRead, ShardBlockProofRead, SignaturesRead } from '#services/chain/proofs.js';
import type { ProvenBlock } from '#services/chain/proven-blocks.js';
import type { BlockAt, ReadAt, ReadOptions } from '#services/chain/read-context.js';
import type { SentExternalMessage } from '#services/chain/send.js';
import type {
  AllTransactionsRead,
  TransactionIdsRead,
  TransactionPageOptions,
  TransactionRead,
  TransactionsRead,
} from '#services/chain/transactions.js';
import type { ChainHead } from '#services/chain/trust.js';

/**
 * Verified reads of a TON network. Every value is proven from a trusted block through validator signatures down to the
 * bytes. Unproven values are documented where they are returned.
 */
export interface ChainReads {
  /** Seqno of the newest masterchain block that was proven; 0 before the first. What is read about the head is at least as recent. */
  readonly provenSeqno: number;
  /** The newest masterchain block. */
  head(options?: ReadOptions): Promise<ChainHead>;
  /** Waits until the newest masterchain block has at least this seqno, and returns it. */
  waitForHead(seqno: number, options?: ReadOptions): Promise<ChainHead>;
  /** Resolves a seqno, position or id to a block that is proven to be in the chain. */
  blockId(at: BlockAt, options?: ReadOptions): Promise<BlockId>;
  /** The block of a shard with a seqno, or the first one that reaches an lt or a time. */
  findBlock(query: BlockQuery, options?: ReadOptions): Promise<FoundBlockRead>;
  header(options?: ReadAt): Promise<HeaderRead>;
  blockData(options?: ReadAt): Promise<BlockDataRead>;
  /**
   * The file of a block that the caller has proven, because its id is contained in a verified block. This avoids a proof for
   * each block of a chain that is read link by link. Nothing is cached.
   */
  blockFile(block: ProvenBlock, options?: ReadOptions): Promise<BlockFileRead>;
  zerostate(id?: BlockId, options?: ReadOptions): Promise<ZerostateRead>;
  shards(options?: ReadAt): Promise<ShardsRead>;
  shard(shard: Shard, options?: ShardOptions): Promise<ShardRead>;
  transactionIds(options?: TransactionPageOptions): Promise<TransactionIdsRead>;
  blockTransactions(options?: TransactionPageOptions): Promise<TransactionsRead>;
  allBlockTransactions(options?: ReadAt): Promise<AllTransactionsRead>;
  account(address: Address, options?: AccountStateOptions): Promise<AccountStateRead>;
  /** As {@link account}, after a block that the caller has proven; see {@link blockFile}. Nothing is cached. */
  accountAfter(address: Address, block: ProvenBlock, options?: ReadOptions): Promise<AccountStateRead>;
  accountTransactions(address: Address, options?: HistoryOptions): Promise<HistoryRead>;
  /** Iterates from newer to older transactions. */
  walkTransactions(address: Address, options?: HistoryOptions): AsyncIterable<ProvenTransaction>;
  transaction(address: Address, lt: bigint, options?: ReadOptions): Promise<TransactionRead>;
  configParams(numbers: readonly number[], options?: ReadAt): Promise<ConfigParamsRead>;
  config(options?: ReadAt): Promise<ConfigRead>;
  libraries(hashes: readonly Uint8Array[], options?: ReadAt): Promise<LibrariesRead>;
  queueSize(options?: ReadAt): Promise<QueueSizeRead>;
  queueSizes(options?: ReadAt): Promise<QueueSizesRead>;
  /** Reported by a server; not proven. */
  externalQueueLimit(options?: ReadOptions): Promise<number>;
  blockProof(from: BlockAt, to: BlockAt, options?: BlockProofOptions): Promise<BlockProofRead>;
  shardBlockProof(options?: ReadAt): Promise<ShardBlockProofRead>;
  blockSignatures(options?: ReadAt): Promise<SignaturesRead>;
  /**
   * Shard blocks that validators have signed and the masterchain has not committed. Reported by a server; not proven, and other blocks
   * may take their place.
   *
   * @throws lite/answer-error when the server does not tell: it needs `--nonfinal-ls`
   */
  pendingShardBlocks(options?: ReadOptions): Promise<readonly BlockId[]>;
  /** Such a block. Its hashes are those of the id; that it is or will be in the chain is not proven. */
  pendingShardBlock(id: BlockId, options?: ReadOptions): Promise<BlockHeader>;
  send(body: Uint8Array, options?: ReadOptions): Promise<SentExternalMessage>;
}
