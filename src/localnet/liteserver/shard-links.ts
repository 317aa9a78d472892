import type { Cell } from '#formats/cells/cell.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain } from '#formats/proofs/block-id.js';
import { blockOfShard, MAX_SHARD_LINKS } from '#formats/proofs/shard-block.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerShardBlockLink } from '#formats/tl/generated/lite-server.js';
import { findShard, type ShardEntry, type ShardHashes } from '#formats/tlb/shard-hashes.js';
import { shardsIntersect } from '#formats/tlb/shard-ident.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { openMcBlockExtra } from '#localnet/liteserver/block-reading.js';
import { refused, requireBlock } from '#localnet/liteserver/find-block.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/merkle-reader.js';

/** Reads the way to a shard in the configuration of shards, and its description whole. */
export function readShard(hashes: ShardHashes, workchain: number, prefix: bigint): ShardEntry | null {
  const entry = findShard(hashes, workchain, prefix);
  if (entry?.descr.kind === 'shard_descr_new') entry.descr.fees.cell.touch();
  return entry;
}

/** A header proof that shows the blocks before, and these. */
export function headerLinkProof(root: Cell, id: BlockId): { readonly proof: Cell; readonly prev: readonly BlockId[] } {
  const reader = new MerkleReader(root);
  const { info, prev } = checkBlockHeader(reader.root, id);
  visitAll(info.prev_ref.cell);
  return { proof: reader.proof(), prev };
}

/**
 * The way from a masterchain block to a shard block that it commits: each link is a block and the proof of the block
 * before it in the list, which refers to it.
 *
 * @throws liteserver/refused when it would have more than 8 links
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

/** From a block to the one that it refers to on the way to the target. */
function step({ id, root }: LedgerBlock, target: BlockId): { readonly next: BlockId; readonly proof: Cell } {
  if (isMasterchain(id)) {
    const reader = new MerkleReader(root);
    const { workchain, shard } = target;
    // The first account of the shard.
    const entry = readShard(openMcBlockExtra(reader.root).shard_hashes, workchain, shard & (shard - 1n));
    if (entry === null) throw refused('shard not found');
    return { next: blockOfShard(entry), proof: reader.proof() };
  }
  const { prev, proof } = headerLinkProof(root, id);
  const next = prev.find(({ shard }) => shardsIntersect(shard, target.shard));
  if (next === undefined) throw refused('failed to find block chain');
  return { next, proof };
}
