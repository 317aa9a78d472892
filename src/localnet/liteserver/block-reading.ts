import type { Cell } from '#formats/cells/cell.js';
import { CellType } from '#formats/cells/cell.js';
import { openExotic } from '#formats/cells/slice.js';
import { Block } from '#formats/tlb/block.js';
import type { BlockInfo } from '#formats/tlb/block-info.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { McBlockExtra } from '#formats/tlb/mc-block-extra.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import { MerkleReader, visitAll } from '#localnet/liteserver/merkle-reader.js';

/** A block, its header read. */
export interface OpenBlock {
  readonly block: Block;
  readonly info: BlockInfo;
}

/** Reads a block and its header, without the cells below the header. */
export function openBlock(root: Cell): OpenBlock {
  const block = decodeCell(Block, root);
  return { block, info: block.info.value };
}

/** Reads the references to the previous blocks in a header. */
export function readPrevious({ info }: OpenBlock): void {
  visitAll(info.prev_ref.cell);
}

/** The proof of a block's header that also shows the hash of the state after it. */
export function stateRootProof(root: Cell): Cell {
  const reader = new MerkleReader(root);
  const opened = openBlock(reader.root);
  readPrevious(opened);
  openExotic(opened.block.state_update.cell, CellType.merkleUpdate);
  return reader.proof();
}

/** Reads what only masterchain blocks have, without what is below. */
export function openMcBlockExtra(root: Cell): McBlockExtra {
  const custom = decodeCell(Block, root).extra.value.custom;
  if (custom === null) throw liteserverErrors.refused({ problem: 'the block has no extra of a masterchain block' });
  custom.value.messages.cell.touch();
  return custom.value;
}

/** Reads a state, without what is below. */
export function openState(root: Cell): ShardStateUnsplit {
  const state = decodeCell(ShardStateUnsplit, root);
  state.totals.cell.touch();
  return state;
}

/** Reads what only states of the masterchain have, without what is below. */
export function openMcState(root: Cell): { readonly state: ShardStateUnsplit; readonly extra: McStateExtra } {
  const state = openState(root);
  if (state.custom === null) throw liteserverErrors.refused({ problem: 'the state is not one of the masterchain' });
  const extra = state.custom.value;
  extra.info.cell.touch();
  return { state, extra };
}
