import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { createMerkleProof, UsageTracker } from '#formats/cells/merkle-proof.js';
import { openExotic } from '#formats/cells/slice.js';
import { type BlockId, isMasterchain, printBlockId, printShard, type Shard } from '#formats/proofs/block-id.js';
import type { BlockQuery } from '#formats/proofs/shard-block.js';
import { Block, type BlockInfo, type McBlockExtra } from '#formats/tlb/block.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type McStateExtra, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { isTernError } from '#kernel/tern-error.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';

/** `seqno:int` -1 of a masterchain block: requests the latest state. */
export const LATEST_SEQNO = 0xffffffff;

/** The workchain of an id that identifies no block. */
export const WORKCHAIN_INVALID = -0x80000000;

/** The error of the reference implementation for requests that cannot be answered. */
export function refused(problem: string): Error {
  return liteserverErrors.refused({ problem });
}

export function notReady(problem: string): Error {
  return liteserverErrors['not-ready']({ problem });
}

/** Whether a shard id has a valid workchain and a prefix of at most 60 bits. */
export function isValidShard({ workchain, shard }: Shard): boolean {
  return workchain !== WORKCHAIN_INVALID && (shard & -shard) >= 8n;
}

/** Whether an id can identify a block. */
export function isValidId(id: BlockId): boolean {
  return isValidShard(id) && !isZero(id.root_hash) && !isZero(id.file_hash);
}

function isZero(hash: Uint8Array): boolean {
  return hash.every((byte) => byte === 0);
}

/** The head. @throws liteserver/not-ready while there is none */
export function headOf(ledger: Ledger): LedgerBlock {
  if (ledger.head === null) throw notReady('no masterchain block is known yet');
  return ledger.head;
}

/** The block with this id. @throws liteserver/not-ready */
export function requireBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  const block = id.seqno === 0 ? null : ledger.block(id);
  if (block !== null) return block;
  if (id.seqno === 0) throw notReady('not in db');
  const future = isMasterchain(id) && id.seqno > (ledger.head?.id.seqno ?? 0);
  throw notReady(`block handle not in db${future ? lastKnown(ledger) : ''}`);
}

/** The same, with the block id in the error. @throws liteserver/not-ready */
export function loadBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  try {
    return requireBlock(ledger, id);
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw notReady(`cannot load block ${printBlockId(id)} : ${error.message}`);
  }
}

/** A block that the client names for a state or its data. @throws liteserver/refused, liteserver/not-ready */
export function requireValidBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  if (!isValidId(id)) throw refused('invalid BlockIdExt');
  return requireBlock(ledger, id);
}

/** A masterchain block that the client refers to. @throws liteserver/refused, liteserver/not-ready */
export function loadMasterchainBlock(ledger: Ledger, id: BlockId): LedgerBlock {
  if (id.workchain !== MASTERCHAIN || !isValidId(id)) throw refused('reference block must belong to the masterchain');
  return loadBlock(ledger, id);
}

/** Looks up a block. @throws liteserver/not-ready */
export function lookupBlock(ledger: Ledger, query: BlockQuery): LedgerBlock {
  const found = ledger.lookup(query);
  if (found !== null) return found;
  const value = query.by === 'seqno' ? query.seqno : query.by === 'lt' ? query.lt : query.utime;
  const where = `cannot find block ${printShard(query)} ${query.by}=${value}`;
  if (!ledger.hasWorkchain(query.workchain)) throw notReady(`${where}: ${query.by} not in db`);
  throw notReady(
    `${where}: ltdb: block not found${query.by === 'seqno' && query.seqno === 0 ? '' : lastKnown(ledger)}`,
  );
}

function lastKnown(ledger: Ledger): string {
  return ` (last known masterchain block: ${ledger.head?.id.seqno ?? 0})`;
}

/** A block with its header. */
export interface OpenedBlock {
  readonly block: Block;
  readonly info: BlockInfo;
}

/** Reads a block and its header, without the cells below the header. */
export function openBlockHeader(root: Cell): OpenedBlock {
  const block = decodeCell(Block, root);
  return { block, info: block.info.value };
}

/** Reads the references to the previous blocks in a header. */
export function readPrevious({ info }: OpenedBlock): void {
  visitAll(info.prev_ref.cell);
}

/** A proof of the block header that also contains the hash of the state after the block. */
export function stateRootProof(root: Cell): Cell {
  const reader = new MerkleReader(root);
  const opened = openBlockHeader(reader.root);
  readPrevious(opened);
  openExotic(opened.block.state_update.cell, CellType.merkleUpdate);
  return reader.proof();
}

/** Reads the masterchain part of a block, without the cells below it. */
export function openMcBlockExtra(root: Cell): McBlockExtra {
  const custom = decodeCell(Block, root).extra.value.custom;
  if (custom === null) throw liteserverErrors.refused({ problem: 'the block has no extra of a masterchain block' });
  custom.value.messages.cell.touch();
  return custom.value;
}

/** Reads a state, without the cells below it. */
export function openState(root: Cell): ShardStateUnsplit {
  const state = decodeCell(ShardStateUnsplit, root);
  state.totals.cell.touch();
  return state;
}

/** Reads the masterchain part of a state, without the cells below it. */
export function openMcState(root: Cell): { readonly state: ShardStateUnsplit; readonly extra: McStateExtra } {
  const state = openState(root);
  if (state.custom === null) throw liteserverErrors.refused({ problem: 'the state is not one of the masterchain' });
  const extra = state.custom.value;
  extra.info.cell.touch();
  return { state, extra };
}

/**
 * A cell tree that tracks which cells have been read through `root`. A handler reads what the client will read; the
 * cells read are the proof.
 */
export class MerkleReader {
  readonly root: Cell;
  readonly #whole: Cell;
  readonly #tracker = new UsageTracker();

  constructor(root: Cell) {
    this.#whole = root;
    this.root = this.#tracker.track(root);
    this.root.touch();
  }

  /** The Merkle proof of all cells read so far. */
  proof(): Cell {
    return createMerkleProof(this.#whole, this.#tracker);
  }

  /** The same as a bag of cells. */
  proofBytes(): Uint8Array {
    return serializeBoc(this.proof());
  }
}

/** Marks a cell and all cells below it as read. */
export function visitAll(cell: Cell): void {
  cell.touch();
  if (cell.type === CellType.prunedBranch) return;
  for (let r = 0, count = cell.refCount; r < count; r++) visitAll(cell.ref(r));
}

/** Marks the trees of a list as read. */
export function visitEach(cells: Iterable<Cell | null | undefined>): void {
  for (const cell of cells) if (cell !== null && cell !== undefined) visitAll(cell);
}
