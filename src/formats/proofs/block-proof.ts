import { openMerkleProof } from '#formats/cells/merkle-proof.js';
import { openCell } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { type BlockHeader, checkBlockHeader } from '#formats/proofs/block-header.js';
import {
  type BlockId,
  blockOfIdExt,
  blockOfRef,
  MASTERCHAIN_SHARD,
  printBlockId,
  printPosition,
  requireMasterchain,
  sameBlock,
} from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, readRoots } from '#formats/proofs/proof-part.js';
import {
  checkState,
  checkZerostate,
  keyBlockConfig,
  masterchainExtra,
  type ProvenState,
  stateConfig,
} from '#formats/proofs/shard-state.js';
import {
  type BlockSignature,
  checkSignedBlock,
  MAX_SIGNATURES,
  type SignatureSet,
} from '#formats/proofs/signatures.js';
import { type ValidatorConfig, validatorConfigOf } from '#formats/proofs/validators.js';
import type { KeyExtBlkRef } from '#formats/tlb/block-id.js';
import { BlockProof, type BlockSignatures } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { concatBytes } from '#kernel/bytes.js';

interface BlockLinkBase {
  /** Whether `to` is a key block. */
  readonly to_key_block: boolean;
  readonly from: BlockId;
  readonly to: BlockId;
  /** Header proof of `to`. */
  readonly dest_proof: Uint8Array;
}

/** From a key block, or the zerostate, to a later block signed by its validators (`liteServer.blockLinkForward`). */
export interface BlockLinkForward extends BlockLinkBase {
  readonly kind: 'forward';
  /** Proof of `from` that shows its configuration. */
  readonly config_proof: Uint8Array;
  readonly signatures: SignatureSet;
}

/** From a block to an earlier one listed in its state (`liteServer.blockLinkBack`). */
export interface BlockLinkBack extends BlockLinkBase {
  readonly kind: 'back';
  /** Header proof of `from`. */
  readonly proof: Uint8Array;
  /** Proof of the state after `from` that shows the entry of `to`. */
  readonly state_proof: Uint8Array;
}

export type BlockLink = BlockLinkForward | BlockLinkBack;

/** A verified link, which proves its block `to`. */
export interface ProvenLink {
  readonly to: BlockId;
  readonly to_key_block: boolean;
  /** The header of `to`; `null` for the zerostate. */
  readonly header: BlockHeader | null;
}

/** A verified chain of links. */
export interface ProvenChain {
  readonly to: BlockId;
  readonly links: readonly ProvenLink[];
  /** The newest key block of the chain, if any: a starting point for later proofs. */
  readonly key_block: BlockId | null;
}

/**
 * Verifies a chain of links from a trusted masterchain block to another one; each link starts where the previous one ends.
 * Without links both blocks must be the same.
 *
 * @throws proofs/not-masterchain, proofs/link-start, proofs/chain-end, and as {@link verifyBlockLink}; the path names the
 *   link as `links[n]`
 */
export function verifyBlockChain(from: BlockId, to: BlockId, links: readonly BlockLink[]): ProvenChain {
  requireMasterchain(from);
  requireMasterchain(to);
  let reached = from;
  let key_block: BlockId | null = null;
  const proven = links.map((link, index) =>
    inPart(`links[${index}]`, () => {
      if (!sameBlock(link.from, reached)) {
        throw proofsErrors['link-start']({ expected: printBlockId(reached), found: printBlockId(link.from) });
      }
      const step = verifyBlockLink(link);
      reached = step.to;
      if (step.to_key_block && (key_block === null || key_block.seqno < step.to.seqno)) key_block = step.to;
      return step;
    }),
  );
  if (!sameBlock(reached, to)) {
    throw proofsErrors['chain-end']({ expected: printBlockId(to), found: printBlockId(reached) });
  }
  return { to, links: proven, key_block };
}

/**
 * Verifies one link whose `from` is trusted.
 *
 * @throws proofs/not-masterchain, proofs/same-height, proofs/link-direction, proofs/key-block-flag, proofs/no-key-block,
 *   proofs/old-block, proofs/root-hash, proofs/state-hash, proofs/header, proofs/config-param, proofs/validator-set,
 *   proofs/validator-set-hash, proofs/catchain-seqno, proofs/signature-*, proofs/malformed, proofs/incomplete
 */
export function verifyBlockLink(link: BlockLink): ProvenLink {
  const { from, to, to_key_block } = link;
  requireMasterchain(from);
  requireMasterchain(to);
  const names = { from: printPosition(from), to: printPosition(to) };
  if (from.seqno === to.seqno) throw proofsErrors['same-height'](names);
  if ((link.kind === 'forward') !== from.seqno < to.seqno) {
    throw proofsErrors['link-direction']({ ...names, direction: link.kind });
  }
  const header = to.seqno === 0 ? null : destination(link);
  if (link.kind === 'back') checkBackward(link);
  else inPart('signatures', () => checkSignedBlock(header!, link.signatures, validatorConfigOf(sourceConfig(link))));
  return { to, to_key_block, header };
}

function destination({ to, to_key_block, dest_proof }: BlockLink): BlockHeader {
  const root = openProof('dest_proof', dest_proof);
  return inPart('dest_proof', () => {
    const header = checkBlockHeader(root, to);
    checkKeyBlockFlag(to, to_key_block, header.info.key_block);
    return header;
  });
}

function checkKeyBlockFlag(block: BlockId, expected: boolean, found: boolean): void {
  if (expected !== found) throw proofsErrors['key-block-flag']({ block: printPosition(block), expected, found });
}

/** The configuration in the proof of `from`: of a key block, or of the zerostate. */
function sourceConfig({ from, config_proof }: BlockLinkForward): ConfigDictionary {
  const root = openProof('config_proof', config_proof);
  return inPart('config_proof', () =>
    from.seqno === 0 ? stateConfig(checkZerostate(root, from)) : keyBlockConfig(checkBlockHeader(root, from)),
  ).config;
}

/** The key block flag is checked here, too: the zerostate has no header, and nothing else says that it is a key block. */
function checkBackward({ from, to, to_key_block, proof, state_proof }: BlockLinkBack): void {
  const headerRoot = openProof('proof', proof);
  const header = inPart('proof', () => checkBlockHeader(headerRoot, from));
  const stateRoot = openProof('state_proof', state_proof);
  inPart('state_proof', () => {
    const { key } = checkOldBlock(checkState(stateRoot, header), to);
    checkKeyBlockFlag(to, to_key_block, key);
  });
}

/**
 * Checks that a masterchain state lists a block (or the zerostate) among the previous ones; returns the entry.
 * @throws proofs/old-block, proofs/malformed, proofs/incomplete
 */
export function checkOldBlock(state: ProvenState, block: BlockId): KeyExtBlkRef {
  const info = masterchainExtra(state).info;
  const entry = inPart('state.custom.prev_blocks', () => info.value.prev_blocks.get(block.seqno));
  if (entry !== undefined && sameBlock(blockOfRef(MASTERCHAIN_SHARD, entry.blk_ref), block)) return entry;
  throw proofsErrors['old-block']({ block: printBlockId(block), from: printPosition(state.id) });
}

/** A verified block proof from an archive (`proof_…`, `prooflink_…`). */
export interface VerifiedBlockProof {
  readonly header: BlockHeader;
  /** Weight of the signers; `null` when signatures were not checked. */
  readonly signed_weight: bigint | null;
}

/**
 * Verifies the proof of a masterchain block: header, and signatures of the validators of the previous key block.
 *
 * @param config of that key block, or of the zerostate; see `validatorConfigOf`
 * @throws proofs/other-block, proofs/root-hash, proofs/header, proofs/signatures-missing, proofs/signature-*,
 *   proofs/validator-set-hash, proofs/catchain-seqno, proofs/malformed, proofs/incomplete
 */
export function verifyBlockProof(bytes: Uint8Array, id: BlockId, config: ValidatorConfig): VerifiedBlockProof {
  const { proof, header } = readBlockProof(bytes, id);
  return inPart('proof.signatures', () => {
    if (proof.signatures === null) throw proofsErrors['signatures-missing']({ block: printBlockId(id) });
    const signatures = proof.signatures.value;
    const signed_weight = checkSignedBlock(header, signatureSetOf(signatures), config);
    if (signatures.sig_weight === signed_weight) return { header, signed_weight };
    throw proofsErrors['signature-weight-declared']({ expected: signed_weight, found: signatures.sig_weight });
  });
}

/**
 * Verifies a proof link: the header of a block whose id is trusted. Signatures, if any, are ignored.
 * @throws proofs/other-block, proofs/root-hash, proofs/header, proofs/malformed, proofs/incomplete
 */
export function verifyBlockProofLink(bytes: Uint8Array, id: BlockId): VerifiedBlockProof {
  return { header: readBlockProof(bytes, id).header, signed_weight: null };
}

function readBlockProof(bytes: Uint8Array, id: BlockId): { readonly proof: BlockProof; readonly header: BlockHeader } {
  return inPart('proof', () => {
    const proof = decodeCell(BlockProof, readRoots(bytes, 1)[0]!);
    const proofFor = blockOfIdExt(proof.proof_for);
    if (!sameBlock(proofFor, id)) {
      throw proofsErrors['other-block']({ expected: printBlockId(id), found: printBlockId(proofFor) });
    }
    return { proof, header: inPart('root', () => checkBlockHeader(openMerkleProof(proof.root), id)) };
  });
}

/** Maximum bytes of a `CellString`. */
const MAX_CANDIDATE = 1024;

/** The signatures in a block proof. @throws proofs/signature-count, cells/*, tlb/* */
export function signatureSetOf(set: BlockSignatures): SignatureSet {
  const signatures: BlockSignature[] = [];
  for (const [index, pair] of set.signatures) {
    if (index !== signatures.length || index >= MAX_SIGNATURES) throw wrongCount(set, index + 1);
    const sign = pair.sign;
    if (sign.kind !== 'ed25519_signature') throw proofsErrors['signature-kind']({ kind: sign.kind });
    signatures.push({ node_id_short: pair.node_id_short, signature: concatBytes(sign.R, sign.s) });
  }
  if (signatures.length !== set.sig_count) throw wrongCount(set, signatures.length);
  const { validator_list_hash_short: validator_set_hash, catchain_seqno } = set;
  const base = { validator_set_hash, catchain_seqno, signatures };
  if (set.kind === 'block_signatures_ordinary') return { kind: 'ordinary', ...base };
  const candidate = loadSnakeBytes(openCell(set.candidate_data), { limit: MAX_CANDIDATE });
  return { kind: 'simplex', ...base, session_id: set.session_id, slot: set.slot, candidate };
}

function wrongCount(set: BlockSignatures, found: number): Error {
  return proofsErrors['signature-count']({ expected: String(set.sig_count), found });
}
