import { verifyBlockFile } from '#formats/proofs/block-header.js';
import { printPosition } from '#formats/proofs/block-id.js';
import { verifyBlockProof } from '#formats/proofs/block-proof.js';
import { keyBlockConfig, stateConfig } from '#formats/proofs/config.js';
import { checkZerostate } from '#formats/proofs/shard-state.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import { toHex } from '#kernel/bytes/bytes.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { replayErrors } from '#localnet/replay/errors.js';
import { buildChain, checkConfiguredZerostate, type RecordedChain } from '#localnet/replay/recorded-chain.js';
import { type RecordedContent, sortContent } from '#localnet/replay/recorded-content.js';
import { readFolder } from '#localnet/replay/recorded-folder.js';
import { ReplayLedger } from '#localnet/replay/replay-ledger.js';

/** What of a folder is served. */
export interface ReplayRange {
  /** The last block of the masterchain; null for all that were recorded. */
  readonly to: number | null;
  /** The head at first, 0 for nothing but zerostates; null for the last block. */
  readonly head: number | null;
}

/**
 * Reads the chain in a folder and checks it: hashes, order, zerostates, states, and the signatures of the validators
 * where the folder has them.
 *
 * @throws replay/*; the message names file and field
 */
export function openReplay(folder: string, range: ReplayRange): ReplayLedger {
  const recorded = readFolder(folder);
  const content = sortContent(recorded);
  const chain = buildChain(content, range.to);
  const zerostate = chain.zerostates.find(({ id }) => id.workchain === -1)!;
  for (const { file, config } of recorded.configs) checkConfiguredZerostate(zerostate, file, config);
  checkAllSignatures(chain, content);
  return new ReplayLedger(chain, content.proofs, range.head ?? chain.masterchain.length);
}

/** @throws replay/wrong-signatures */
function checkAllSignatures(chain: RecordedChain, content: RecordedContent): void {
  const zerostate = chain.zerostates.find(({ id }) => id.workchain === -1)!;
  let config = validatorConfigOf(stateConfig(checkZerostate(zerostate.root, zerostate.id)).config);
  for (const { id, bytes } of chain.masterchain) {
    const proof = content.proofs.get(toHex(id.root_hash));
    if (proof?.signed !== true) continue;
    try {
      const { header } = verifyBlockProof(proof.bytes, id, config);
      if (header.info.key_block) config = validatorConfigOf(keyBlockConfig(verifyBlockFile(bytes, id)).config);
    } catch (error) {
      if (!isTernError(error)) throw error;
      const data = { file: proof.file, block: printPosition(id), problem: error.message };
      throw replayErrors['wrong-signatures'](data, error);
    }
  }
}
