import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { CellType } from '#formats/cells/cell.js';
import { createMerkleProof } from '#formats/cells/merkle-proof.js';
import { openExotic } from '#formats/cells/slice.js';
import { storeSnakeBytes } from '#formats/cells/snake.js';
import { UsageTracker } from '#formats/cells/usage-tree.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import { Block } from '#formats/tlb/block.js';
import { BlockProof, BlockSignatures } from '#formats/tlb/block-proof.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { Dictionary } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { shardIdent } from '#formats/tlb/shard-ident.js';
import { CryptoSignaturePair } from '#formats/tlb/signature.js';

/** Who signed a masterchain block, and the sum of their weights. */
export interface SignedWith {
  readonly signatures: SignatureSet;
  readonly weight: bigint;
}

/**
 * The file of a block proof (`BlockProof`) as nodes write it: header, sums of value and state hashes of the block, and
 * for masterchain blocks (`proof_…`) who signed. Of shard blocks it is a proof link (`prooflink_…`), without signatures.
 */
export function blockProofFile(id: BlockId, root: Cell, signed: SignedWith | null): Uint8Array {
  const { workchain, shard, seqno: seq_no, root_hash, file_hash } = id;
  const proof: BlockProof = {
    proof_for: { shard_id: shardIdent(workchain, shard), seq_no, root_hash, file_hash },
    root: headerProof(root),
    signatures: signed === null ? null : Lazy.ofValue(BlockSignatures, blockSignatures(signed)),
  };
  return serializeBoc(encodeCell(BlockProof, proof));
}

function headerProof(root: Cell): Cell {
  const tracker = new UsageTracker();
  const block = decodeCell(Block, tracker.track(root));
  const { info, value_flow, state_update, extra } = block;
  for (const part of [info.value.master_ref?.cell, info.value.prev_ref.cell, value_flow.cell]) {
    if (part !== undefined) showAll(part);
  }
  openExotic(state_update.cell, CellType.merkleUpdate);
  extra.cell.touch();
  // Who validates from a key block on.
  const config = info.value.key_block ? extra.value.custom?.value.config?.config : undefined;
  if (config !== undefined) validatorConfigOf(config);
  return createMerkleProof(root, tracker);
}

function showAll(cell: Cell): void {
  cell.touch();
  for (let r = 0, count = cell.refCount; r < count; r++) showAll(cell.ref(r));
}

function blockSignatures({ signatures: set, weight }: SignedWith): BlockSignatures {
  const pairs = set.signatures.map(({ node_id_short, signature }, index) => {
    const sign = {
      kind: 'ed25519_signature' as const,
      R: signature.subarray(0, 32),
      s: signature.subarray(32),
    };
    return [index, { node_id_short, sign }] as const;
  });
  const base = {
    validator_list_hash_short: set.validator_set_hash,
    catchain_seqno: set.catchain_seqno,
    sig_count: pairs.length,
    sig_weight: weight,
    signatures: Dictionary.of({ key: uintKey(16), value: CryptoSignaturePair }, pairs),
  };
  if (set.kind === 'ordinary') return { kind: 'block_signatures_ordinary', ...base };
  return {
    kind: 'block_signatures_simplex',
    ...base,
    session_id: set.session_id,
    slot: set.slot >>> 0,
    candidate_data: storeSnakeBytes(set.candidate, new Builder()).endCell(),
  };
}
