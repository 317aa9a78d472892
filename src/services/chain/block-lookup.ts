import type { BlockHeader } from '#formats/proofs/block-header.js';
import {
  type BlockId,
  type BlockPosition,
  isMasterchain,
  MASTERCHAIN_SHARD,
  printBlockId,
  printPosition,
  printShard,
  type Shard,
  sameBlock,
  sameShard,
} from '#formats/proofs/block-id.js';
import { type BlockQuery, blockOfShard, type ProvenShard, verifyAllShards } from '#formats/proofs/shard-block.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  type LiteServerAllShardsInfo,
  LiteServerGetAllShardsInfo,
  type LiteServerLookupBlockResult,
} from '#formats/tl/lite-api.js';

import { shardContains } from '#formats/tlb/block-id.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { chainErrors } from '#services/chain/errors.js';
import {
  expectBlock,
  type FoundBlock,
  lookupFrom,
  type ProvenBlock,
  type ProvenBlocks,
} from '#services/chain/proven-blocks.js';
import {
  type BlockAt,
  type CheckedAnswer,
  isNotAvailable,
  isServersFailure,
  type ReadContext,
  type ReadResult,
} from '#services/chain/read-context.js';
import type { Trust, TrustedHead } from '#services/chain/trust.js';

/** A block found by a lookup. */
export interface FoundBlockRead extends ReadResult<LiteServerLookupBlockResult> {
  readonly gen_utime: number;
  readonly header: BlockHeader;
  /** A masterchain block that proves it; the block itself if it is one. Honest servers return the one that commits it. */
  readonly masterchain_block: BlockId;
}

export interface BlockLookupModules {
  readonly trust: Trust;
  readonly proven: ProvenBlocks;
  readonly shardTops: ShardTopReader;
}

type LookupAnswer = CheckedAnswer<FoundBlock, LiteServerLookupBlockResult>;

/** Looks up blocks, and proves that blocks are in the chain. */
export class BlockLookup {
  readonly #modules: BlockLookupModules;

  constructor(modules: BlockLookupModules) {
    this.#modules = modules;
  }

  /**
   * Resolves the block of a read and proves it.
   * @throws chain/block-not-found, chain/block-not-in-chain, chain/parameter, lite/*
   */
  async resolve(context: ReadContext, at: BlockAt | undefined): Promise<ProvenBlock> {
    if (at === undefined || at === 'head') return this.#modules.trust.newest(context);
    if (typeof at === 'number') return this.#atPosition(context, { ...MASTERCHAIN_SHARD, seqno: at });
    const found = await this.#atPosition(context, at);
    if (!('root_hash' in at) || sameBlock(found.id, at)) return found;
    throw chainErrors['block-not-in-chain']({ wanted: printBlockId(at), found: printBlockId(found.id) });
  }

  /** As {@link BlockLookup.resolve}, for reads of masterchain states. @throws chain/masterchain-only, chain/zerostate */
  async resolveMasterchain(context: ReadContext, at: BlockAt | undefined): Promise<ProvenBlock> {
    if (typeof at === 'object' && !isMasterchain(at))
      throw chainErrors['masterchain-only']({ block: printPosition(at) });
    return this.#block(await this.resolve(context, at));
  }

  /** As {@link BlockLookup.resolve}, for reads of blocks, not states. @throws chain/zerostate */
  async resolveBlock(context: ReadContext, at: BlockAt | undefined): Promise<ProvenBlock> {
    return this.#block(await this.resolve(context, at));
  }

  #block(block: ProvenBlock): ProvenBlock {
    if (block.id.seqno > 0) return block;
    throw chainErrors.zerostate({ block: printPosition(block.id) });
  }

  /**
   * The block of a shard with a seqno, or the first block that reaches an lt or a time.
   * @throws chain/block-not-found, chain/parameter, lite/*
   */
  async find(context: ReadContext, query: BlockQuery): Promise<FoundBlockRead> {
    checkQuery(query);
    // The masterchain has one shard, which contains every prefix.
    const shard = query.workchain === MASTERCHAIN_SHARD.workchain ? MASTERCHAIN_SHARD.shard : query.shard;
    const { value, answer } = await this.#lookUp(context, { ...query, shard });
    const { header, mc } = value;
    const { gen_utime } = header.info;
    return { block: header.id, gen_utime, header, masterchain_block: mc, proof: context.proof(answer) };
  }

  async #atPosition(context: ReadContext, position: BlockPosition): Promise<ProvenBlock> {
    const { trust, proven } = this.#modules;
    await trust.keyBlocks();
    const known = proven.get(position);
    if (known !== null) return known;
    // The zerostate is not evicted from the proven blocks.
    if (samePosition(position, trust.zerostate)) return { id: trust.zerostate, gen_utime: null, mc_seqno: 0 };
    checkQuery({ ...position, by: 'seqno' });
    const { value } = await this.#lookUp(context, { ...position, by: 'seqno' });
    const { header, mc } = value;
    return { id: header.id, gen_utime: header.info.gen_utime, mc_seqno: mc.seqno };
  }

  /** Looks up relative to the newest block, whose state contains all previous masterchain blocks. */
  async #lookUp(context: ReadContext, query: BlockQuery): Promise<LookupAnswer> {
    const { trust, proven } = this.#modules;
    let head = await trust.newest(context);
    if (isMasterchain(query) && isBeyond(head, query)) {
      head = await trust.catchUp(context);
      if (isBeyond(head, query)) throw notFound(query, `the newest block is ${printPosition(head.id)}`);
    }
    const found = await this.#lookUpFrom(context, head, query);
    const { header, mc } = found.value;
    proven.add({ id: mc, gen_utime: null, mc_seqno: mc.seqno });
    proven.add({ id: header.id, gen_utime: header.info.gen_utime, mc_seqno: mc.seqno });
    return found;
  }

  async #lookUpFrom(context: ReadContext, head: TrustedHead, query: BlockQuery): Promise<LookupAnswer> {
    try {
      return await this.#ask(context, head.id, query);
    } catch (error) {
      if (!isServersFailure(error)) throw error;
      if (!isMasterchain(query)) await this.#checkTop(context, head, query);
      if (query.by === 'seqno') {
        if (isMasterchain(query) || !isNotAvailable(error)) throw error;
        throw notFound(query, 'no server has it');
      }
      return await this.#firstBlock(context, head, query, error);
    }
  }

  /** Servers cannot prove that the first block of a shard is the first, because a zerostate has no header. */
  async #firstBlock(
    context: ReadContext,
    head: TrustedHead,
    query: BlockQuery,
    failure: unknown,
  ): Promise<LookupAnswer> {
    let first: LookupAnswer;
    try {
      first = await this.#ask(context, head.id, {
        workchain: query.workchain,
        shard: query.shard,
        by: 'seqno',
        seqno: 1,
      });
    } catch {
      throw failure;
    }
    const { info } = first.value.header;
    const reaches = query.by === 'lt' ? info.end_lt >= query.lt : query.by === 'utime' && info.gen_utime >= query.utime;
    if (!reaches) throw failure;
    return first;
  }

  /** @throws chain/block-not-found when the block is newer than the newest of its shard, or the workchain does not exist */
  async #checkTop(context: ReadContext, head: TrustedHead, query: BlockQuery): Promise<void> {
    const top = await this.#modules.shardTops.topOf(context, head, query);
    if (top === null) throw notFound(query, `masterchain block ${head.id.seqno} does not have this workchain`);
    const { seq_no, end_lt, gen_utime } = top.entry.descr;
    const beyond =
      query.by === 'seqno' ? query.seqno > seq_no : query.by === 'lt' ? query.lt > end_lt : query.utime > gen_utime;
    if (beyond) throw notFound(query, `the newest block of the shard is ${printPosition(top.block)}`);
  }

  #ask(context: ReadContext, known: BlockId, query: BlockQuery): Promise<LookupAnswer> {
    const liteQuery = { ...lookupFrom(known, query, (found) => found), immutable: true, verifiedAs: 'lookup' };
    if (query.by === 'seqno' && isMasterchain(query)) {
      return context.query({ ...liteQuery, need: { kind: 'block', seqno: query.seqno } });
    }
    return context.queryAnyAge(liteQuery);
  }
}

function samePosition(a: BlockPosition, b: BlockPosition): boolean {
  return a.seqno === b.seqno && sameShard(a, b);
}

/** Whether the query is for a masterchain block newer than the head. */
function isBeyond(head: TrustedHead, query: BlockQuery): boolean {
  if (query.by === 'seqno') return query.seqno > head.id.seqno;
  if (query.by === 'lt') return query.lt > head.end_lt;
  return query.utime > (head.gen_utime ?? 0);
}

function notFound(query: BlockQuery, reason: string): Error {
  const what = query.by === 'seqno' ? query.seqno : query.by === 'lt' ? query.lt : query.utime;
  return chainErrors['block-not-found']({ wanted: `${printShard(query as Shard)} with ${query.by} ${what}`, reason });
}

const MAX_UINT32 = 0xffffffff;
const MAX_UINT64 = (1n << 64n) - 1n;

/** @throws chain/parameter, chain/zerostate */
function checkQuery(query: BlockQuery): void {
  const { workchain, shard } = query;
  if ((workchain | 0) !== workchain) throw parameter('workchain', workchain, 'an int32');
  if (shard <= 0n || shard > MAX_UINT64) throw parameter('shard', shard, 'a uint64, not 0');
  if (query.by === 'lt') {
    if (query.lt < 0n || query.lt > MAX_UINT64) throw parameter('lt', query.lt, 'a uint64');
    return;
  }
  const value = query.by === 'seqno' ? query.seqno : query.utime;
  if (!Number.isInteger(value) || value < 0 || value > MAX_UINT32) throw parameter(query.by, value, 'a uint32');
  if (query.by === 'seqno' && value === 0) {
    throw chainErrors.zerostate({ block: printPosition({ workchain, shard, seqno: 0 }) });
  }
}

function parameter(name: string, value: number | bigint, wanted: string): Error {
  return chainErrors.parameter({ name, value: String(value), wanted });
}

/** Reads the shard tops (newest shard blocks) of a proven masterchain block. */
export class ShardTopReader {
  readonly #proven: ProvenBlocks;

  constructor(proven: ProvenBlocks) {
    this.#proven = proven;
  }

  /** Shard tops of a workchain from left to right; none before the first masterchain block that contains one. */
  async all(
    context: ReadContext,
    { id }: ProvenBlock,
  ): Promise<CheckedAnswer<readonly ProvenShard[], LiteServerAllShardsInfo>> {
    const found = await context.query({
      fn: LiteServerGetAllShardsInfo,
      query: { id: blockIdToTl(id) },
      need: { kind: 'block', seqno: id.seqno },
      immutable: true,
      verifiedAs: 'shards',
      verify: (answer) => {
        expectBlock(answer.id, id);
        return this.#read(id, answer);
      },
    });
    for (const { block, entry } of found.value) {
      this.#proven.add({ id: block, gen_utime: block.seqno === 0 ? null : entry.descr.gen_utime, mc_seqno: id.seqno });
    }
    return found;
  }

  #read(id: BlockId, { proof, data }: LiteServerAllShardsInfo): readonly ProvenShard[] {
    const hashes = verifyAllShards(id, proof, data);
    return [...shardDescrs(hashes)].map((entry) => ({ block: blockOfShard(entry), entry }));
  }

  /** The top of the shard that contains a prefix; `null` when the workchain does not exist. */
  async topOf(context: ReadContext, block: ProvenBlock, { workchain, shard }: Shard): Promise<ProvenShard | null> {
    if (!isMasterchain(block.id) || block.id.seqno === 0) return null;
    const { value } = await this.all(context, block);
    return value.find((top) => top.entry.workchain === workchain && shardContains(top.entry.shard, shard)) ?? null;
  }
}
