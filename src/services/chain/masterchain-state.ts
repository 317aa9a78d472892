import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockId,
  printBlockId,
  printPosition,
  printShard,
  type Shard,
  sameBlock,
} from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { type ProvenShard, verifyShardInfo } from '#formats/proofs/shard-block.js';
import { stateConfig, verifyConfig, verifyLibraries, verifyOutMsgQueueSize } from '#formats/proofs/shard-state.js';
import { blockIdFromTl, blockIdToTl, signedShard } from '#formats/tl/block-id.js';
import {
  type LiteServerAllShardsInfo,
  type LiteServerBlockOutMsgQueueSize,
  type LiteServerConfigInfo,
  LiteServerGetBlockOutMsgQueueSize,
  LiteServerGetConfigAll,
  LiteServerGetConfigParams,
  LiteServerGetLibrariesWithProof,
  LiteServerGetOutMsgQueueSizes,
  LiteServerGetShardInfo,
  type LiteServerLibraryResultWithProof,
  type LiteServerShardInfo,
} from '#formats/tl/lite-api.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { GlobalVersion } from '#formats/tlb/config/network.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import type { BlockLookup, ShardTopReader } from '#services/chain/block-lookup.js';
import { chainErrors } from '#services/chain/errors.js';
import {
  copyBlockId,
  expectBlock,
  needOfState,
  type ProvenBlock,
  type ProvenBlocks,
} from '#services/chain/proven-blocks.js';
import { isServersFailure, type ReadAt, type ReadContext, type ReadResult } from '#services/chain/read-context.js';

/** The shards of a masterchain block. */
export interface ShardsRead extends ReadResult<LiteServerAllShardsInfo> {
  /** Each shard with its newest block; seqno 0 is a zerostate. */
  readonly shards: readonly ProvenShard[];
}

/** One shard of a masterchain block. */
export interface ShardRead extends ReadResult<LiteServerShardInfo> {
  readonly shard: ProvenShard;
}

/** Selects a shard exactly, or the shard that contains a prefix. */
export interface ShardOptions extends ReadAt {
  /** Only the exact shard. Default: also the shard that contains the prefix, such as the first 64 bits of an account id. */
  readonly exact?: boolean;
}

export interface ShardReaderModules {
  readonly blockIds: BlockLookup;
  readonly shardTops: ShardTopReader;
  readonly proven: ProvenBlocks;
}

/** Reads shard tops. */
export class ShardReader {
  readonly #modules: ShardReaderModules;

  constructor(modules: ShardReaderModules) {
    this.#modules = modules;
  }

  async shards(context: ReadContext, { at }: ReadAt): Promise<ShardsRead> {
    const block = await this.#modules.blockIds.resolveMasterchain(context, at);
    const { value, answer } = await this.#modules.shardTops.all(context, block);
    return { block: block.id, gen_utime: block.gen_utime, shards: value, proof: context.proof(answer) };
  }

  /** @throws chain/shard-not-found when the proof shows that the shard does not exist */
  async shard(context: ReadContext, wanted: Shard, { at, exact = false }: ShardOptions): Promise<ShardRead> {
    const { workchain, shard } = wanted;
    if (workchain === -1 || shard <= 0n || shard >= 1n << 64n) {
      throw chainErrors.parameter({ name: 'shard', value: printShard(wanted), wanted: 'a shard of a workchain' });
    }
    const block = await this.#modules.blockIds.resolveMasterchain(context, at);
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerGetShardInfo,
      query: { id: blockIdToTl(id), workchain, shard: signedShard(shard), exact },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'shard',
      verify: (found) => {
        expectBlock(found.id, id);
        const { shard_proof, shard_descr } = found;
        const shard_block = copyBlockId(found.shardblk);
        return verifyShardInfo(id, wanted, exact, { shard_block, shard_proof, shard_descr });
      },
    });
    if (value === null) throw chainErrors['shard-not-found']({ shard: printShard(wanted), block: printPosition(id) });
    this.#remember(value.block, value.entry.descr.gen_utime, id);
    return { block: id, gen_utime: block.gen_utime, shard: value, proof: context.proof(answer) };
  }

  #remember(id: BlockId, gen_utime: number, { seqno }: BlockId): void {
    this.#modules.proven.add({ id, gen_utime: id.seqno === 0 ? null : gen_utime, mc_seqno: seqno });
  }
}

/** Configuration parameters after a masterchain block. */
export interface ConfigParamsRead extends ReadResult<LiteServerConfigInfo> {
  /** Complete cells; an absent parameter is proven not to exist. */
  readonly params: ReadonlyMap<number, Cell>;
}

/** The complete configuration after a masterchain block. */
export interface ConfigRead extends ConfigParamsRead {
  /** Root of the configuration dictionary, complete. */
  readonly root: Cell;
}

/** Maximum parameters per query. */
const MAX_PARAMS = 256;

/** Reads configuration parameters. */
export class ConfigReader {
  readonly #blockIds: BlockLookup;

  constructor(blockIds: BlockLookup) {
    this.#blockIds = blockIds;
  }

  async params(context: ReadContext, numbers: readonly number[], { at }: ReadAt): Promise<ConfigParamsRead> {
    const wanted = [...new Set(numbers)];
    if (wanted.length === 0 || wanted.length > MAX_PARAMS) {
      const value = `a list of ${wanted.length}`;
      throw chainErrors.parameter({ name: 'params', value, wanted: `1 to ${MAX_PARAMS} numbers` });
    }
    for (const number of wanted) {
      if ((number | 0) !== number)
        throw chainErrors.parameter({ name: 'param', value: String(number), wanted: 'an int32' });
    }
    const block = await this.#blockIds.resolveMasterchain(context, at);
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerGetConfigParams,
      query: { mode: 0, id: blockIdToTl(id), param_list: wanted },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'config params',
      verify: (found) => {
        expectBlock(found.id, id);
        const { config } = stateConfig(verifyConfig(id, found.state_proof, found.config_proof));
        return inPart('config_proof', () => {
          const params = new Map<number, Cell>();
          for (const number of wanted) {
            const cell = config.get(number);
            if (cell !== undefined) params.set(number, requireWhole(cell, `parameter ${number}`));
          }
          return params;
        });
      },
    });
    return { block: id, gen_utime: block.gen_utime, params: value, proof: context.proof(answer) };
  }

  async all(context: ReadContext, { at }: ReadAt): Promise<ConfigRead> {
    const block = await this.#blockIds.resolveMasterchain(context, at);
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerGetConfigAll,
      query: { mode: 0, id: blockIdToTl(id) },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'config',
      verify: (found) => {
        expectBlock(found.id, id);
        const { config } = stateConfig(verifyConfig(id, found.state_proof, found.config_proof));
        return inPart('config_proof', () => {
          const root = requireWhole(config.root!, 'the configuration');
          return { root, params: new Map(config) };
        });
      },
    });
    return { block: id, gen_utime: block.gen_utime, ...value, proof: context.proof(answer) };
  }
}

/** Refuses cells with pruned parts. @throws chain/incomplete-answer */
function requireWhole(cell: Cell, name: string): Cell {
  if (cell.levelMask === 0) return cell;
  throw chainErrors['incomplete-answer']({ problem: `${name} (${toHex(cell.hash(0))}) has pruned parts` });
}

/** Libraries published in the masterchain after a block. */
export interface LibrariesRead extends ReadResult<readonly LiteServerLibraryResultWithProof[]> {
  /** By hash in lower-case hex; an absent library is proven not to be published. */
  readonly libraries: ReadonlyMap<string, Cell>;
}

/** Maximum libraries per answer. */
const MAX_LIBRARIES_PER_QUERY = 16;

/** Maximum libraries per read. */
const MAX_LIBRARIES_PER_READ = 1024;

/** Reads libraries. */
export class LibraryReader {
  readonly #blockIds: BlockLookup;

  constructor(blockIds: BlockLookup) {
    this.#blockIds = blockIds;
  }

  async libraries(context: ReadContext, hashes: readonly Uint8Array[], { at }: ReadAt): Promise<LibrariesRead> {
    for (const { length } of hashes) {
      if (length === 32) continue;
      throw chainErrors.parameter({ name: 'hash', value: `${length} bytes long`, wanted: '32 bytes' });
    }
    const wanted = [...new Set(hashes.map(toHex))].sort();
    if (wanted.length > MAX_LIBRARIES_PER_READ) {
      const value = `a list of ${wanted.length}`;
      throw chainErrors.parameter({ name: 'hashes', value, wanted: `at most ${MAX_LIBRARIES_PER_READ}` });
    }
    const block = await this.#blockIds.resolveMasterchain(context, at);
    const { id } = block;
    const libraries = new Map<string, Cell>();
    const answers: LiteServerLibraryResultWithProof[] = [];
    for (let i = 0; i < wanted.length; i += MAX_LIBRARIES_PER_QUERY) {
      const library_list = wanted.slice(i, i + MAX_LIBRARIES_PER_QUERY).map((hash) => fromHex(hash)!);
      const { value, answer } = await context.query({
        fn: LiteServerGetLibrariesWithProof,
        query: { id: blockIdToTl(id), mode: 0, library_list },
        need: needOfState(block),
        immutable: true,
        verifiedAs: 'libraries',
        verify: (found) => {
          expectBlock(found.id, id);
          return verifyLibraries(id, library_list, found).map(({ hash, cell }) => {
            if (cell !== null) return { hash, cell };
            throw chainErrors['incomplete-answer']({ problem: `the cells of library ${toHex(hash)} are missing` });
          });
        },
      });
      for (const { hash, cell } of value) libraries.set(toHex(hash), cell);
      if (context.wantsProof) answers.push(answer);
    }
    return { block: id, gen_utime: block.gen_utime, libraries, proof: context.proof(answers) };
  }
}

/** Size of a shard's out-message queue after a block. */
export interface QueueSizeRead extends ReadResult<LiteServerBlockOutMsgQueueSize> {
  readonly size: number;
}

/** The out-message queue sizes of all shards, masterchain first. */
export interface QueueSizesRead extends ReadResult<readonly LiteServerBlockOutMsgQueueSize[]> {
  readonly queues: readonly { readonly block: BlockId; readonly size: number }[];
  /** False: the states do not contain the sizes, so they were counted by a server. */
  readonly proven: boolean;
}

const WANT_PROOF = 1;
const GLOBAL_VERSION = 8;
/** `capStoreOutMsgQueueSize`: states contain their queue sizes. */
const STORES_QUEUE_SIZE = 1n << 8n;

export interface QueueSizeReaderModules {
  readonly blockIds: BlockLookup;
  readonly shardTops: ShardTopReader;
  readonly config: ConfigReader;
}

/** Reads sizes of out-message queues, which states contain with `capStoreOutMsgQueueSize`. */
export class QueueSizeReader {
  readonly #modules: QueueSizeReaderModules;

  constructor(modules: QueueSizeReaderModules) {
    this.#modules = modules;
  }

  async queueSize(context: ReadContext, { at }: ReadAt): Promise<QueueSizeRead> {
    return this.#sizeAfter(context, await this.#modules.blockIds.resolveBlock(context, at));
  }

  /**
   * Shards without blocks have no queue and are omitted. On networks without the capability, a server is queried for its
   * count, which it only has for its newest block.
   */
  async queueSizes(context: ReadContext, { at }: ReadAt): Promise<QueueSizesRead> {
    const { blockIds, shardTops } = this.#modules;
    const block = await blockIds.resolveMasterchain(context, at);
    const { value } = await shardTops.all(context, block);
    const tops = value.filter((top) => top.block.seqno > 0);
    const blocks: ProvenBlock[] = [
      block,
      ...tops.map((top) => ({ id: top.block, gen_utime: null, mc_seqno: block.id.seqno })),
    ];
    const common = { block: block.id, gen_utime: block.gen_utime };
    let reads: QueueSizeRead[];
    try {
      reads = await Promise.all(blocks.map((each) => this.#sizeAfter(context, each)));
    } catch (error) {
      if (!isServersFailure(error) || (await this.#areStored(context, block.id))) throw error;
      const queues = await this.#counted(context, blocks);
      return { ...common, queues, proven: false, proof: context.proof([]) };
    }
    const answers = reads.map(({ proof }) => proof).filter((proof) => proof !== null);
    const queues = reads.map((read) => ({ block: read.block, size: read.size }));
    return { ...common, queues, proven: true, proof: context.proof(answers) };
  }

  async #areStored(context: ReadContext, at: BlockId): Promise<boolean> {
    const { params } = await this.#modules.config.params(context, [GLOBAL_VERSION], { at });
    const version = params.get(GLOBAL_VERSION);
    return version !== undefined && (decodeCell(GlobalVersion, version).capabilities & STORES_QUEUE_SIZE) !== 0n;
  }

  async #counted(context: ReadContext, blocks: readonly ProvenBlock[]): Promise<QueueSizesRead['queues']> {
    const { value } = await context.query({
      fn: LiteServerGetOutMsgQueueSizes,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ shards }) =>
        blocks.map(({ id }) => {
          const found = shards.find((each) => sameBlock(blockIdFromTl(each.id), id));
          if (found !== undefined && found.size >= 0) return { block: id, size: found.size };
          throw chainErrors['incomplete-answer']({ problem: `the queue of ${printBlockId(id)} is missing` });
        }),
    });
    return value;
  }

  /**
   * Maximum external-in messages per shard that a server queues. Reported by a server; not proven.
   */
  async externalQueueLimit(context: ReadContext): Promise<number> {
    const { value } = await context.query({
      fn: LiteServerGetOutMsgQueueSizes,
      query: { mode: 0, wc: null, shard: null },
      need: { kind: 'head' },
      verify: ({ ext_msg_queue_size_limit: limit }) => {
        if (limit >= 0) return limit;
        throw chainErrors['incomplete-answer']({ problem: `${limit} is not a valid queue limit` });
      },
    });
    return value;
  }

  async #sizeAfter(context: ReadContext, block: ProvenBlock): Promise<QueueSizeRead> {
    const { id } = block;
    const { value, answer } = await context.query({
      fn: LiteServerGetBlockOutMsgQueueSize,
      query: { mode: WANT_PROOF, id: blockIdToTl(id), want_proof: true },
      need: needOfState(block),
      immutable: true,
      verifiedAs: 'queue size',
      verify: (found) => {
        expectBlock(found.id, id);
        if (found.proof === null) throw chainErrors['incomplete-answer']({ problem: 'it contains no proof' });
        return verifyOutMsgQueueSize(id, found.size, found.proof);
      },
    });
    return { block: id, gen_utime: block.gen_utime, size: value, proof: context.proof(answer) };
  }
}
