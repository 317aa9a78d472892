import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { blockOfShard, MAX_SHARD_LINKS } from '#formats/proofs/shard-block.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerShardBlockLink } from '#formats/tl/lite-api.js';
import { shardsIntersect, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import type { ShardEntry, ShardHashes } from '#formats/tlb/shard-hashes.js';
import { MerkleReader, openMcBlockExtra, refused, requireBlock, visitAll } from '#localnet/liteserver/block-access.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';

/**
 * Reads the path to a shard, or to the shard that contains it, in `ShardHashes`, and its whole description. `null` when
 * the workchain does not exist or the shard has been split.
 *
 * @param wanted a shard; its prefix may be longer than that of any real one
 */
export function readShard(hashes: ShardHashes, { workchain, shard: wanted }: Shard): ShardEntry | null {
  const root = hashes.get(workchain);
  if (root === undefined) return null;
  let tree = root.value;
  let bit = WHOLE_WORKCHAIN;
  let prefix = 0n;
  for (; tree.kind === 'bt_fork' && bit > lowestBit(wanted); bit >>= 1n) {
    prefix |= wanted & bit;
    tree = ((wanted & bit) === 0n ? tree.left : tree.right).value;
  }
  if (tree.kind === 'bt_fork') return null;
  if (tree.leaf.kind === 'shard_descr_new') tree.leaf.fees.cell.touch();
  return { workchain, shard: prefix | bit, descr: tree.leaf };
}

/** The smallest shard that contains an account prefix. */
export function leafShard(workchain: number, prefix: bigint): Shard {
  return { workchain, shard: prefix | 1n };
}

/** The tag bit of a shard. */
export function lowestBit(shard: bigint): bigint {
  return shard & -shard;
}

/** A header proof that contains the previous blocks, and their ids. */
export function headerLinkProof(root: Cell, id: BlockId): { readonly proof: Cell; readonly prev: readonly BlockId[] } {
  const reader = new MerkleReader(root);
  const { info, prev } = checkBlockHeader(reader.root, id);
  visitAll(info.prev_ref.cell);
  return { proof: reader.proof(), prev };
}

/**
 * The path from a masterchain block to a shard block that it commits: each link is a block and the proof that the
 * previous block of the list refers to it.
 *
 * @throws liteserver/refused for more than 8 links
 */
export function shardBlockLinks(ledger: Ledger, committing: LedgerBlock, target: BlockId): LiteServerShardBlockLink[] {
  const links: LiteServerShardBlockLink[] = [];
  for (let block = committing; ; ) {
    const { next, proof } = step(block, target);
    links.push({ id: blockIdToTl(next), proof: serializeBoc(proof) });
    if (next.seqno === target.seqno) return links;
    if (links.length === MAX_SHARD_LINKS) throw refused('proof chain is too long');
    block = requireBlock(ledger, next);
  }
}

/** One link toward the target. */
function step({ id, root }: LedgerBlock, target: BlockId): { readonly next: BlockId; readonly proof: Cell } {
  if (isMasterchain(id)) {
    const reader = new MerkleReader(root);
    const first = leafShard(target.workchain, target.shard ^ lowestBit(target.shard));
    const entry = readShard(openMcBlockExtra(reader.root).shard_hashes, first);
    if (entry === null) throw refused('shard not found');
    return { next: blockOfShard(entry), proof: reader.proof() };
  }
  const { prev, proof } = headerLinkProof(root, id);
  const next = prev.find(({ shard }) => shardsIntersect(shard, target.shard));
  if (next === undefined) throw refused('failed to find block chain');
  return { next, proof };
}
