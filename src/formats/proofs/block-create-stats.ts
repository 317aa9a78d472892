import type { BlockId } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { masterchainExtra, verifyState } from '#formats/proofs/shard-state.js';
import type { BlockCreateStats } from '#formats/tlb/block-create-stats.js';

/**
 * Checks an answer about how many blocks validators made (`liteServer.validatorStats`), and gives the visible part of the
 * statistics in the state after a masterchain block; `null` when the state keeps none.
 *
 * @throws proofs/not-masterchain, proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyBlockCreateStats(
  block: BlockId,
  stateProof: Uint8Array,
  dataProof: Uint8Array,
): BlockCreateStats | null {
  const { info } = masterchainExtra(verifyState(block, stateProof, dataProof));
  return inPart('data_proof.state.custom', () => info.value.block_create_stats);
}
