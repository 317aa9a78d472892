import type { BlockId } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { toHex } from '#kernel/bytes.js';
import type { BlockFileRead } from '#services/chain/blocks.js';

/** A block of a bundle. */
export interface BundleBlock {
  readonly id: BlockId;
  /** The block file; its SHA-256 is the file hash of the id. A view into the liteserver's answer. */
  readonly data: Uint8Array;
}

/** A masterchain block with the shard blocks that it newly commits. */
export interface McBlockBundle {
  readonly mc_seqno: number;
  /** The masterchain block, then the shard blocks by workchain, shard (unsigned) and seqno. No zerostates. */
  readonly blocks: readonly BundleBlock[];
}

export function bundleOf(masterchain: BlockFileRead, shards: readonly BlockFileRead[]): McBlockBundle {
  const blocks = [masterchain, ...shards.toSorted(byPlace)].map(({ id, data }) => ({ id, data }));
  return { mc_seqno: masterchain.id.seqno, blocks };
}

function byPlace({ id: a }: BlockFileRead, { id: b }: BlockFileRead): number {
  if (a.workchain !== b.workchain) return a.workchain - b.workchain;
  if (a.shard !== b.shard) return a.shard < b.shard ? -1 : 1;
  return a.seqno - b.seqno;
}

/** Bytes of all block files. */
export function bundleBytes({ blocks }: McBlockBundle): number {
  let bytes = 0;
  for (const { data } of blocks) bytes += data.length;
  return bytes;
}

/** The shard tops listed by a masterchain block, by root hash in hex. */
export type CommittedShardTops = ReadonlyMap<string, CommittedShardTop>;

export interface CommittedShardTop {
  readonly id: BlockId;
  /** Whether `reg_mc_seqno` names this masterchain block. A hint only: which blocks are new follows from `prev_ref` links. */
  readonly isRegisteredHere: boolean;
}

/** Before the first masterchain block no shard block is committed. */
export const NO_SHARD_TOPS: CommittedShardTops = new Map();

/** Reads the file of a block of the bundle. */
export type ReadBlockFile = (id: BlockId) => Promise<BlockFileRead>;

/** The shard tops of a masterchain block (`shard_hashes` of its McBlockExtra). */
export function shardTopsOf({ id, header }: BlockFileRead): CommittedShardTops {
  const tops = new Map<string, CommittedShardTop>();
  for (const entry of shardDescrs(header.block.extra.value.custom!.value.shard_hashes)) {
    const top = blockOfShard(entry);
    tops.set(keyOf(top), { id: top, isRegisteredHere: entry.descr.reg_mc_seqno === id.seqno });
  }
  return tops;
}

/** Reads the shard blocks that a masterchain block newly commits, each once. */
export class CommittedShardBlocks {
  readonly #tops: CommittedShardTops;
  readonly #read: ReadBlockFile;
  readonly #files = new Map<string, Promise<BlockFileRead>>();

  /** Starts to read the tops that are likely new, before the tops of the previous masterchain block are known. */
  constructor(tops: CommittedShardTops, read: ReadBlockFile) {
    this.#tops = tops;
    this.#read = read;
    for (const { id, isRegisteredHere } of tops.values()) {
      // A failure is reported to whoever awaits the file; if the block is not new, nobody does.
      if (isRegisteredHere && id.seqno > 0) this.#file(keyOf(id), id).catch(() => {});
    }
  }

  /**
   * All blocks from the tops back to the tops of the previous masterchain block, over splits and merges; unordered.
   *
   * @param before shard tops of the previous masterchain block
   */
  async since(before: CommittedShardTops): Promise<BlockFileRead[]> {
    const found = new Map<string, BlockFileRead | null>();
    const visit = async (id: BlockId): Promise<void> => {
      const key = keyOf(id);
      if (id.seqno === 0 || before.has(key) || found.has(key)) return;
      found.set(key, null);
      const file = await this.#file(key, id);
      found.set(key, file);
      await visitAll(file.header.prev);
    };
    const visitAll = async (ids: readonly BlockId[]): Promise<void> => {
      if (ids.length === 1) await visit(ids[0]!);
      else await Promise.all(ids.map(visit));
    };
    await visitAll([...this.#tops.values()].map(({ id }) => id));
    return [...found.values()].filter((file) => file !== null);
  }

  #file(key: string, id: BlockId): Promise<BlockFileRead> {
    let file = this.#files.get(key);
    if (file === undefined) {
      file = this.#read(id);
      this.#files.set(key, file);
    }
    return file;
  }
}

function keyOf({ root_hash }: BlockId): string {
  return toHex(root_hash);
}
