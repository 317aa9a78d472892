import type { Cell } from '#formats/cells/cell.js';
import { type BlockHeader, checkBlockHeader, checkRootHash, verifyBlockHeader } from '#formats/proofs/block-header.js';
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
import { checkOldBlock } from '#formats/proofs/block-proof.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, readRoots } from '#formats/proofs/proof-part.js';
import { masterchainExtra, verifyState, verifyTwoRootState } from '#formats/proofs/shard-state.js';
import { Block, type BlockInfo } from '#formats/tlb/block.js';
import { MASTERCHAIN, shardChildren, shardContains, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { findShard, type ShardEntry, ShardHashes, ShardTree } from '#formats/tlb/shard-hashes.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** Maximum number of blocks of a shard per masterchain block, and so of links of a chain to one of them. */
export const MAX_SHARD_LINKS = 8;

/** The newest block of a shard according to a masterchain block. */
export interface ProvenShard {
  readonly block: BlockId;
  readonly entry: ShardEntry;
}

/** One link of a proof from a masterchain block to a shard block (`liteServer.shardBlockLink`). */
export interface ShardBlockLink {
  readonly id: BlockId;
  /** Proof of the previous block of the chain, which refers to `id`. */
  readonly proof: Uint8Array;
}

/** The block of an entry of the shard configuration. */
export function blockOfShard(entry: ShardEntry): BlockId {
  return blockOfRef(entry, entry.descr);
}

/**
 * The shard that contains a prefix, and its newest block.
 * @param prefix the first 64 bits of an account id, or a shard id
 */
function shardOfPrefix(hashes: ShardHashes, workchain: number, prefix: bigint): ProvenShard | null {
  const entry = inPart('shard_hashes', () => findShard(hashes, workchain, prefix));
  return entry === null ? null : { block: blockOfShard(entry), entry };
}

/**
 * Verifies that a block is the newest of its shard according to a masterchain block (`shard_proof` of account states).
 *
 * @param proof two Merkle proofs: of the header of the masterchain block, and of the state after it
 * @throws proofs/not-masterchain, proofs/root-count, proofs/root-hash, proofs/header, proofs/state-hash,
 *   proofs/shard-missing, proofs/shard-block, proofs/malformed, proofs/incomplete
 */
export function verifyShardBlock(masterchainBlock: BlockId, shardBlock: BlockId, proof: Uint8Array): ProvenShard {
  const found = verifyShardOfPrefix(masterchainBlock, shardBlock, proof);
  if (found === null) throw missing(masterchainBlock, shardBlock);
  expectShardBlock(found.block, shardBlock);
  return found;
}

/**
 * The shard that contains a prefix according to a masterchain block, or `null` when there is no such workchain.
 * @throws as {@link verifyShardBlock}
 */
export function verifyShardOfPrefix(
  masterchainBlock: BlockId,
  { workchain, shard }: Shard,
  proof: Uint8Array,
): ProvenShard | null {
  const hashes = provenShardHashes(masterchainBlock, proof);
  return inPart('shard_proof', () => shardOfPrefix(hashes, workchain, shard));
}

function provenShardHashes(masterchainBlock: BlockId, proof: Uint8Array): ShardHashes {
  requireMasterchain(masterchainBlock);
  const state = verifyTwoRootState('shard_proof', masterchainBlock, proof);
  return inPart('shard_proof', () => masterchainExtra(state).shard_hashes);
}

/** @throws proofs/shard-block */
function expectShardBlock(expected: BlockId, found: BlockId): void {
  if (sameBlock(expected, found)) return;
  throw proofsErrors['shard-block']({ expected: printBlockId(expected), found: printBlockId(found) });
}

function missing(block: BlockId, shard: Shard): Error {
  return proofsErrors['shard-missing']({ shard: printShard(shard), block: printPosition(block) });
}

/** An answer about one shard (`liteServer.shardInfo`). */
export interface ShardInfoAnswer {
  /** Arbitrary when there is no such shard. */
  readonly shard_block: BlockId;
  readonly shard_proof: Uint8Array;
  /** Bag with the leaf of the shard configuration; empty when there is no such shard. */
  readonly shard_descr: Uint8Array;
}

/**
 * Verifies an answer about a shard, or with `exact` false about the shard that contains it (then `wanted` may have a prefix
 * of up to 63 bits, longer than that of any real shard). Returns `null` when the proof shows that there is none: no such
 * workchain, or the shard has been split.
 *
 * @throws proofs/shard-question, proofs/shard-present, proofs/shard-description, and as {@link verifyShardBlock}
 */
export function verifyShardInfo(
  masterchainBlock: BlockId,
  wanted: Shard,
  exact: boolean,
  answer: ShardInfoAnswer,
): ProvenShard | null {
  if (wanted.workchain === MASTERCHAIN || wanted.shard === 0n) {
    throw proofsErrors['shard-question']({ shard: printShard(wanted) });
  }
  const hashes = provenShardHashes(masterchainBlock, answer.shard_proof);
  const entry = inPart('shard_proof.shard_hashes', () => findShardAround(hashes, wanted));
  const found =
    entry !== null && (!exact || entry.shard === wanted.shard) ? { block: blockOfShard(entry), entry } : null;
  if (answer.shard_descr.length === 0) {
    if (found === null) return null;
    throw proofsErrors['shard-present']({ shard: printShard(wanted), block: printPosition(masterchainBlock) });
  }
  if (found === null) throw missing(masterchainBlock, wanted);
  expectShardBlock(found.block, answer.shard_block);
  inPart('shard_descr', () => {
    const leaf = readRoots(answer.shard_descr, 1)[0]!;
    const expected = encodeCell(ShardTree, { kind: 'bt_leaf', leaf: found.entry.descr });
    if (bytesEqual(leaf.hash(0), expected.hash(0))) return;
    const hash = { expected: toHex(expected.hash(0)), found: toHex(leaf.hash(0)) };
    throw proofsErrors['shard-description']({ shard: printShard(found.block), ...hash });
  });
  return found;
}

/** The shard that contains a shard; `null` when there is no such workchain or the shard has been split. */
function findShardAround(hashes: ShardHashes, { workchain, shard }: Shard): ShardEntry | null {
  let tree = hashes.get(workchain)?.value;
  let around = WHOLE_WORKCHAIN;
  while (tree?.kind === 'bt_fork') {
    if (around === shard) return null;
    const [left, right] = shardChildren(around);
    const goRight = shardContains(right, shard);
    around = goRight ? right : left;
    tree = (goRight ? tree.right : tree.left).value;
  }
  return tree === undefined ? null : { workchain, shard: around, descr: tree.leaf };
}

/**
 * The shards that a masterchain block commits.
 *
 * @param root the block, whole or pruned; its header need not be visible
 * @throws proofs/not-masterchain, proofs/root-hash, proofs/malformed, proofs/incomplete
 */
export function blockShardHashes(root: Cell, id: BlockId): ShardHashes {
  requireMasterchain(id);
  checkRootHash(root, id);
  return inPart('block.extra.custom', () => {
    const { custom } = decodeCell(Block, root).extra.value;
    if (custom === null) throw proofsErrors['not-masterchain']({ block: printPosition(id) });
    return custom.value.shard_hashes;
  });
}

/**
 * Verifies an answer with all shards of a masterchain block (`liteServer.allShardsInfo`).
 *
 * @param proof Merkle proof of the block that includes the root of its shard configuration
 * @param data the shard configuration itself: a cell with `ShardHashes`
 * @throws proofs/root-hash, proofs/header, proofs/shard-hashes, proofs/malformed, proofs/incomplete
 */
export function verifyAllShards(block: BlockId, proof: Uint8Array, data: Uint8Array): ShardHashes {
  requireMasterchain(block);
  const root = openProof('proof', proof);
  const expected = inPart('proof', () => blockShardHashes(root, block).root);
  const hashes = inPart('data', () => decodeCell(ShardHashes, readRoots(data, 1)[0]!));
  const hashOf = (cell: typeof expected) => (cell === null ? 'none' : toHex(cell.hash(0)));
  if (hashOf(expected) === hashOf(hashes.root)) return hashes;
  throw proofsErrors['shard-hashes']({ expected: hashOf(expected), found: hashOf(hashes.root) });
}

/**
 * Verifies a chain of links from a masterchain block to a shard block: the first leads to the newest block of the shard,
 * each further one to a previous block. A masterchain block itself needs no links. Returns the headers of the shard blocks
 * of the chain, without the last one, whose proof is not part of the links.
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
  const headers: BlockHeader[] = [];
  let reached = masterchainBlock;
  links.forEach(({ id, proof }, index) => {
    inPart(`links[${index}]`, () => {
      const root = openProof('proof', proof);
      if (index === 0) {
        checkShardTop(root, reached, id);
      } else {
        const header = checkBlockHeader(root, reached);
        if (!header.prev.some((prev) => sameBlock(prev, id))) {
          throw proofsErrors['prev-block']({ block: printPosition(reached), found: printBlockId(id) });
        }
        headers.push(header);
      }
      reached = id;
    });
  });
  if (sameBlock(reached, shardBlock)) return headers;
  throw proofsErrors['chain-end']({ expected: printBlockId(shardBlock), found: printBlockId(reached) });
}

function checkShardTop(root: Cell, masterchainBlock: BlockId, id: BlockId): void {
  const hashes = blockShardHashes(root, masterchainBlock);
  const found = shardOfPrefix(hashes, id.workchain, id.shard);
  if (found === null) throw missing(masterchainBlock, id);
  expectShardBlock(found.block, id);
}

/**
 * A block look-up. The shard is given by a prefix (first 64 bits of an account id, or a shard id);
 * by lt it is the first block with `end_lt >= lt`. By time (unix seconds) it is a block with `gen_utime >= utime` whose
 * predecessor is not later than that: of several blocks in one second, servers may return any.
 */
export type BlockQuery = Shard &
  (
    | { readonly by: 'seqno'; readonly seqno: number }
    | { readonly by: 'lt'; readonly lt: bigint }
    | { readonly by: 'utime'; readonly utime: number }
  );

/** The answer to a block look-up (`liteServer.lookupBlockResult`). */
export interface LookupAnswer {
  readonly id: BlockId;
  /** The masterchain block that commits it, or the block itself. */
  readonly mc_block_id: BlockId;
  /** Header of the masterchain block known to the client; empty when that is `mc_block_id`. */
  readonly client_mc_state_proof: Uint8Array;
  /** State after that block, which lists `mc_block_id`; empty when they are the same. */
  readonly mc_block_proof: Uint8Array;
  readonly shard_links: readonly ShardBlockLink[];
  /** Header proof of the block. */
  readonly header: Uint8Array;
  /** Header proof of the previous block; for look-ups by lt and time. */
  readonly prev_header: Uint8Array;
}

/**
 * Verifies that an answer has the requested block, and that it belongs to the chain of a trusted masterchain
 * block.
 *
 * @throws proofs/not-masterchain, proofs/old-block, proofs/lookup-target, proofs/prev-block, and as
 *   {@link verifyShardBlockChain}
 */
export function verifyLookup(masterchainBlock: BlockId, query: BlockQuery, answer: LookupAnswer): BlockHeader {
  const { id, mc_block_id } = answer;
  requireMasterchain(masterchainBlock);
  if (!sameBlock(masterchainBlock, mc_block_id)) {
    const state = verifyState(masterchainBlock, answer.client_mc_state_proof, answer.mc_block_proof);
    inPart('mc_block_proof', () => void checkOldBlock(state, mc_block_id));
  }
  verifyShardBlockChain(mc_block_id, id, answer.shard_links);
  const header = inPart('header', () => verifyBlockHeader(answer.header, id));
  if (id.workchain !== query.workchain || !shardContains(id.shard, query.shard)) {
    throw wrongTarget(id, 'shard', printShard(query), printShard(id));
  }
  if (query.by === 'seqno') {
    if (id.seqno !== query.seqno) throw wrongTarget(id, 'seqno', String(query.seqno), String(id.seqno));
  } else {
    checkFirst(header, answer, query);
  }
  return header;
}

/** Checks that the block reaches the value and the previous one does not; a zerostate reaches no value. */
function checkFirst(
  header: BlockHeader,
  answer: LookupAnswer,
  query: BlockQuery & { readonly by: 'lt' | 'utime' },
): void {
  const field = query.by === 'lt' ? 'end_lt' : 'gen_utime';
  const wanted = query.by === 'lt' ? query.lt : BigInt(query.utime);
  const value = BigInt(header.info[field]);
  if (value < wanted) throw wrongTarget(header.id, field, `at least ${wanted}`, String(value));
  // It exists: the block's shard contains the prefix, and the previous shards cover that shard.
  const before = header.prev.find(({ shard }) => shardContains(shard, query.shard))!;
  if (before.seqno === 0) return;
  const info = inPart('prev_header', () => visibleInfo(answer.prev_header, before));
  const valueBefore = BigInt(info[field]);
  const tooLate = query.by === 'lt' ? valueBefore >= wanted : valueBefore > wanted;
  if (tooLate) throw wrongTarget(before, field, `before ${wanted}`, String(valueBefore));
}

/** The header in a proof, verified by the root hash alone: proofs of the previous block show nothing else. */
function visibleInfo(proof: Uint8Array, id: BlockId): BlockInfo {
  const root = openProof('header_proof', proof);
  checkRootHash(root, id);
  return decodeCell(Block, root).info.value;
}

function wrongTarget(id: BlockId, field: string, wanted: string, found: string): Error {
  return proofsErrors['lookup-target']({ block: printPosition(id), field, wanted, found });
}
