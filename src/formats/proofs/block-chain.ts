import { type BlockHeader, checkBlockHeader } from '#formats/proofs/block-header.js';
import {
  type BlockId,
  blockOfRef,
  MASTERCHAIN_SHARD,
  printBlockId,
  printPosition,
  requireMasterchain,
  sameBlock,
} from '#formats/proofs/block-id.js';
import { keyBlockConfig, stateConfig } from '#formats/proofs/config.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof } from '#formats/proofs/proof-part.js';
import { checkState, checkZerostate, masterchainExtra, type ProvenState } from '#formats/proofs/shard-state.js';
import type { SignatureSet } from '#formats/proofs/signature-set.js';
import { checkSignedBlock } from '#formats/proofs/signed-block.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import type { KeyExtBlkRef } from '#formats/tlb/block-ref.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';

interface BlockLinkBase {
  /** Whether `to` is a key block. */
  readonly to_key_block: boolean;
  readonly from: BlockId;
  readonly to: BlockId;
  /** Header proof of `to`. */
  readonly dest_proof: Uint8Array;
}

/** From a key block, or the zerostate, to a later block that its validators signed (`liteServer.blockLinkForward`). */
export interface BlockLinkForward extends BlockLinkBase {
  readonly kind: 'forward';
  /** Proof of `from` that shows its configuration. */
  readonly config_proof: Uint8Array;
  readonly signatures: SignatureSet;
}

/** From a block to an earlier one that its state remembers (`liteServer.blockLinkBack`). */
export interface BlockLinkBack extends BlockLinkBase {
  readonly kind: 'back';
  /** Header proof of `from`. */
  readonly proof: Uint8Array;
  /** Proof of the state after `from` that shows the entry of `to`. */
  readonly state_proof: Uint8Array;
}

export type BlockLink = BlockLinkForward | BlockLinkBack;

/** A step to a block that is proven now. */
export interface ProvenLink {
  readonly to: BlockId;
  readonly to_key_block: boolean;
  /** The header of `to`; `null` for the zerostate. */
  readonly header: BlockHeader | null;
}

/** Where a chain of links led to. */
export interface ProvenChain {
  readonly to: BlockId;
  readonly links: readonly ProvenLink[];
  /** The newest key block on the way, if there was one: a start for later proofs. */
  readonly key_block: BlockId | null;
}

/**
 * Checks a chain of links from a trusted masterchain block to another one, each link starting where the one before ended.
 * Without links both must be the same.
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
 * Checks one link, provided that its `from` is trusted.
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

/** The configuration that `from` shows: that of a key block, or of the zerostate. */
function sourceConfig({ from, config_proof }: BlockLinkForward): ConfigDictionary {
  const root = openProof('config_proof', config_proof);
  return inPart('config_proof', () =>
    from.seqno === 0 ? stateConfig(checkZerostate(root, from)) : keyBlockConfig(checkBlockHeader(root, from)),
  ).config;
}

/** The flag is checked here too: of the zerostate, which has no header, nothing else tells that it is a key block. */
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
 * Checks that a masterchain state remembers a block (or the zerostate) as one before it, and gives what it says of it.
 * @throws proofs/old-block, proofs/malformed, proofs/incomplete
 */
export function checkOldBlock(state: ProvenState, block: BlockId): KeyExtBlkRef {
  const info = masterchainExtra(state).info;
  const entry = inPart('state.custom.prev_blocks', () => info.value.prev_blocks.get(block.seqno));
  if (entry !== undefined && sameBlock(blockOfRef(MASTERCHAIN_SHARD, entry.blk_ref), block)) return entry;
  throw proofsErrors['old-block']({ block: printBlockId(block), from: printPosition(state.id) });
}
