import type { BlockHeader, MasterchainBlockSignatures, ShardBlockProof } from '#api/v2/schemas/blocks.js';
import { blockIdExt } from '#api/v2/serialize/ton-objects.js';
import type { BlockLink } from '#formats/proofs/block-chain.js';
import type { BlockHeader as ProvenHeader } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { ShardBlockLink } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

/** `blocks.header` */
export function blockHeader({ id, block, info, prev }: ProvenHeader): BlockHeader {
  return {
    '@type': 'blocks.header',
    id: blockIdExt(id),
    global_id: block.global_id,
    version: info.version,
    flags: info.flags,
    after_merge: info.after_merge,
    after_split: info.after_split,
    before_split: info.before_split,
    want_merge: info.want_merge,
    want_split: info.want_split,
    validator_list_hash_short: info.gen_validator_list_hash_short | 0,
    catchain_seqno: info.gen_catchain_seqno,
    min_ref_mc_seqno: info.min_ref_mc_seqno,
    is_key_block: info.key_block,
    prev_key_block_seqno: info.prev_key_block_seqno,
    start_lt: info.start_lt.toString(),
    end_lt: info.end_lt.toString(),
    gen_utime: info.gen_utime,
    prev_blocks: prev.map(blockIdExt),
  };
}

/** `blocks.blockSignatures` or `blocks.blockSignatures.simplex` */
export function blockSignatures(block: BlockId, set: SignatureSet): MasterchainBlockSignatures {
  const id = blockIdExt(block);
  const signatures = set.signatures.map(({ node_id_short, signature }) => ({
    '@type': 'blocks.signature' as const,
    node_id_short: toBase64(node_id_short),
    signature: toBase64(signature),
  }));
  if (set.kind === 'ordinary') return { '@type': 'blocks.blockSignatures', id, signatures };
  const { session_id, slot, candidate } = set;
  return {
    '@type': 'blocks.blockSignatures.simplex',
    id,
    signatures,
    session_id: toBase64(session_id),
    slot: slot | 0,
    candidate: toBase64(candidate),
  };
}

/** `blocks.shardBlockLink` */
export function shardBlockLink({ id, proof }: ShardBlockLink): ShardBlockProof['links'][number] {
  return { '@type': 'blocks.shardBlockLink', id: blockIdExt(id), proof: toBase64(proof) };
}

/** `blocks.blockLinkBack` */
export function blockLinkBack(link: BlockLink & { kind: 'back' }): ShardBlockProof['mc_proof'][number] {
  return {
    '@type': 'blocks.blockLinkBack',
    to_key_block: link.to_key_block,
    from: blockIdExt(link.from),
    to: blockIdExt(link.to),
    dest_proof: toBase64(link.dest_proof),
    proof: toBase64(link.proof),
    state_proof: toBase64(link.state_proof),
  };
}
