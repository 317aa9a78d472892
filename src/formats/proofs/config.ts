import { type BlockHeader, checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, printPosition } from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof } from '#formats/proofs/proof-part.js';
import { masterchainExtra, type ProvenState, verifyState } from '#formats/proofs/shard-state.js';
import type { ConfigParams } from '#formats/tlb/config/config-params.js';

/** The configuration in a masterchain state. @throws proofs/not-masterchain, proofs/malformed, proofs/incomplete */
export function stateConfig(state: ProvenState): ConfigParams {
  return masterchainExtra(state).config;
}

/** The configuration that a key block carries. @throws proofs/no-key-block, proofs/malformed, proofs/incomplete */
export function keyBlockConfig({ id, info, block }: BlockHeader): ConfigParams {
  const config = info.key_block ? inPart('block.extra.custom', () => block.extra.value.custom?.value.config) : null;
  if (config === null || config === undefined) throw proofsErrors['no-key-block']({ block: printPosition(id) });
  return config;
}

/**
 * Checks an answer about the configuration after a masterchain block (`liteServer.configInfo`) and gives the visible part
 * of the state: see {@link stateConfig}. A parameter that the proof leaves out throws cells/pruned-branch when it is read.
 *
 * @throws proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyConfig(block: BlockId, stateProof: Uint8Array, configProof: Uint8Array): ProvenState {
  return verifyState(block, stateProof, configProof);
}

/**
 * Checks an answer with the configuration of a key block (mode 0x8000). That this was the last key block before another
 * block, the header of that one tells (`prev_key_block_seqno`).
 *
 * @throws proofs/root-hash, proofs/header, proofs/no-key-block, proofs/malformed, proofs/incomplete
 */
export function verifyKeyBlockConfig(keyBlock: BlockId, configProof: Uint8Array): ConfigParams {
  const root = openProof('config_proof', configProof);
  return inPart('config_proof', () => keyBlockConfig(checkBlockHeader(root, keyBlock)));
}
