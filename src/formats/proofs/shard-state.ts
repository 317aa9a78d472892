import type { Cell } from '#formats/cells/cell.js';
import {
  type BlockHeader,
  checkBlockHeader,
  checkRootHash,
  stateHash,
  verifyBlockHeader,
} from '#formats/proofs/block-header.js';
import {
  type BlockId,
  isMasterchain,
  MASTERCHAIN_SHARD,
  printPosition,
  requireMasterchain,
} from '#formats/proofs/block-id.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { inPart, openProof, openTwoProofs, readRoots } from '#formats/proofs/proof-part.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { ConfigParams } from '#formats/tlb/config/config-params.js';
import {
  type BlockCreateStats,
  type LibDescr,
  type McStateExtra,
  ShardStateUnsplit,
} from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';

/** The verified visible part of a shard state after a block. */
export interface ProvenState {
  readonly id: BlockId;
  /** The header of the block; `null` for a zerostate. */
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
 * Checks that cells are (the visible part of) a zerostate. The root hash of its id is the hash of the state itself.
 * @throws proofs/root-hash, proofs/malformed, proofs/incomplete
 */
export function checkZerostate(root: Cell, id: BlockId): ProvenState {
  checkRootHash(root, id);
  return inPart('state', () => ({ id, header: null, root, state: decodeCell(ShardStateUnsplit, root) }));
}

/**
 * Verifies the state after a block from the proofs of its header and of the state. For a zerostate the header proof is empty.
 * @throws proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyState(id: BlockId, headerProof: Uint8Array, stateProof: Uint8Array): ProvenState {
  const root = openProof('state_proof', stateProof);
  if (id.seqno === 0) return inPart('state_proof', () => checkZerostate(root, id));
  const header = verifyBlockHeader(headerProof, id);
  return inPart('state_proof', () => checkState(root, header));
}

/** As {@link verifyState} for proofs that are two roots of one bag: header first, then state. */
export function verifyTwoRootState(part: string, id: BlockId, proof: Uint8Array): ProvenState {
  const [headerRoot, stateRoot] = openTwoProofs(part, proof);
  return inPart(part, () => checkState(stateRoot, checkBlockHeader(headerRoot, id)));
}

/** The masterchain part of a state. @throws proofs/not-masterchain, proofs/malformed, proofs/incomplete */
export function masterchainExtra({ id, state }: ProvenState): McStateExtra {
  if (!isMasterchain(id) || state.custom === null) throw proofsErrors['not-masterchain']({ block: printPosition(id) });
  const { custom } = state;
  return inPart('state.custom', () => custom.value);
}

/** The configuration in a masterchain state. @throws proofs/not-masterchain, proofs/malformed, proofs/incomplete */
export function stateConfig(state: ProvenState): ConfigParams {
  return masterchainExtra(state).config;
}

/** The configuration in a key block. @throws proofs/no-key-block, proofs/malformed, proofs/incomplete */
export function keyBlockConfig({ id, info, block }: BlockHeader): ConfigParams {
  const config = info.key_block ? inPart('block.extra.custom', () => block.extra.value.custom?.value.config) : null;
  if (config === null || config === undefined) throw proofsErrors['no-key-block']({ block: printPosition(id) });
  return config;
}

/**
 * Verifies an answer with the configuration after a masterchain block (`liteServer.configInfo`) and returns the visible part
 * of the state: see {@link stateConfig}. A pruned parameter throws cells/pruned-branch when it is read.
 *
 * @throws proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed, proofs/incomplete
 */
export function verifyConfig(block: BlockId, stateProof: Uint8Array, configProof: Uint8Array): ProvenState {
  return verifyState(block, stateProof, configProof);
}

/**
 * Verifies an answer with the configuration of a key block (mode 0x8000). The header of a later block tells whether this
 * is its previous key block (`prev_key_block_seqno`).
 *
 * @throws proofs/root-hash, proofs/header, proofs/no-key-block, proofs/malformed, proofs/incomplete
 */
export function verifyKeyBlockConfig(keyBlock: BlockId, configProof: Uint8Array): ConfigParams {
  const root = openProof('config_proof', configProof);
  return inPart('config_proof', () => keyBlockConfig(checkBlockHeader(root, keyBlock)));
}

/** A library in an answer (`liteServer.libraryEntry`). */
export interface LibraryEntry {
  readonly hash: Uint8Array;
  /** Bag with the library's cell; empty when the contents were not requested. */
  readonly data: Uint8Array;
}

/** An answer about libraries of the masterchain (`liteServer.libraryResultWithProof`). */
export interface LibrariesAnswer {
  readonly result: readonly LibraryEntry[];
  readonly state_proof: Uint8Array;
  readonly data_proof: Uint8Array;
}

/** A verified library of the masterchain. */
export interface ProvenLibrary {
  readonly hash: Uint8Array;
  /** The library's cell, `null` when the contents were not requested. */
  readonly cell: Cell | null;
}

/**
 * Verifies an answer with libraries by hash and returns those that the masterchain has, in the order of `hashes`.
 *
 * @param block the trusted masterchain block; the state after it is proven
 * @throws proofs/not-masterchain, proofs/library-hash, proofs/library-list, proofs/root-hash, proofs/header, proofs/state-hash, proofs/malformed,
 *   proofs/incomplete
 */
export function verifyLibraries(
  block: BlockId,
  hashes: readonly Uint8Array[],
  answer: LibrariesAnswer,
): readonly ProvenLibrary[] {
  requireMasterchain(block);
  const state = verifyState(block, answer.state_proof, answer.data_proof);
  const given = new Map(answer.result.map((entry) => [toHex(entry.hash), entry]));
  const found: ProvenLibrary[] = [];
  for (const hash of hashes) {
    const name = toHex(hash);
    const published = libraryOf(state, hash);
    const entry = given.get(name);
    if ((published !== null) !== (entry !== undefined)) {
      throw proofsErrors['library-list']({ hash: name, present: published !== null });
    }
    if (entry !== undefined) found.push({ hash, cell: entry.data.length === 0 ? null : readLibrary(entry) });
  }
  const requested = new Set(hashes.map(toHex));
  for (const name of given.keys())
    if (!requested.has(name)) throw proofsErrors['library-list']({ hash: name, present: false });
  return found;
}

/**
 * The entry of a library in a state, `null` when it has none.
 * @throws proofs/library-hash, proofs/malformed, proofs/incomplete
 */
export function libraryOf({ state }: ProvenState, hash: Uint8Array): LibDescr | null {
  return inPart('data_proof.state.libraries', () => {
    const entry = state.totals.value.libraries.get(hash) ?? null;
    if (entry !== null) checkHash(hash, entry.lib);
    return entry;
  });
}

function readLibrary({ hash, data }: LibraryEntry): Cell {
  return inPart('result', () => {
    const cell = readRoots(data, 1)[0]!;
    checkHash(hash, cell);
    return cell;
  });
}

function checkHash(hash: Uint8Array, cell: Cell): void {
  if (bytesEqual(hash, cell.hash(0))) return;
  throw proofsErrors['library-hash']({ expected: toHex(hash), found: toHex(cell.hash(0)) });
}

/**
 * Verifies an answer with the size of a shard's out-message queue (`liteServer.blockOutMsgQueueSize`).
 *
 * @param block the trusted block; the state after it is proven
 * @param size the size in the answer
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

/** The queue size stored in a state; `null` when there is none (`capStoreOutMsgQueueSize` is off). @throws proofs/incomplete */
export function outMsgQueueSize({ state }: ProvenState): number | null {
  return inPart('state.out_msg_queue_info', () => state.out_msg_queue_info.value.extra?.out_queue_size ?? null);
}

/**
 * Verifies an answer about the number of blocks created by validators (`liteServer.validatorStats`) and returns the visible
 * part of the statistics in the state after a masterchain block; `null` when the state has none.
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

/** Previous masterchain blocks visible to contracts (`PREVMCBLOCKS`, `PREVKEYBLOCK`, `PREVMCBLOCKS_100`), newest first. */
export interface PrevMcBlocks {
  /** The last 16, including the current masterchain block. */
  readonly last_mc_blocks: readonly BlockId[];
  readonly prev_key_block: BlockId;
  /** The last 16 whose seqno is a multiple of 100; visible from global version 9 on. */
  readonly last_mc_blocks_100: readonly BlockId[];
}

const MOST = 16;
const HUNDRED = 100;
const HUNDREDS_VERSION = 9;

/**
 * The previous masterchain blocks visible to contracts, from the state after a block.
 *
 * @param globalVersion before 9 there are no blocks by hundreds, and proofs do not include them
 * @throws proofs/old-block when the state does not list one of them; cells/pruned-branch when one is pruned
 */
export function prevMcBlocks(current: BlockId, extra: McStateExtra, globalVersion: number): PrevMcBlocks {
  const { prev_blocks, after_key_block, last_key_block } = extra.info.value;
  const at = (seqno: number): BlockId => {
    if (seqno === current.seqno) return current;
    const known = prev_blocks.get(seqno);
    if (known === undefined) {
      throw proofsErrors['old-block']({
        block: printPosition({ ...MASTERCHAIN_SHARD, seqno }),
        from: printPosition(current),
      });
    }
    return blockOf(known.blk_ref);
  };
  const from = (first: number, step: number): BlockId[] => {
    const blocks: BlockId[] = [];
    for (let seqno = first; seqno >= 0 && blocks.length < MOST; seqno -= step) blocks.push(at(seqno));
    return blocks;
  };
  return {
    last_mc_blocks: from(current.seqno, 1),
    prev_key_block: after_key_block ? current : last_key_block === null ? at(0) : blockOf(last_key_block),
    last_mc_blocks_100:
      globalVersion < HUNDREDS_VERSION ? [] : from(current.seqno - (current.seqno % HUNDRED), HUNDRED),
  };
}

function blockOf(reference: {
  readonly seq_no: number;
  readonly root_hash: Uint8Array;
  readonly file_hash: Uint8Array;
}): BlockId {
  const { seq_no: seqno, root_hash, file_hash } = reference;
  return { ...MASTERCHAIN_SHARD, seqno, root_hash: root_hash.slice(), file_hash: file_hash.slice() };
}
