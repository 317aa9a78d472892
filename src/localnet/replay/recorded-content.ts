import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/sha256.js';
import { openCell } from '#formats/cells/slice.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, blockOfIdExt, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { blockOfShard } from '#formats/proofs/shard-block.js';
import { Block } from '#formats/tlb/block.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { shardDescrs } from '#formats/tlb/shard-hashes.js';
import { shardOf } from '#formats/tlb/shard-ident.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { replayErrors } from '#localnet/replay/errors.js';
import type { RecordedBag, RecordedFolder } from '#localnet/replay/recorded-folder.js';

/** A block of the folder and what the chain needs to know of it. */
export interface FoundBlock {
  readonly file: string;
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly prev: readonly BlockId[];
  readonly key_block: boolean;
  readonly gen_utime: number;
  readonly end_lt: bigint;
  /** Of a masterchain block: the newest blocks of all shards. */
  readonly shards: readonly BlockId[];
}

/** A zerostate of the folder. */
export interface FoundZerostate {
  readonly file: string;
  readonly id: BlockId;
  readonly bytes: Uint8Array;
  readonly root: Cell;
}

/** A block proof of the folder. */
export interface FoundProof {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly signed: boolean;
}

/** All that a folder holds, by what it is. Blocks and proofs by the root hash of their block, in hex. */
export interface RecordedContent {
  readonly folder: string;
  readonly blocks: ReadonlyMap<string, FoundBlock>;
  readonly zerostates: readonly FoundZerostate[];
  readonly proofs: ReadonlyMap<string, FoundProof>;
}

const BLOCK = 0x11ef55aa;
const STATE = 0x9023afe2;
const BLOCK_PROOF = 0xc3;

/**
 * Finds out what each bag of cells is, by what it holds. Hashes that a name states are compared with the content.
 * @throws replay/bad-file, replay/other-name
 */
export function sortContent({ folder, bags }: RecordedFolder): RecordedContent {
  const blocks = new Map<string, FoundBlock>();
  const proofs = new Map<string, FoundProof>();
  const zerostates: FoundZerostate[] = [];
  for (const bag of bags) {
    inFile(bag.file, () => {
      const root = parseBocRoot(bag.bytes);
      const tag = root.bits >= 32 ? openTag(root, 32) : 0;
      if (tag === BLOCK) {
        const block = readBlock(bag, root);
        checkName(bag, block.id);
        blocks.set(toHex(block.id.root_hash), block);
      } else if (tag === STATE) {
        const zerostate = readZerostate(bag, root);
        if (zerostate !== null) zerostates.push(zerostate);
      } else if (root.bits >= 8 && openTag(root, 8) === BLOCK_PROOF) {
        const proof = decodeCell(BlockProof, root);
        const id = blockOfIdExt(proof.proof_for);
        checkName(bag, id);
        const key = toHex(id.root_hash);
        const signed = proof.signatures !== null;
        if (signed || !proofs.has(key)) proofs.set(key, { file: bag.file, bytes: bag.bytes, signed });
      }
    });
  }
  return { folder, blocks, zerostates, proofs };
}

function inFile(file: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!isTernError(error) || error.code.startsWith('replay/')) throw error;
    throw replayErrors['bad-file']({ file, problem: error.message }, error);
  }
}

function openTag(root: Cell, bits: number): number {
  return root.type === 0 ? openCell(root).loadUint(bits) : 0;
}

function readBlock({ file, bytes }: RecordedBag, root: Cell): FoundBlock {
  const block = decodeCell(Block, root);
  const { shard, seq_no } = block.info.value;
  const id: BlockId = {
    workchain: shard.workchain_id,
    shard: shardOf(shard),
    seqno: seq_no,
    root_hash: root.hash().slice(),
    file_hash: sha256(bytes),
  };
  const { info, prev } = checkBlockHeader(root, id);
  const shards = isMasterchain(id)
    ? [...shardDescrs(block.extra.value.custom!.value.shard_hashes)].map(blockOfShard)
    : [];
  const { key_block, gen_utime, end_lt } = info;
  return { file, id, bytes, prev, key_block, gen_utime, end_lt, shards };
}

function readZerostate({ file, bytes }: RecordedBag, root: Cell): FoundZerostate | null {
  const { shard_id, seq_no } = decodeCell(ShardStateUnsplit, root);
  if (seq_no !== 0) return null;
  const id = { workchain: shard_id.workchain_id, shard: shardOf(shard_id), seqno: 0 };
  return { file, id: { ...id, root_hash: root.hash().slice(), file_hash: sha256(bytes) }, bytes, root };
}

const NAME = /^\w+_\((-?\d+),([0-9a-fA-F]{16}),(\d+)\):([0-9a-fA-F]{64}):([0-9a-fA-F]{64})$/;

function checkName({ file, name }: RecordedBag, id: BlockId): void {
  const match = name === null ? null : NAME.exec(name);
  if (match === null) return;
  const [, workchain, shard, seqno, rootHash, fileHash] = match;
  const place = `(${workchain},${shard!.toLowerCase()},${seqno})`;
  const fields: readonly (readonly [field: string, named: string, found: string])[] = [
    ['block', place, printPosition(id)],
    ['root hash', rootHash!.toLowerCase(), toHex(id.root_hash)],
    ['file hash', fileHash!.toLowerCase(), toHex(id.file_hash)],
  ];
  for (const [field, named, found] of fields) {
    if (named !== found) throw replayErrors['other-name']({ file, field, named, found });
  }
}
