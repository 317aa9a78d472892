import { type BlockHeader, checkBlockHeader } from '#formats/proofs/block-header.js';
import {
  type BlockId,
  blockOfRef,
  printBlockId,
  printPosition,
  printShard,
  requireMasterchain,
  type Shard,
  sameBlock,
} from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, readRoots } from '#formats/proofs/proof-part.js';
import { masterchainExtra, verifyTwoRootState } from '#formats/proofs/shard-state.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { findShard, type ShardEntry, ShardHashes, ShardTree } from '#formats/tlb/shard-hashes.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** Most blocks that a shard may have for one masterchain block, and so most links of a chain to one of them. */
export const MAX_SHARD_LINKS = 8;

/** The newest block of a shard, as a masterchain block lists it. */
export interface ProvenShard {
  readonly block: BlockId;
  readonly entry: ShardEntry;
}

/** One step of a proof that goes from a masterchain block down to a shard block (`liteServer.shardBlockLink`). */
export interface ShardBlockLink {
  readonly id: BlockId;
  /** Proof of the block before in the chain, which refers to `id`. */
  readonly proof: Uint8Array;
}

/** The block that an entry of the shard configuration names. */
export function blockOfShard(entry: ShardEntry): BlockId {
  return blockOfRef(entry, entry.descr);
}

/**
 * The shard that a prefix belongs to, and its newest block.
 * @param prefix the first 64 bits of an account id, or a shard id
 */
function shardOfPrefix(hashes: ShardHashes, workchain: number, prefix: bigint): ProvenShard | null {
  const entry = inPart('shard_hashes', () => findShard(hashes, workchain, prefix));
  return entry === null ? null : { block: blockOfShard(entry), entry };
}

/**
 * Checks that a block is the newest of its shard according to a masterchain block (`shard_proof` of account states).
 *
 * @param proof two Merkle proofs: of the header of the masterchain block, and of the state after it
 * @throws proofs/not-masterchain, proofs/root-count, proofs/root-hash, proofs/header, proofs/state-hash,
 *   proofs/shard-missing, proofs/shard-block, proofs/malformed, proofs/incomplete
 */
export function verifyShardBlock(masterchainBlock: BlockId, shardBlock: BlockId, proof: Uint8Array): ProvenShard {
  const found = verifyShardOfPrefix(masterchainBlock, shardBlock, proof);
  if (found === null) throw missing(masterchainBlock, shardBlock);
  if (sameBlock(found.block, shardBlock)) return found;
  throw proofsErrors['shard-block']({ expected: printBlockId(found.block), found: printBlockId(shardBlock) });
}

/**
 * The shard that a prefix belongs to according to a masterchain block, or `null` when there is no such workchain.
 * @throws as {@link verifyShardBlock}
 */
export function verifyShardOfPrefix(
  masterchainBlock: BlockId,
  { workchain, shard }: Shard,
  proof: Uint8Array,
): ProvenShard | null {
  requireMasterchain(masterchainBlock);
  const state = verifyTwoRootState('shard_proof', masterchainBlock, proof);
  return inPart('shard_proof', () => shardOfPrefix(masterchainExtra(state).shard_hashes, workchain, shard));
}

function missing(block: BlockId, shard: Shard): Error {
  return proofsErrors['shard-missing']({ shard: printShard(shard), block: printPosition(block) });
}

/** An answer about one shard (`liteServer.shardInfo`); proof and description are empty when there is no such shard. */
export interface ShardInfoAnswer {
  readonly shard_block: BlockId;
  readonly shard_proof: Uint8Array;
  readonly shard_descr: Uint8Array;
}

/**
 * Checks an answer about the shard that is asked for, or (`exact` false) the one that its first account is in.
 * Gives `null` when the proof shows that there is none.
 *
 * @throws as {@link verifyShardBlock}, proofs/shard-description
 */
export function verifyShardInfo(
  masterchainBlock: BlockId,
  wanted: Shard,
  exact: boolean,
  answer: ShardInfoAnswer,
): ProvenShard | null {
  const found = verifyShardOfPrefix(masterchainBlock, wanted, answer.shard_proof);
  const given = answer.shard_descr.length === 0 ? null : answer;
  if (found === null || (exact && found.block.shard !== wanted.shard)) {
    if (given === null) return null;
    throw missing(masterchainBlock, wanted);
  }
  if (!sameBlock(found.block, answer.shard_block)) {
    throw proofsErrors['shard-block']({ expected: printBlockId(found.block), found: printBlockId(answer.shard_block) });
  }
  inPart('shard_descr', () => {
    const leaf = readRoots(answer.shard_descr, 1)[0]!;
    const tree = decodeCell(ShardTree, leaf);
    const descr = tree.kind === 'bt_leaf' ? tree.leaf : null;
    if (descr !== null && bytesEqual(descr.root_hash, found.entry.descr.root_hash)) return;
    throw proofsErrors['shard-description']({ shard: printShard(wanted), expected: '', found: toHex(leaf.hash(0)) });
  });
  return found;
}

/** The shards that a masterchain block commits. @throws proofs/not-masterchain, proofs/malformed, proofs/incomplete */
export function blockShardHashes({ id, block }: BlockHeader): ShardHashes {
  requireMasterchain(id);
  return inPart('block.extra.custom', () => {
    const { custom } = block.extra.value;
    if (custom === null) throw proofsErrors['not-masterchain']({ block: printPosition(id) });
    return custom.value.shard_hashes;
  });
}

/**
 * Checks an answer with all shards of a masterchain block (`liteServer.allShardsInfo`).
 *
 * @param proof Merkle proof of the block that shows the root of its shard configuration
 * @param data the shard configuration itself: a cell with `ShardHashes`
 * @throws proofs/root-hash, proofs/header, proofs/shard-hashes, proofs/malformed, proofs/incomplete
 */
export function verifyAllShards(block: BlockId, proof: Uint8Array, data: Uint8Array): ShardHashes {
  requireMasterchain(block);
  const root = openProof('proof', proof);
  const expected = inPart('proof', () => blockShardHashes(checkBlockHeader(root, block)).root);
  const hashes = inPart('data', () => decodeCell(ShardHashes, readRoots(data, 1)[0]!));
  const hashOf = (cell: typeof expected) => (cell === null ? 'none' : toHex(cell.hash(0)));
  if (hashOf(expected) === hashOf(hashes.root)) return hashes;
  throw proofsErrors['shard-hashes']({ expected: hashOf(expected), found: hashOf(hashes.root) });
}

/**
 * Checks a chain of links from a masterchain block to a shard block: the first leads to the newest block of the shard,
 * each further one to a previous block. Gives the headers of the blocks that the links prove, the masterchain block first.
 * A masterchain block itself needs no links.
 *
 * @throws proofs/not-masterchain, proofs/chain-length, proofs/chain-end, proofs/shard-missing, proofs/shard-block,
 *   proofs/prev-block, proofs/root-hash, proofs/header, proofs/malformed, proofs/incomplete; the path names `links[n]`
 */
export function verifyShardBlockChain(
  masterchainBlock: BlockId,
  shardBlock: BlockId,
  links: readonly ShardBlockLink[],
): readonly BlockHeader[] {
  requireMasterchain(masterchainBlock);
  if (links.length > MAX_SHARD_LINKS) {
    throw proofsErrors['chain-length']({ found: links.length, limit: MAX_SHARD_LINKS });
  }
  let reached = masterchainBlock;
  const headers = links.map(({ id, proof }, index) =>
    inPart(`links[${index}]`, () => {
      const root = openProof('proof', proof);
      const header = checkBlockHeader(root, reached);
      if (index === 0) checkShardTop(header, id);
      else if (!header.prev.some((prev) => sameBlock(prev, id))) {
        throw proofsErrors['prev-block']({ block: printPosition(reached), found: printBlockId(id) });
      }
      reached = id;
      return header;
    }),
  );
  if (sameBlock(reached, shardBlock)) return headers;
  throw proofsErrors['chain-end']({ expected: printBlockId(shardBlock), found: printBlockId(reached) });
}

function checkShardTop(header: BlockHeader, id: BlockId): void {
  const found = id.workchain === MASTERCHAIN ? null : shardOfPrefix(blockShardHashes(header), id.workchain, id.shard);
  if (found === null) throw missing(header.id, id);
  if (sameBlock(found.block, id)) return;
  throw proofsErrors['shard-block']({ expected: printBlockId(found.block), found: printBlockId(id) });
}
