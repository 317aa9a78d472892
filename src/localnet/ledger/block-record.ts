import { crc32 } from 'node:zlib';
import type { BlockId, BlockPosition } from '#formats/proofs/block-id.js';

/** Where something is in a pack, in bytes. */
export interface Extent {
  readonly at: number;
  readonly length: number;
}

/** What is known of a block without reading it. */
export interface BlockRecord {
  readonly id: BlockId;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** The masterchain block that commits it; its own seqno for a block of the masterchain. */
  readonly mc_seqno: number;
  readonly key_block: boolean;
  /** Its file, and the one of its proof, in the pack that it is in. */
  readonly block: Extent;
  readonly proof: Extent;
  /** CRC-32 of the file of the proof; that of the block has its file hash. */
  readonly proof_crc: number;
}

/** Each block takes as many bytes in the index. */
export const RECORD_BYTES = 124;

const CHECKED_BYTES = RECORD_BYTES - 4;

/**
 * Writes a record, all numbers least significant byte first: int32 workchain, uint32 seqno, uint64 shard, 32 bytes root
 * hash, 32 bytes file hash, uint64 end_lt, uint32 gen_utime, uint32 mc_seqno, uint32 place and length of the block,
 * uint32 place and length of the proof, uint32 flags (1: key block), uint32 CRC-32 of the proof, and uint32 CRC-32 of all before it.
 */
export function writeRecord(record: BlockRecord): Uint8Array {
  const { id, gen_utime, end_lt, mc_seqno, key_block, block, proof, proof_crc } = record;
  const bytes = new Uint8Array(RECORD_BYTES);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, id.workchain, true);
  view.setUint32(4, id.seqno, true);
  view.setBigUint64(8, id.shard, true);
  bytes.set(id.root_hash, 16);
  bytes.set(id.file_hash, 48);
  view.setBigUint64(80, end_lt, true);
  view.setUint32(88, gen_utime, true);
  view.setUint32(92, mc_seqno, true);
  view.setUint32(96, block.at, true);
  view.setUint32(100, block.length, true);
  view.setUint32(104, proof.at, true);
  view.setUint32(108, proof.length, true);
  view.setUint32(112, key_block ? 1 : 0, true);
  view.setUint32(116, proof_crc, true);
  view.setUint32(CHECKED_BYTES, crc32(bytes.subarray(0, CHECKED_BYTES)), true);
  return bytes;
}

/** Reads a record at a place of an index; its hashes are copies. `null` when its checksum is wrong. */
export function readRecord(bytes: Uint8Array, at: number): BlockRecord | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_BYTES);
  if (crc32(bytes.subarray(at, at + CHECKED_BYTES)) !== view.getUint32(CHECKED_BYTES, true)) return null;
  return {
    id: {
      workchain: view.getInt32(0, true),
      shard: view.getBigUint64(8, true),
      seqno: view.getUint32(4, true),
      root_hash: bytes.slice(at + 16, at + 48),
      file_hash: bytes.slice(at + 48, at + 80),
    },
    end_lt: view.getBigUint64(80, true),
    gen_utime: view.getUint32(88, true),
    mc_seqno: view.getUint32(92, true),
    key_block: (view.getUint32(112, true) & 1) !== 0,
    block: { at: view.getUint32(96, true), length: view.getUint32(100, true) },
    proof: { at: view.getUint32(104, true), length: view.getUint32(108, true) },
    proof_crc: view.getUint32(116, true),
  };
}

/** Whether the checksum of the record at a place of an index is right. */
export function isRecord(bytes: Uint8Array, at: number, view: DataView): boolean {
  return crc32(bytes.subarray(at, at + CHECKED_BYTES)) === view.getUint32(at + CHECKED_BYTES, true);
}

/** Where fields of a record are, by which blocks are looked for. */
export const FIELD_AT = {
  workchain: 0,
  seqno: 4,
  shard: 8,
  end_lt: 80,
  gen_utime: 88,
  mc_seqno: 92,
  extents: 96,
  flags: 112,
};

/** Which block the record at a place is about. */
export function positionAt(view: DataView, at: number): BlockPosition {
  return {
    workchain: view.getInt32(at + FIELD_AT.workchain, true),
    shard: view.getBigUint64(at + FIELD_AT.shard, true),
    seqno: view.getUint32(at + FIELD_AT.seqno, true),
  };
}
