import type { BlockLink } from '#formats/proofs/block-chain.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import type { LiteServerBlockLink, LiteServerSignatureSet } from '#formats/tl/generated/lite-server.js';
import { keepBlockId } from '#services/chain/tl-block-id.js';

/** A step of a proof of masterchain blocks out of an answer (`liteServer.BlockLink`). */
export function fromTlBlockLink(link: LiteServerBlockLink): BlockLink {
  const { to_key_block, dest_proof } = link;
  const base = { to_key_block, from: keepBlockId(link.from), to: keepBlockId(link.to), dest_proof };
  if (link.kind === 'liteServer.blockLinkBack') {
    return { kind: 'back', ...base, proof: link.proof, state_proof: link.state_proof };
  }
  return {
    kind: 'forward',
    ...base,
    config_proof: link.config_proof,
    signatures: fromTlSignatureSet(link.signatures),
  };
}

/** `liteServer.SignatureSet`: the numbers are unsigned here. */
export function fromTlSignatureSet(set: LiteServerSignatureSet): SignatureSet {
  const validator_set_hash = set.validator_set_hash >>> 0;
  const { signatures } = set;
  if (set.kind === 'liteServer.signatureSet.ordinary') {
    return { kind: 'ordinary', validator_set_hash, catchain_seqno: set.catchain_seqno >>> 0, signatures };
  }
  const { session_id, slot, candidate } = set;
  const catchain_seqno = set.cc_seqno >>> 0;
  return { kind: 'simplex', validator_set_hash, catchain_seqno, signatures, session_id, slot, candidate };
}
