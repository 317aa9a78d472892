import { Cell as CoreCell } from '@ton/core';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { forEachEntry } from '#formats/cells/dict-read.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';

/** Cells of all transactions of a block, in the order of account and lt. */
export function transactionCells(block: Uint8Array): Cell[] {
  const cells: Cell[] = [];
  const { account_blocks } = decodeCell(Block, parseBocRoot(block)).extra.value;
  for (const [, { transactions }] of account_blocks.value) {
    forEachEntry(transactions.root, 64, (_, value) => void cells.push(value.loadRef()));
  }
  return cells;
}

/** The cells of a bag by hash, as the other library reads them. */
export function coreCells(boc: Uint8Array): ReadonlyMap<string, CoreCell> {
  const byHash = new Map<string, CoreCell>();
  const visit = (cell: CoreCell): void => {
    const hash = toHex(cell.hash());
    if (byHash.has(hash)) return;
    byHash.set(hash, cell);
    for (const ref of cell.refs) visit(ref);
  };
  for (const root of CoreCell.fromBoc(Buffer.from(boc))) visit(root);
  return byHash;
}
