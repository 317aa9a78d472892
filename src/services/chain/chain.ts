import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { Address } from '#formats/address/address.js';
import { type BlockHeader, verifyBlockFile } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition, type Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import type { ProvenTransaction } from '#formats/proofs/transactions.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerGetBlock, LiteServerNonfinalGetPendingShardBlocks } from '#formats/tl/lite-api.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import type { Clock } from '#kernel/clock.js';
import { withDeadline } from '#kernel/deadline.js';
import type { Logger } from '#kernel/logger.js';
import {
  AccountHistoryReader,
  type AccountStateOptions,
  type AccountStateRead,
  AccountStateReader,
  type HistoryOptions,
  type HistoryRead,
} from '#services/chain/accounts.js';
import { BlockLookup, type FoundBlockRead, ShardTopReader } from '#services/chain/block-lookup.js';
import {
  type BlockDataRead,
  BlockDataReader,
  type BlockFileRead,
  type HeaderRead,
  HeaderReader,
  type ZerostateRead,
} from '#services/chain/blocks.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { ChangedAccounts } from '#services/chain/changed-accounts.js';
import { chainErrors } from '#services/chain/errors.js';
import { type KeptAccountMetrics, KeptAccounts } from '#services/chain/kept-accounts.js';
import type { KeyBlockStore } from '#services/chain/key-blocks.js';
import {
  type ConfigParamsRead,
  type ConfigRead,
  ConfigReader,
  type LibrariesRead,
  LibraryReader,
  type QueueSizeRead,
  QueueSizeReader,
  type QueueSizesRead,
  type ShardOptions,
  type ShardRead,
  ShardReader,
  type ShardsRead,
} from '#services/chain/masterchain-state.js';
import {
  type BlockProofOptions,
  type BlockProofRead,
  ProofReader,
  type ShardBlockProofRead,
  type SignaturesRead,
} from '#services/chain/proofs.js';
import { copyBlockId, expectBlock, type ProvenBlock, ProvenBlocks } from '#services/chain/proven-blocks.js';
import { type BlockAt, type ReadAt, ReadContext, type ReadOptions } from '#services/chain/read-context.js';
import { MessageSender, type SentExternalMessage } from '#services/chain/send.js';
import {
  type AllTransactionsRead,
  BlockTransactionReader,
  SingleTransactionReader,
  type TransactionIdsRead,
  type TransactionPageOptions,
  type TransactionRead,
  type TransactionsRead,
} from '#services/chain/transactions.js';
import { type ChainHead, HeadReader, Trust } from '#services/chain/trust.js';

/** Blocks that a server may list. */
const MOST_BLOCKS = 1_024;

/**
 * Reads shard blocks that the masterchain has not committed: what a server says of them is NOT proven, and another block may take
 * their place. Only servers started with `--nonfinal-ls` answer (`liteServer.nonfinal.getPendingShardBlocks`).
 */
class PendingBlockReader {
  /** The blocks that validators have signed, as a server says. @throws lite/*, chain/* */
  async ids(context: ReadContext): Promise<readonly BlockId[]> {
    const { value } = await context.query({
      fn: LiteServerNonfinalGetPendingShardBlocks,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ signed_blocks }) => {
        const found = signed_blocks.map(copyBlockId);
        if (found.length <= MOST_BLOCKS && found.every(({ workchain }) => workchain !== MASTERCHAIN)) return found;
        throw chainErrors['incomplete-answer']({ problem: 'it lists blocks that are no pending shard blocks' });
      },
    });
    return value;
  }

  /** The block of an id, whose hashes are checked. @throws lite/*, chain/*, proofs/* */
  async block(context: ReadContext, id: BlockId): Promise<BlockHeader> {
    const { value } = await context.query({
      fn: LiteServerGetBlock,
      query: { id: blockIdToTl(id) },
      need: { kind: 'head' },
      verify: (answer) => {
        expectBlock(answer.id, id);
        return verifyBlockFile(answer.data, id);
      },
    });
    return value;
  }
}

export interface ChainModules {
  readonly source: LiteSource;
  readonly clock: Clock;
  readonly keyBlocks: KeyBlockStore;
  readonly logger: Logger;
  /**
   * Called before an account is read at the head of a fork, to import the account.
   * @returns seqno of the masterchain block since which the account exists, or null if nothing changed
   */
  readonly importAccount?: (address: Address) => Promise<number | null>;
}

/** {@link ChainReads} over one source of lite answers. */
export class Chain implements ChainReads {
  readonly #modules: ChainModules;
  readonly #zerostate: BlockId;
  readonly #deadlineMs: number;
  readonly #trust: Trust;
  readonly #heads: HeadReader;
  readonly #blockIds: BlockLookup;
  readonly #headers: HeaderReader;
  readonly #blockData: BlockDataReader;
  readonly #shards: ShardReader;
  readonly #blockTransactions: BlockTransactionReader;
  readonly #accounts: AccountStateReader;
  readonly #kept: KeptAccounts | null;
  readonly #histories: AccountHistoryReader;
  readonly #transactions: SingleTransactionReader;
  readonly #config: ConfigReader;
  readonly #libraries: LibraryReader;
  readonly #queueSizes: QueueSizeReader;
  readonly #proofs: ProofReader;
  readonly #pendingBlocks = new PendingBlockReader();
  readonly #sender: MessageSender;

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
    const shardTops = new ShardTopReader(proven);
    const trust = new Trust({ zero_state, init_block, headMaxAgeMs }, { ...modules, proven });
    const blockIds = new BlockLookup({ trust, proven, shardTops });
    this.#trust = trust;
    this.#heads = new HeadReader({ trust, clock });
    this.#blockIds = blockIds;
    this.#headers = new HeaderReader({ blockIds, proven });
    const blockData = new BlockDataReader({ blockIds, proven });
    this.#blockData = blockData;
    this.#shards = new ShardReader({ blockIds, shardTops, proven });
    this.#blockTransactions = new BlockTransactionReader(blockIds);
    const newContext = (ms: number) => this.#context({ deadlineMs: ms });
    const changes = new ChangedAccounts({ shardTops, blockData, newContext, clock: modules.clock });
    const accountBytes = limited(options, 'accountBytes');
    const kept = accountBytes > 0 ? new KeptAccounts(accountBytes, changes) : null;
    this.#kept = kept;
    this.#accounts = new AccountStateReader({ blockIds, proven, shardTops, blockData, kept });
    this.#histories = new AccountHistoryReader(this.#accounts);
    this.#transactions = new SingleTransactionReader(blockIds);
    const config = new ConfigReader(blockIds);
    this.#config = config;
    this.#libraries = new LibraryReader(blockIds);
    this.#queueSizes = new QueueSizeReader({ blockIds, shardTops, config });
    this.#proofs = new ProofReader({ trust, blockIds });
    this.#sender = new MessageSender(limited(options, 'sendFanOut'));
  }

  /**
   * Loads the key blocks proven by earlier runs; otherwise the first read does.
   * @throws chain/key-block-network, chain/key-block-file
   */
  async start(): Promise<void> {
    await this.#trust.keyBlocks();
  }

  /** Account states that are kept while they do not change; `null` when none are. */
  get keptAccounts(): KeptAccountMetrics | null {
    return this.#kept?.metrics ?? null;
  }

  get provenSeqno(): number {
    return this.#trust.known?.id.seqno ?? 0;
  }

  head(options: ReadOptions = {}): Promise<ChainHead> {
    return this.#run(options, (context) => this.#heads.head(context));
  }

  waitForHead(seqno: number, options: ReadOptions = {}): Promise<ChainHead> {
    return this.#run(options, (context) => this.#heads.waitFor(context, seqno));
  }

  blockId(at: BlockAt, options: ReadOptions = {}): Promise<BlockId> {
    return this.#run(options, async (context) => (await this.#blockIds.resolve(context, at)).id);
  }

  findBlock(query: BlockQuery, options: ReadOptions = {}): Promise<FoundBlockRead> {
    return this.#run(options, (context) => this.#blockIds.find(context, query));
  }

  header(options: ReadAt = {}): Promise<HeaderRead> {
    return this.#run(options, (context) => this.#headers.header(context, options));
  }

  blockData(options: ReadAt = {}): Promise<BlockDataRead> {
    return this.#run(options, (context) => this.#blockData.blockData(context, options));
  }

  blockFile(block: ProvenBlock, options: ReadOptions = {}): Promise<BlockFileRead> {
    return this.#run(options, (context) => this.#blockData.blockFile(context, block));
  }

  zerostate(id: BlockId = this.#zerostate, options: ReadOptions = {}): Promise<ZerostateRead> {
    return this.#run(options, (context) => this.#blockData.zerostate(context, id));
  }

  shards(options: ReadAt = {}): Promise<ShardsRead> {
    return this.#run(options, (context) => this.#shards.shards(context, options));
  }

  shard(shard: Shard, options: ShardOptions = {}): Promise<ShardRead> {
    return this.#run(options, (context) => this.#shards.shard(context, shard, options));
  }

  transactionIds(options: TransactionPageOptions = {}): Promise<TransactionIdsRead> {
    return this.#run(options, (context) => this.#blockTransactions.ids(context, options));
  }

  blockTransactions(options: TransactionPageOptions = {}): Promise<TransactionsRead> {
    return this.#run(options, (context) => this.#blockTransactions.transactions(context, options));
  }

  allBlockTransactions(options: ReadAt = {}): Promise<AllTransactionsRead> {
    return this.#run(options, (context) => this.#blockTransactions.all(context, options));
  }

  account(address: Address, options: AccountStateOptions = {}): Promise<AccountStateRead> {
    return this.#run(options, async (context) => {
      await this.#bring(context, address, options);
      return this.#accounts.account(context, address, options);
    });
  }

  accountAfter(address: Address, block: ProvenBlock, options: ReadOptions = {}): Promise<AccountStateRead> {
    return this.#run(options, (context) => this.#accounts.accountAfter(context, address, block));
  }

  accountTransactions(address: Address, options: HistoryOptions = {}): Promise<HistoryRead> {
    return this.#run(options, async (context) => {
      if (options.from === undefined) await this.#bring(context, address, options);
      return this.#histories.transactions(context, address, options);
    });
  }

  async *walkTransactions(address: Address, options: HistoryOptions = {}): AsyncGenerator<ProvenTransaction> {
    if (options.from === undefined) await this.#bring(this.#context(options), address, options);
    yield* this.#histories.walk(() => this.#context(options), address, options);
  }

  transaction(address: Address, lt: bigint, options: ReadOptions = {}): Promise<TransactionRead> {
    return this.#run(options, (context) => this.#transactions.transaction(context, address, lt));
  }

  configParams(numbers: readonly number[], options: ReadAt = {}): Promise<ConfigParamsRead> {
    return this.#run(options, (context) => this.#config.params(context, numbers, options));
  }

  config(options: ReadAt = {}): Promise<ConfigRead> {
    return this.#run(options, (context) => this.#config.all(context, options));
  }

  libraries(hashes: readonly Uint8Array[], options: ReadAt = {}): Promise<LibrariesRead> {
    return this.#run(options, (context) => this.#libraries.libraries(context, hashes, options));
  }

  queueSize(options: ReadAt = {}): Promise<QueueSizeRead> {
    return this.#run(options, (context) => this.#queueSizes.queueSize(context, options));
  }

  queueSizes(options: ReadAt = {}): Promise<QueueSizesRead> {
    return this.#run(options, (context) => this.#queueSizes.queueSizes(context, options));
  }

  externalQueueLimit(options: ReadOptions = {}): Promise<number> {
    return this.#run(options, (context) => this.#queueSizes.externalQueueLimit(context));
  }

  blockProof(from: BlockAt, to: BlockAt, options: BlockProofOptions = {}): Promise<BlockProofRead> {
    return this.#run(options, (context) => this.#proofs.blockProof(context, from, to, options));
  }

  shardBlockProof(options: ReadAt = {}): Promise<ShardBlockProofRead> {
    return this.#run(options, (context) => this.#proofs.shardBlockProof(context, options));
  }

  blockSignatures(options: ReadAt = {}): Promise<SignaturesRead> {
    return this.#run(options, (context) => this.#proofs.signatures(context, options));
  }

  pendingShardBlocks(options: ReadOptions = {}): Promise<readonly BlockId[]> {
    return this.#run(options, (context) => this.#pendingBlocks.ids(context));
  }

  pendingShardBlock(id: BlockId, options: ReadOptions = {}): Promise<BlockHeader> {
    return this.#run(options, (context) => this.#pendingBlocks.block(context, id));
  }

  send(body: Uint8Array, options: ReadOptions = {}): Promise<SentExternalMessage> {
    return this.#run(options, (context) => this.#sender.send(context, body));
  }

  /** Waits until proven key blocks are on disk. Reads in flight end with their source. */
  async close(): Promise<void> {
    await this.#trust.close();
  }

  /** Imports the account into a fork; does nothing on other networks. */
  async #bring(context: ReadContext, address: Address, { at = 'head' }: Pick<ReadAt, 'at'>): Promise<void> {
    const { importAccount } = this.#modules;
    if (importAccount === undefined || at !== 'head') return;
    const seqno = await withDeadline(importAccount(address), context.deadline, this.#modules.clock);
    if (seqno !== null && seqno > (this.#trust.known?.id.seqno ?? 0)) await this.#trust.catchUp(context);
  }

  #context(options: ReadOptions): ReadContext {
    return new ReadContext(options, this.#deadlineMs, this.#modules);
  }

  async #run<T>(options: ReadOptions, read: (context: ReadContext) => Promise<T>): Promise<T> {
    return read(this.#context(options));
  }
}

/** @throws chain/parameter */
function limited(options: ChainOptions, name: keyof typeof CHAIN_LIMITS): number {
  const { default: fallback, min, max } = CHAIN_LIMITS[name];
  const value = options[name] ?? fallback;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw chainErrors.parameter({ name, value: String(value), wanted: `a whole number from ${min} to ${max}` });
}

/** Trusted blocks and limits of a chain. */
export interface ChainOptions {
  /** The masterchain zerostate (`validator.zero_state` of the global config), which identifies the network. */
  readonly zero_state: BlockId;
  /**
   * A later trusted masterchain block, where proofs start. Default: the zerostate. Use `validator.init_block`, or the last
   * of `validator.hardforks` if that is newer, because no proof passes over a hard fork.
   */
  readonly init_block?: BlockId;
  /** Default deadline of a read, in milliseconds. */
  readonly deadlineMs?: number;
  /** How long the newest known block is used as the head if no server claims a newer one, in milliseconds. */
  readonly headMaxAgeMs?: number;
  /** Maximum number of cached proven block ids. */
  readonly provenBlocks?: number;
  /** Memory for account states that are kept while no block has a transaction of the account; default: none are kept. */
  readonly accountBytes?: number;
  /** Number of servers that a message is sent to at once. */
  readonly sendFanOut?: number;
}

/** Default, minimum and maximum of the numeric options. */
const CHAIN_LIMITS = {
  deadlineMs: { default: 10_000, min: 1, max: 600_000 },
  headMaxAgeMs: { default: 1_000, min: 0, max: 60_000 },
  provenBlocks: { default: 65_536, min: 16, max: 16_777_216 },
  accountBytes: { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER },
  sendFanOut: { default: 5, min: 1, max: 100 },
} as const;
