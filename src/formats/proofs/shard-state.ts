import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockHeader,
  checkBlockHeader,
  checkRootHash,
  stateHash,
  verifyBlockHeader,
} from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printPosition } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, openTwoProofs } from '#formats/proofs/proof-part.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** The visible part of a shard's state after a block, checked. */
export interface ProvenState {
  readonly id: BlockId;
  /** The header of the block; `null` for a zerostate, which has none. */
  readonly header: BlockHeader | null;
  readonly root: Cell;
  readonly state: ShardStateUnsplit;
}

/**
 * Checks that cells are (the visible part of) the state after a block whose header is known.
 * @throws proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function checkState(root: Cell, header: BlockHeader): ProvenState {
  const expected = stateHash(header);
  const found = root.hash(0);
  const { id } = header;
  if (!bytesEqual(expected, found)) {
    throw proofsErrors['state-hash']({ block: printPosition(id), expected: toHex(expected), found: toHex(found) });
  }
  return inPart('state', () => ({ id, header, root, state: decodeCell(ShardStateUnsplit, root) }));
}

/**
 * Checks that cells are (the visible part of) a zerostate. Its id has the hash of the state itself as root hash.
 * @throws proofs/root-hash, proofs/malformed, proofs/incomplete
 */
export function checkZerostate(root: Cell, id: BlockId): ProvenState {
  checkRootHash(root, id);
  return inPart('state', () => ({ id, header: null, root, state: decodeCell(ShardStateUnsplit, root) }));
}

/**
 * The state after a block from the proofs of its header and of the state. For a zerostate the header proof is empty.
 * @throws proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyState(id: BlockId, headerProof: Uint8Array, stateProof: Uint8Array): ProvenState {
  const root = openProof('state_proof', stateProof);
  if (id.seqno === 0) return inPart('state_proof', () => checkZerostate(root, id));
  const header = verifyBlockHeader(headerProof, id);
  return inPart('state_proof', () => checkState(root, header));
}

/** As {@link verifyState} for proofs that come as two roots of one bag: header first, then state. */
export function verifyTwoRootState(part: string, id: BlockId, proof: Uint8Array): ProvenState {
  const [headerRoot, stateRoot] = openTwoProofs(part, proof);
  return inPart(part, () => checkState(stateRoot, checkBlockHeader(headerRoot, id)));
}

/** What only the state of the masterchain has. @throws proofs/not-masterchain, proofs/malformed, proofs/incomplete */
export function masterchainExtra({ id, state }: ProvenState): McStateExtra {
  if (!isMasterchain(id) || state.custom === null) throw proofsErrors['not-masterchain']({ block: printPosition(id) });
  const { custom } = state;
  return inPart('state.custom', () => custom.value);
}
