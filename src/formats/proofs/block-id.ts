import { proofsErrors } from '#formats/proofs/errors.js';
import {
  type BlockIdExt,
  type ExtBlkRef,
  MASTERCHAIN,
  shardHex,
  shardOf,
  WHOLE_WORKCHAIN,
} from '#formats/tlb/block-id.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** A shard: workchain (int32) and shard id (uint64, a tag bit after the prefix). */
export interface Shard {
  readonly workchain: number;
  readonly shard: bigint;
}

/** A position in a shard chain, without the hashes of its block (`tonNode.blockId`). */
export interface BlockPosition extends Shard {
  /** uint32 */
  readonly seqno: number;
}

/**
 * The full id of a block, or with seqno 0 of a zerostate (`tonNode.blockIdExt`, `block_id_ext$_`). Both hashes have
 * 32 bytes. The root hash is that of the root cell, the file hash the SHA-256 of the serialized bytes.
 */
export interface BlockId extends BlockPosition {
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}

export const MASTERCHAIN_SHARD: Shard = { workchain: MASTERCHAIN, shard: WHOLE_WORKCHAIN };

export function sameShard(a: Shard, b: Shard): boolean {
  return a.workchain === b.workchain && a.shard === b.shard;
}

export function sameBlock(a: BlockId, b: BlockId): boolean {
  return (
    a.seqno === b.seqno &&
    sameShard(a, b) &&
    bytesEqual(a.root_hash, b.root_hash) &&
    bytesEqual(a.file_hash, b.file_hash)
  );
}

/** Whether it is in the masterchain, with its only shard. */
export function isMasterchain(id: Shard): boolean {
  return sameShard(id, MASTERCHAIN_SHARD);
}

/** @throws proofs/not-masterchain */
export function requireMasterchain(id: BlockPosition): void {
  if (!isMasterchain(id)) throw proofsErrors['not-masterchain']({ block: printPosition(id) });
}

/** The id of a referenced block; its shard is known from the context of the reference. */
export function blockOfRef(shard: Shard, ref: Pick<ExtBlkRef, 'seq_no' | 'root_hash' | 'file_hash'>): BlockId {
  const { seq_no: seqno, root_hash, file_hash } = ref;
  return { workchain: shard.workchain, shard: shard.shard, seqno, root_hash, file_hash };
}

/** The value of a `BlockIdExt`. */
export function blockOfIdExt(id: BlockIdExt): BlockId {
  return blockOfRef({ workchain: id.shard_id.workchain_id, shard: shardOf(id.shard_id) }, id);
}

/** `(-1,8000000000000000)` */
export function printShard({ workchain, shard }: Shard): string {
  return `(${workchain},${shardHex(shard)})`;
}

/** `(-1,8000000000000000,123)` */
export function printPosition({ workchain, shard, seqno }: BlockPosition): string {
  return `(${workchain},${shardHex(shard)},${seqno})`;
}

/** `(-1,8000000000000000,123):ROOTHASH:FILEHASH`, as TON tools write it. */
export function printBlockId(id: BlockId): string {
  return `${printPosition(id)}:${toHex(id.root_hash).toUpperCase()}:${toHex(id.file_hash).toUpperCase()}`;
}
