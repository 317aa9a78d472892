import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printBlockId } from '#formats/proofs/block-id.js';
import { keyBlockConfig } from '#formats/proofs/config.js';
import { decodeParam, validatorsOf } from '#formats/proofs/validator-config.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerConfigInfo } from '#formats/tl/generated/lite-server.js';
import { CONFIG_PARAMS, type ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { ValidatorSet } from '#formats/tlb/config/validator-set.js';
import { GlobalVersion } from '#formats/tlb/global-version.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { openMcState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import { headOf, isValidId, loadBlock, loadMasterchainBlock, refused } from '#localnet/liteserver/find-block.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/merkle-reader.js';

/** What a proof of the configuration shows besides the parameters asked for (bits of `mode`). */
const SHOW = {
  validatorSet: 16,
  specialContracts: 32,
  accountsRoot: 64,
  prevBlocks: 128,
  workchains: 256,
  capabilities: 512,
} as const;

/** Take the configuration out of the key block before, not out of the state. */
const FROM_KEY_BLOCK = 0x8000;

const MAX_PARAMS = 256;

/** The configuration of the network. */
export const configHandlers: LiteHandlers<'liteServer.getConfigAll' | 'liteServer.getConfigParams'> = {
  'liteServer.getConfigAll': ({ mode, id }, { ledger }) => configInfo(ledger, blockIdFromTl(id), mode, null),

  'liteServer.getConfigParams': ({ mode, id, param_list }, { ledger }) => {
    if (param_list.length > MAX_PARAMS) throw refused('too long param list');
    return configInfo(ledger, blockIdFromTl(id), mode, param_list);
  },
};

/** @param params null for all */
function configInfo(ledger: Ledger, id: BlockId, wideMode: number, params: readonly number[] | null) {
  const mode = wideMode & 0xffff;
  if (!isMasterchain(id)) {
    throw refused('configuration parameters can be loaded with respect to a masterchain block only');
  }
  return (mode & FROM_KEY_BLOCK) === 0
    ? configOfState(ledger, id, mode, params)
    : configOfKeyBlock(ledger, id, mode, params);
}

function configOfState(
  ledger: Ledger,
  id: BlockId,
  asked: number,
  params: readonly number[] | null,
): LiteServerConfigInfo {
  const block = loadMasterchainBlock(ledger, id);
  const reader = new MerkleReader(ledger.state(block));
  const { state, extra } = openMcState(reader.root);
  const withPrevBlocks = (asked & SHOW.prevBlocks) !== 0;
  const mode = withPrevBlocks ? asked | SHOW.capabilities : asked;
  readParts(extra.config.config, mode);
  if (withPrevBlocks) {
    if ((mode & SHOW.accountsRoot) !== 0) state.accounts.value.root?.touch();
    readPreviousBlocks(extra, block.id.seqno);
  }
  readParams(extra.config.config, params);
  return {
    mode,
    id: blockIdToTl(block.id),
    state_proof: serializeBoc(stateRootProof(block.root)),
    config_proof: reader.proofBytes(),
  };
}

function configOfKeyBlock(
  ledger: Ledger,
  id: BlockId,
  mode: number,
  params: readonly number[] | null,
): LiteServerConfigInfo {
  const head = headOf(ledger);
  const names = { known: printBlockId(id), head: printBlockId(head.id) };
  if (id.seqno > head.id.seqno) {
    throw rule(`client knows block ${names.known} newer than the reference masterchain block ${names.head}`);
  }
  if (id.seqno > 0 && (!isValidId(id) || ledger.block(id) === null)) {
    throw rule(
      `requested masterchain block ${names.known} is unknown from the perspective of reference block ${names.head}`,
    );
  }
  const block = loadBlock(ledger, ledger.keyBlockUpTo(id.seqno));
  const reader = new MerkleReader(block.root);
  const header = checkBlockHeader(reader.root, block.id);
  header.block.extra.value.custom?.value.messages.cell.touch();
  const { config } = keyBlockConfig(header);
  readParts(config, mode);
  readParams(config, params);
  return { mode, id: blockIdToTl(block.id), state_proof: new Uint8Array(), config_proof: reader.proofBytes() };
}

function rule(problem: string): Error {
  return liteserverErrors['broken-rule']({ problem });
}

function readParams(config: ConfigDictionary, params: readonly number[] | null): void {
  if (params === null) {
    visitAll(config.root as Cell);
    return;
  }
  for (const param of params) {
    const cell = config.get(param);
    if (cell !== undefined) visitAll(cell);
  }
}

function readParts(config: ConfigDictionary, mode: number): void {
  if ((mode & SHOW.validatorSet) !== 0) {
    const set = decodeParam(config, 35, ValidatorSet) ?? decodeParam(config, 34, ValidatorSet);
    if (set !== null) validatorsOf(set);
  }
  if ((mode & SHOW.specialContracts) !== 0) config.get(31)?.touch();
  if ((mode & SHOW.workchains) !== 0) {
    for (const _ of decodeParam(config, 12, CONFIG_PARAMS[12].codec) ?? []);
  }
  if ((mode & SHOW.capabilities) !== 0) decodeParam(config, 8, GlobalVersion);
}

const PREVIOUS_BLOCKS = 16;
/** Since global version 9 also the last ones whose seqno is a multiple of this. */
const HUNDRED = 100;
const HUNDREDS_VERSION = 9;

/** Reads what a contract is told of the blocks before: the last 16, the last key block, the last 16 of each hundred. */
function readPreviousBlocks(extra: McStateExtra, seqno: number): void {
  const { prev_blocks } = extra.info.value;
  prev_blocks.get(0);
  const read = (first: number, step: number): void => {
    for (let i = 0, at = first; i < PREVIOUS_BLOCKS && at >= 0; i++, at -= step) if (at < seqno) prev_blocks.get(at);
  };
  read(seqno, 1);
  const version = decodeParam(extra.config.config, 8, GlobalVersion)?.version ?? 0;
  if (version >= HUNDREDS_VERSION) read(seqno - (seqno % HUNDRED), HUNDRED);
}
