import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { readMerkleUpdate } from '#formats/cells/merkle-update.js';
import {
  type BlockId,
  blockOfRef,
  isMasterchain,
  MASTERCHAIN_SHARD,
  printPosition,
  type Shard,
} from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, requireLevelZero } from '#formats/proofs/proof-part.js';
import { Block, type BlockInfo } from '#formats/tlb/block.js';
import { MASTERCHAIN, previousBlocks, shardChildren, shardHex, shardOf, shardParent } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** A block whose header has been verified against its id. Which other parts are visible depends on the proof. */
export interface BlockHeader {
  readonly id: BlockId;
  /** The root of the verified cells. */
  readonly root: Cell;
  readonly block: Block;
  readonly info: BlockInfo;
  /** The previous block; after a merge the last blocks of the left and the right shard. Seqno 0: a zerostate. */
  readonly prev: readonly BlockId[];
  /** The masterchain block that a shard block was created on; `null` for masterchain blocks. */
  readonly master_ref: BlockId | null;
}

/**
 * Checks that cells are (the visible part of) a block: the root hash, and shard and seqno in the header.
 * The file hash cannot be checked with cells.
 *
 * @param root the root of the block, whole or as a Merkle proof shows it
 * @throws proofs/root-hash, proofs/header, proofs/malformed, proofs/incomplete
 */
export function checkBlockHeader(root: Cell, id: BlockId): BlockHeader {
  checkRootHash(root, id);
  return readBlockHeader(root, id);
}

/** Decodes the header of cells that are known to be this block. */
function readBlockHeader(root: Cell, id: BlockId): BlockHeader {
  return inPart('block', () => {
    const block = decodeCell(Block, root);
    const info = block.info.value;
    expectField(id, 'workchain', id.workchain, info.shard.workchain_id);
    expectField(id, 'shard', shardHex(id.shard), shardHex(shardOf(info.shard)));
    expectField(id, 'seq_no', id.seqno, info.seq_no);
    expectField(id, 'not_master', id.workchain !== MASTERCHAIN, info.not_master);
    const prev = previousBlockIds(id, info);
    const master = info.master_ref?.value.master;
    return {
      id,
      root,
      block,
      info,
      prev,
      master_ref: master === undefined ? null : blockOfRef(MASTERCHAIN_SHARD, master),
    };
  });
}

/** @throws proofs/root-hash */
export function checkRootHash(root: Cell, id: BlockId): void {
  const found = root.hash(0);
  if (bytesEqual(found, id.root_hash)) return;
  throw proofsErrors['root-hash']({ block: printPosition(id), expected: toHex(id.root_hash), found: toHex(found) });
}

function expectField(id: BlockId, field: string, expected: unknown, found: unknown): void {
  if (expected === found) return;
  throw proofsErrors.header({ block: printPosition(id), field, expected: String(expected), found: String(found) });
}

/** The ids of the previous blocks (`prev_ref`); their shards follow from the split and merge flags. @throws proofs/header */
export function previousBlockIds(id: BlockId, info: BlockInfo): readonly BlockId[] {
  const refs = previousBlocks(info.prev_ref.value);
  const shards = previousShards(id, info);
  expectField(id, 'seq_no', Math.max(...refs.map((ref) => ref.seq_no)) + 1, info.seq_no);
  return refs.map((ref, i) => blockOfRef(shards[i]!, ref));
}

function previousShards(id: BlockId, info: BlockInfo): readonly Shard[] {
  const { workchain, shard } = id;
  if (isMasterchain(id) || info.after_merge) expectField(id, 'after_split', false, info.after_split);
  if (isMasterchain(id)) expectField(id, 'after_merge', false, info.after_merge);
  if (info.after_merge) return shardChildren(shard).map((child) => ({ workchain, shard: child }));
  return [{ workchain, shard: info.after_split ? shardParent(shard) : shard }];
}

/**
 * The hash of the shard's state after the block: the new side of its Merkle update.
 * @throws proofs/malformed, proofs/incomplete when it is pruned
 */
export function stateHash(header: BlockHeader): Uint8Array {
  return inPart('block.state_update', () => readMerkleUpdate(header.block.state_update.cell).newHash);
}

/** Verifies a header proof: a bag with one Merkle proof of a block. @throws as {@link checkBlockHeader} */
export function verifyBlockHeader(proof: Uint8Array, id: BlockId): BlockHeader {
  const root = openProof('header_proof', proof);
  return inPart('header_proof', () => checkBlockHeader(root, id));
}

/**
 * Verifies the bytes of a whole block: file hash, root hash, header.
 * @throws proofs/file-hash, and as {@link checkBlockHeader}
 */
export function verifyBlockFile(bytes: Uint8Array, id: BlockId): BlockHeader {
  checkFileHash(bytes, id);
  return inPart('data', () => {
    const root = parseBocRoot(bytes);
    requireLevelZero(root);
    return checkBlockHeader(root, id);
  });
}

/**
 * As {@link verifyBlockFile} for an id whose two hashes come from the same verified block: the file hash commits to
 * every byte, and so to the root hash beside it. No cell is hashed.
 *
 * @throws proofs/file-hash, proofs/header, proofs/malformed
 */
export function verifyNamedBlockFile(bytes: Uint8Array, id: BlockId): BlockHeader {
  checkFileHash(bytes, id);
  return inPart('data', () => {
    const root = parseBocRoot(bytes);
    requireLevelZero(root);
    return readBlockHeader(root, id);
  });
}

/**
 * Verifies the bytes of a zerostate, whose id has seqno 0, and returns its root.
 * @throws proofs/file-hash, proofs/root-hash, proofs/malformed
 */
export function verifyZerostateFile(bytes: Uint8Array, id: BlockId): Cell {
  checkFileHash(bytes, id);
  return inPart('data', () => {
    const root = parseBocRoot(bytes);
    requireLevelZero(root);
    checkRootHash(root, id);
    return root;
  });
}

function checkFileHash(bytes: Uint8Array, id: BlockId): void {
  const found = sha256(bytes);
  if (bytesEqual(found, id.file_hash)) return;
  throw proofsErrors['file-hash']({ block: printPosition(id), expected: toHex(id.file_hash), found: toHex(found) });
}
