import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { checkBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, printBlockId } from '#formats/proofs/block-id.js';
import { keyBlockConfig } from '#formats/proofs/shard-state.js';
import { decodeParam, validatorsOf } from '#formats/proofs/validators.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerConfigInfo, LiteServerLibraryEntry } from '#formats/tl/lite-api.js';
import { CONFIG_PARAMS, type ConfigDictionary } from '#formats/tlb/config/config-params.js';
import { GlobalVersion } from '#formats/tlb/config/network.js';
import { ValidatorSet } from '#formats/tlb/config/validators.js';
import type { McStateExtra } from '#formats/tlb/shard-state.js';
import { compareBytes, toHex } from '#kernel/bytes.js';
import {
  headOf,
  isValidId,
  loadBlock,
  loadMasterchainBlock,
  MerkleReader,
  openMcState,
  openState,
  refused,
  stateRootProof,
  visitAll,
} from '#localnet/liteserver/block-access.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { Ledger } from '#localnet/liteserver/ledger.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';

/** Parts that a configuration proof contains besides the requested parameters (bits of `mode`). */
const SHOW = {
  validatorSet: 16,
  specialContracts: 32,
  accountsRoot: 64,
  prevBlocks: 128,
  workchains: 256,
  capabilities: 512,
} as const;

/** Use the configuration of the previous key block instead of the state. */
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
/** Since global version 9, also the last blocks whose seqno is a multiple of this. */
const HUNDRED = 100;
const HUNDREDS_VERSION = 9;

/**
 * Reads the previous blocks that contracts see: the last 16, the last key block, the last 16 with a seqno divisible by
 * 100.
 */
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

/** Further hashes are ignored. */
const MAX_LIBRARIES = 16;
const MAX_PUBLISHERS = 16;

const WITH_PUBLISHERS = 1;
const WITHOUT_DATA = 2;

/** Libraries published in the masterchain. */
export const libraryHandlers: LiteHandlers<'liteServer.getLibraries' | 'liteServer.getLibrariesWithProof'> = {
  'liteServer.getLibraries': ({ library_list }, { ledger }) => {
    const { libraries } = openState(ledger.state(headOf(ledger))).totals.value;
    const result: LiteServerLibraryEntry[] = [];
    for (const hash of wantedOf(library_list)) {
      const found = libraries.get(hash);
      if (found !== undefined) result.push({ hash, data: serializeBoc(found.lib) });
    }
    return { result };
  },

  'liteServer.getLibrariesWithProof': ({ id, mode, library_list }, { ledger }) => {
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const { libraries } = openState(reader.root).totals.value;
    const result: LiteServerLibraryEntry[] = [];
    for (const hash of wantedOf(library_list)) {
      const found = libraries.get(hash);
      if (found === undefined) continue;
      if ((mode & WITH_PUBLISHERS) !== 0) {
        let left = MAX_PUBLISHERS;
        for (const _ of iterateEntries(found.publishers.root, 256)) if (--left === 0) break;
      }
      const data = (mode & WITHOUT_DATA) === 0 ? serializeBoc(found.lib) : new Uint8Array();
      result.push({ hash, data });
    }
    return {
      id: blockIdToTl(block.id),
      mode,
      result,
      state_proof: serializeBoc(stateRootProof(block.root)),
      data_proof: reader.proofBytes(),
    };
  },
};

/** The first 16 hashes, sorted and deduplicated. */
function wantedOf(list: readonly Uint8Array[]): readonly Uint8Array[] {
  const distinct = new Map(list.slice(0, MAX_LIBRARIES).map((hash) => [toHex(hash), hash]));
  return [...distinct.values()].sort(compareBytes);
}

const MAX_ENTRIES = 1000;

/** Bits of `mode`: start after a key; with the second bit, at the key. */
const START_AFTER = 1;
const KNOWN_BITS = 7;

/** Block counts of validators. `modified_after` has no effect, as in the reference implementation. */
export const validatorStatsHandlers: LiteHandlers<'liteServer.getValidatorStats'> = {
  'liteServer.getValidatorStats': ({ mode, id, limit, start_after }, { ledger }) => {
    if (limit <= 0) throw refused('requested entry count limit must be positive');
    if ((mode & ~KNOWN_BITS) !== 0) throw refused('unknown flags set in mode');
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const stats = openMcState(reader.root).extra.info.value.block_create_stats;
    if (stats === null) throw refused('cannot extract block create stats from mc state');
    const from = { key: start_after ?? new Uint8Array(32), inclusive: (mode & 3) !== START_AFTER };
    const wanted = Math.min(limit, MAX_ENTRIES);
    const entries = iterateEntries(stats.counters.root, 256, { from });
    let count = 0;
    let complete = false;
    while (count < wanted && !complete) {
      if (entries.next().done === true) complete = true;
      else count++;
    }
    return {
      mode,
      id: blockIdToTl(block.id),
      count,
      complete,
      state_proof: serializeBoc(stateRootProof(block.root)),
      data_proof: reader.proofBytes(),
    };
  },
};
