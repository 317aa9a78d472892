import type { BlockId } from '#formats/proofs/block-id.js';
import type { BlockFileRead } from '#services/chain/block-data.js';

/** A block of a round. */
export interface RoundBlock {
  readonly id: BlockId;
  /** The file: SHA-256 is the file hash of the id. A view of the answer that it came in. */
  readonly data: Uint8Array;
}

/** A masterchain block and what it newly commits. */
export interface Round {
  readonly mc_seqno: number;
  /** The masterchain block, then those of shards by workchain, shard (unsigned) and seqno. No zerostates. */
  readonly blocks: readonly RoundBlock[];
}

export function roundOf(masterchain: BlockFileRead, shards: readonly BlockFileRead[]): Round {
  const blocks = [masterchain, ...shards.toSorted(byPlace)].map(({ id, data }) => ({ id, data }));
  return { mc_seqno: masterchain.id.seqno, blocks };
}

function byPlace({ id: a }: BlockFileRead, { id: b }: BlockFileRead): number {
  if (a.workchain !== b.workchain) return a.workchain - b.workchain;
  if (a.shard !== b.shard) return a.shard < b.shard ? -1 : 1;
  return a.seqno - b.seqno;
}

/** Bytes of all files. */
export function roundBytes({ blocks }: Round): number {
  let bytes = 0;
  for (const { data } of blocks) bytes += data.length;
  return bytes;
}
