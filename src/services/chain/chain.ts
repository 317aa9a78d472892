// Over 250 lines: one method for each read of the port
import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { Address } from '#formats/address/address.js';
import type { ProvenTransaction } from '#formats/proofs/account-transactions.js';
import type { BlockId, Shard } from '#formats/proofs/block-id.js';
import { isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/lookup-block.js';
import { waitUntil } from '#kernel/async/wait-until.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import { type AccountStateOptions, type AccountStateRead, AccountStates } from '#services/chain/account-state.js';
import { AccountTransactions, type HistoryOptions, type HistoryRead } from '#services/chain/account-transactions.js';
import { BlockData, type BlockDataRead, type BlockFileRead, type ZerostateRead } from '#services/chain/block-data.js';
import { BlockIds, type FoundBlock } from '#services/chain/block-ids.js';
import {
  type AllTransactionsRead,
  BlockTransactions,
  type StretchOptions,
  type TransactionIdsRead,
  type TransactionsRead,
} from '#services/chain/block-transactions.js';
import { Call } from '#services/chain/call.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { Config, type ConfigParamsRead, type ConfigRead } from '#services/chain/config-params.js';
import { chainErrors } from '#services/chain/errors.js';
import { type ChainHead, Heads } from '#services/chain/head.js';
import { type HeaderRead, Headers } from '#services/chain/headers.js';
import type { KeyBlockStore } from '#services/chain/key-block-store.js';
import { Libraries, type LibrariesRead } from '#services/chain/libraries.js';
import { CHAIN_LIMITS, type ChainOptions } from '#services/chain/options.js';
import {
  type BlockProofOptions,
  type BlockProofRead,
  Proofs,
  type ShardBlockProofRead,
  type SignaturesRead,
} from '#services/chain/proofs.js';
import { type ProvenBlock, ProvenBlocks } from '#services/chain/proven-blocks.js';
import { type QueueSizeRead, QueueSizes, type QueueSizesRead } from '#services/chain/queue-sizes.js';
import type { BlockAt, ReadAt, ReadOptions } from '#services/chain/read-options.js';
import { Sender, type SentMessage } from '#services/chain/send.js';
import { ShardTops } from '#services/chain/shard-tops.js';
import { type ShardOptions, type ShardRead, Shards, type ShardsRead } from '#services/chain/shards.js';
import { type TransactionRead, Transactions } from '#services/chain/transaction.js';
import { Trust } from '#services/chain/trust.js';

export interface ChainModules {
  readonly source: LiteSource;
  readonly clock: Clock;
  readonly keyBlocks: KeyBlockStore;
  readonly logger: Logger;
  /**
   * Called before an account is read at the head, for a network that does not have all of its accounts from the start: brings it.
   * @returns the masterchain block since which the account is there, or null: nothing changed for it
   */
  readonly bringAccount?: (address: Address) => Promise<number | null>;
}

/** All reads over one source of answers. */
export class Chain implements ChainReads {
  readonly #modules: ChainModules;
  readonly #zerostate: BlockId;
  readonly #deadlineMs: number;
  readonly #trust: Trust;
  readonly #heads: Heads;
  readonly #blockIds: BlockIds;
  readonly #headers: Headers;
  readonly #blockData: BlockData;
  readonly #shards: Shards;
  readonly #blockTransactions: BlockTransactions;
  readonly #accounts: AccountStates;
  readonly #histories: AccountTransactions;
  readonly #transactions: Transactions;
  readonly #config: Config;
  readonly #libraries: Libraries;
  readonly #queueSizes: QueueSizes;
  readonly #proofs: Proofs;
  readonly #sender: Sender;

  /** @throws chain/parameter when an option is out of range */
  constructor(options: ChainOptions, modules: ChainModules) {
    const { zero_state, init_block = zero_state } = options;
    for (const id of [zero_state, init_block]) {
      if (!isMasterchain(id)) throw chainErrors['masterchain-only']({ block: printPosition(id) });
    }
    this.#modules = modules;
    this.#zerostate = zero_state;
    this.#deadlineMs = limited(options, 'deadlineMs');
    const { clock } = modules;
    const headMaxAgeMs = limited(options, 'headMaxAgeMs');
    const proven = new ProvenBlocks(limited(options, 'provenBlocks'));
    const shardTops = new ShardTops(proven);
    const trust = new Trust({ zero_state, init_block, headMaxAgeMs }, { ...modules, proven });
    const blockIds = new BlockIds({ trust, proven, shardTops });
    this.#trust = trust;
    this.#heads = new Heads({ trust, clock });
    this.#blockIds = blockIds;
    this.#headers = new Headers({ blockIds, proven });
    const blockData = new BlockData({ blockIds, proven });
    this.#blockData = blockData;
    this.#shards = new Shards({ blockIds, shardTops, proven });
    this.#blockTransactions = new BlockTransactions(blockIds);
    this.#accounts = new AccountStates({ blockIds, proven, shardTops, blockData });
    this.#histories = new AccountTransactions(this.#accounts);
    this.#transactions = new Transactions(blockIds);
    const config = new Config(blockIds);
    this.#config = config;
    this.#libraries = new Libraries(blockIds);
    this.#queueSizes = new QueueSizes({ blockIds, shardTops, config });
    this.#proofs = new Proofs({ trust, blockIds });
    this.#sender = new Sender(limited(options, 'sendFanOut'));
  }

  /**
   * Loads the key blocks that earlier runs proved; otherwise the first read does.
   * @throws chain/key-block-network, chain/key-block-file
   */
  async start(): Promise<void> {
    await this.#trust.keyBlocks();
  }

  head(options: ReadOptions = {}): Promise<ChainHead> {
    return this.#run(options, (call) => this.#heads.head(call));
  }

  waitForHead(seqno: number, options: ReadOptions = {}): Promise<ChainHead> {
    return this.#run(options, (call) => this.#heads.waitFor(call, seqno));
  }

  blockId(at: BlockAt, options: ReadOptions = {}): Promise<BlockId> {
    return this.#run(options, async (call) => (await this.#blockIds.resolve(call, at)).id);
  }

  findBlock(query: BlockQuery, options: ReadOptions = {}): Promise<FoundBlock> {
    return this.#run(options, (call) => this.#blockIds.find(call, query));
  }

  header(options: ReadAt = {}): Promise<HeaderRead> {
    return this.#run(options, (call) => this.#headers.header(call, options));
  }

  blockData(options: ReadAt = {}): Promise<BlockDataRead> {
    return this.#run(options, (call) => this.#blockData.blockData(call, options));
  }

  blockFile(block: ProvenBlock, options: ReadOptions = {}): Promise<BlockFileRead> {
    return this.#run(options, (call) => this.#blockData.blockFile(call, block));
  }

  zerostate(id: BlockId = this.#zerostate, options: ReadOptions = {}): Promise<ZerostateRead> {
    return this.#run(options, (call) => this.#blockData.zerostate(call, id));
  }

  shards(options: ReadAt = {}): Promise<ShardsRead> {
    return this.#run(options, (call) => this.#shards.shards(call, options));
  }

  shard(shard: Shard, options: ShardOptions = {}): Promise<ShardRead> {
    return this.#run(options, (call) => this.#shards.shard(call, shard, options));
  }

  transactionIds(options: StretchOptions = {}): Promise<TransactionIdsRead> {
    return this.#run(options, (call) => this.#blockTransactions.ids(call, options));
  }

  blockTransactions(options: StretchOptions = {}): Promise<TransactionsRead> {
    return this.#run(options, (call) => this.#blockTransactions.transactions(call, options));
  }

  allBlockTransactions(options: ReadAt = {}): Promise<AllTransactionsRead> {
    return this.#run(options, (call) => this.#blockTransactions.all(call, options));
  }

  account(address: Address, options: AccountStateOptions = {}): Promise<AccountStateRead> {
    return this.#run(options, async (call) => {
      await this.#bring(call, address, options);
      return this.#accounts.account(call, address, options);
    });
  }

  accountAfter(address: Address, block: ProvenBlock, options: ReadOptions = {}): Promise<AccountStateRead> {
    return this.#run(options, (call) => this.#accounts.accountAfter(call, address, block));
  }

  accountTransactions(address: Address, options: HistoryOptions = {}): Promise<HistoryRead> {
    return this.#run(options, async (call) => {
      if (options.from === undefined) await this.#bring(call, address, options);
      return this.#histories.transactions(call, address, options);
    });
  }

  async *walkTransactions(address: Address, options: HistoryOptions = {}): AsyncGenerator<ProvenTransaction> {
    if (options.from === undefined) await this.#bring(this.#call(options), address, options);
    yield* this.#histories.walk(() => this.#call(options), address, options);
  }

  transaction(address: Address, lt: bigint, options: ReadOptions = {}): Promise<TransactionRead> {
    return this.#run(options, (call) => this.#transactions.transaction(call, address, lt));
  }

  configParams(numbers: readonly number[], options: ReadAt = {}): Promise<ConfigParamsRead> {
    return this.#run(options, (call) => this.#config.params(call, numbers, options));
  }

  config(options: ReadAt = {}): Promise<ConfigRead> {
    return this.#run(options, (call) => this.#config.all(call, options));
  }

  libraries(hashes: readonly Uint8Array[], options: ReadAt = {}): Promise<LibrariesRead> {
    return this.#run(options, (call) => this.#libraries.libraries(call, hashes, options));
  }

  queueSize(options: ReadAt = {}): Promise<QueueSizeRead> {
    return this.#run(options, (call) => this.#queueSizes.queueSize(call, options));
  }

  queueSizes(options: ReadAt = {}): Promise<QueueSizesRead> {
    return this.#run(options, (call) => this.#queueSizes.queueSizes(call, options));
  }

  externalQueueLimit(options: ReadOptions = {}): Promise<number> {
    return this.#run(options, (call) => this.#queueSizes.externalQueueLimit(call));
  }

  blockProof(from: BlockAt, to: BlockAt, options: BlockProofOptions = {}): Promise<BlockProofRead> {
    return this.#run(options, (call) => this.#proofs.blockProof(call, from, to, options));
  }

  shardBlockProof(options: ReadAt = {}): Promise<ShardBlockProofRead> {
    return this.#run(options, (call) => this.#proofs.shardBlockProof(call, options));
  }

  blockSignatures(options: ReadAt = {}): Promise<SignaturesRead> {
    return this.#run(options, (call) => this.#proofs.signatures(call, options));
  }

  send(body: Uint8Array, options: ReadOptions = {}): Promise<SentMessage> {
    return this.#run(options, (call) => this.#sender.send(call, body));
  }

  /** Waits until what was proven is on the disk. Reads under way end with their source. */
  async close(): Promise<void> {
    await this.#trust.close();
  }

  /** Nothing where the chain has all accounts that it can have. */
  async #bring(call: Call, address: Address, { at = 'head' }: Pick<ReadAt, 'at'>): Promise<void> {
    const { bringAccount } = this.#modules;
    if (bringAccount === undefined || at !== 'head') return;
    const seqno = await waitUntil(bringAccount(address), call.patience, this.#modules.clock);
    if (seqno !== null && seqno > (this.#trust.known?.id.seqno ?? 0)) await this.#trust.catchUp(call);
  }

  #call(options: ReadOptions): Call {
    return new Call(options, this.#deadlineMs, this.#modules);
  }

  async #run<T>(options: ReadOptions, read: (call: Call) => Promise<T>): Promise<T> {
    return read(this.#call(options));
  }
}

/** @throws chain/parameter */
function limited(options: ChainOptions, name: keyof typeof CHAIN_LIMITS): number {
  const { default: fallback, min, max } = CHAIN_LIMITS[name];
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw chainErrors.parameter({ name, value: String(value), wanted: `a whole number from ${min} to ${max}` });
}
