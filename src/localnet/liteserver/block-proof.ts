import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printBlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { checkOldBlock } from '#formats/proofs/block-proof.js';
import { checkZerostate, keyBlockConfig, stateConfig } from '#formats/proofs/shard-state.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { validatorConfigOf } from '#formats/proofs/validators.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockLink, LiteServerPartialBlockProof, LiteServerSignatureSet } from '#formats/tl/lite-api.js';
import {
  headOf,
  MerkleReader,
  notReady,
  openBlockHeader,
  openMcState,
  readPrevious,
  refused,
  requireBlock,
  stateRootProof,
} from '#localnet/liteserver/block-access.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';

/** Bits of `mode`. */
const TARGET_GIVEN = 1;
const BASE_IS_NEWER = 0x1000;

const MAX_LINKS = 16;
const NOTHING = new Uint8Array();

/** Proof chains between masterchain blocks. */
export const blockProofHandlers: LiteHandlers<'liteServer.getBlockProof'> = {
  'liteServer.getBlockProof': ({ mode, known_block, target_block }, { ledger }) => {
    const from = blockIdFromTl(known_block);
    if (!isMasterchain(from)) throw notMasterchain('source', from);
    const head = headOf(ledger);
    const to = target_block === null || (mode & TARGET_GIVEN) === 0 ? head.id : blockIdFromTl(target_block);
    if (!isMasterchain(to)) throw notMasterchain('destination', to);
    const newer = from.seqno > to.seqno ? from : to;
    const base = (mode & BASE_IS_NEWER) !== 0 && newer.seqno > 0 ? requireBlock(ledger, newer).id : head.id;
    for (const id of [from, to]) {
      if (id.seqno > base.seqno) {
        throw refused(
          `client knows block ${printBlockId(id)} newer than the reference masterchain block ${printBlockId(base)}`,
        );
      }
    }
    if (!isKnown(ledger, from)) throw unknown('source', from, base);
    if (!isKnown(ledger, to)) throw unknown('destination', to, base);
    return proofChain(ledger, from, to, base);
  },
};

function notMasterchain(end: string, id: BlockId): Error {
  return refused(`${end} block ${printBlockId(id)} is not a valid masterchain block id`);
}

function unknown(end: string, id: BlockId, base: BlockId): Error {
  const which = `proof ${end} masterchain block ${printBlockId(id)}`;
  return refused(`${which} is unknown from the perspective of reference block ${printBlockId(base)}`);
}

function isKnown(ledger: Ledger, id: BlockId): boolean {
  return id.seqno === 0 ? sameBlock(id, ledger.zerostate) : ledger.block(id) !== null;
}

/** Links back to a key block, forward from key block to key block, or directly back, leading to `to`. */
function proofChain(ledger: Ledger, from: BlockId, to: BlockId, base: BlockId): LiteServerPartialBlockProof {
  const steps: LiteServerBlockLink[] = [];
  let at = from;
  while (!sameBlock(at, to) && steps.length < MAX_LINKS) {
    const key = ledger.keyBlockUpTo(at.seqno);
    if (to.seqno < at.seqno) {
      at = pushBack(ledger, steps, at, to);
    } else if (key.seqno !== at.seqno) {
      at = pushBack(ledger, steps, at, key);
    } else {
      const next = ledger.keyBlockFrom(at.seqno + 1);
      at = pushForward(ledger, steps, at, next === null || next.seqno > base.seqno ? to : next);
    }
  }
  return { complete: sameBlock(at, to), from: blockIdToTl(from), to: blockIdToTl(at), steps };
}

function pushBack(ledger: Ledger, steps: LiteServerBlockLink[], from: BlockId, to: BlockId): BlockId {
  const block = requireBlock(ledger, from);
  const reader = new MerkleReader(ledger.state(block));
  const { state, extra } = openMcState(reader.root);
  extra.info.value.prev_blocks.get(0);
  checkOldBlock({ id: from, header: null, root: reader.root, state }, to);
  const destination = to.seqno === 0 ? null : destinationProof(requireBlock(ledger, to).root);
  steps.push({
    kind: 'liteServer.blockLinkBack',
    to_key_block: destination === null || destination.isKey,
    from: blockIdToTl(from),
    to: blockIdToTl(to),
    dest_proof: destination === null ? NOTHING : serializeBoc(destination.proof),
    proof: serializeBoc(stateRootProof(block.root)),
    state_proof: reader.proofBytes(),
  });
  return to;
}

/** A proof of the header only. */
function destinationProof(root: Cell): { readonly proof: Cell; readonly isKey: boolean } {
  const reader = new MerkleReader(root);
  const { info } = openBlockHeader(reader.root);
  return { isKey: info.key_block, proof: reader.proof() };
}

function pushForward(ledger: Ledger, steps: LiteServerBlockLink[], from: BlockId, to: BlockId): BlockId {
  const block = requireBlock(ledger, to);
  const signatures = ledger.signatures(block);
  if (signatures === null) throw notReady(`cannot load proof for ${printPosition(to)} : not in db`);
  const reader = new MerkleReader(block.root);
  const opened = openBlockHeader(reader.root);
  readPrevious(opened);
  steps.push({
    kind: 'liteServer.blockLinkForward',
    to_key_block: opened.info.key_block,
    from: blockIdToTl(from),
    to: blockIdToTl(to),
    dest_proof: reader.proofBytes(),
    config_proof: sourceConfigProof(ledger, from),
    signatures: signatureSetToTl(signatures),
  });
  return to;
}

/** Proves the validators after a key block or the zerostate. */
function sourceConfigProof(ledger: Ledger, from: BlockId): Uint8Array {
  if (from.seqno === 0) {
    const reader = new MerkleReader(parseBocRoot(ledger.zerostateFile(from)!));
    openMcState(reader.root);
    validatorConfigOf(stateConfig(checkZerostate(reader.root, from)).config);
    return reader.proofBytes();
  }
  const reader = new MerkleReader(requireBlock(ledger, from).root);
  const header = checkBlockHeader(reader.root, from);
  header.info.prev_ref.cell.touch();
  header.block.extra.value.custom?.value.messages.cell.touch();
  validatorConfigOf(keyBlockConfig(header).config);
  return reader.proofBytes();
}

/** Signatures as the lite API has them. */
export function signatureSetToTl(set: SignatureSet): LiteServerSignatureSet {
  const validator_set_hash = set.validator_set_hash | 0;
  const catchain_seqno = set.catchain_seqno | 0;
  const { signatures } = set;
  if (set.kind === 'ordinary') {
    return { kind: 'liteServer.signatureSet.ordinary', validator_set_hash, catchain_seqno, signatures };
  }
  const { session_id, slot, candidate } = set;
  return {
    kind: 'liteServer.signatureSet.simplex',
    cc_seqno: catchain_seqno,
    validator_set_hash,
    signatures,
    session_id,
    slot: slot | 0,
    candidate,
  };
}
