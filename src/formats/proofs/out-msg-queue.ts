import type { BlockId } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { type ProvenState, verifyTwoRootState } from '#formats/proofs/shard-state.js';

/**
 * Checks an answer about the number of messages in a shard's outgoing queue (`liteServer.blockOutMsgQueueSize`).
 *
 * @param block the trusted block after which the state is asked about
 * @param size what the answer says
 * @param proof two roots: header of the block, state after it
 * @returns the size
 * @throws proofs/queue-size, proofs/root-count, proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed,
 *   proofs/incomplete
 */
export function verifyOutMsgQueueSize(block: BlockId, size: bigint, proof: Uint8Array): number {
  const found = outMsgQueueSize(verifyTwoRootState('proof', block, proof));
  if (found === null || BigInt(found) !== size) {
    throw proofsErrors['queue-size']({ expected: found === null ? 'unknown' : String(found), found: String(size) });
  }
  return found;
}

/** The size that a state states; `null` when it does not (`capStoreOutMsgQueueSize` is off). @throws proofs/incomplete */
export function outMsgQueueSize({ state }: ProvenState): number | null {
  return inPart('state.out_msg_queue_info', () => state.out_msg_queue_info.value.extra?.out_queue_size ?? null);
}
