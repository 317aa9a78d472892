import type { Cell } from '#formats/cells/cell.js';
import type { CellTable } from '#formats/cells/cell-table.js';

/** Messages are small; whoever looks for a cell in a large one may do without it. */
const MOST_VISITS = 256;

/** The cell of a hash below a line of a table, if it is whole and not too far down; null: it was not found. */
export function findCell(table: CellTable, root: number, hash: Uint8Array): Cell | null {
  const stack = [root];
  for (let visits = 0; visits < MOST_VISITS; visits++) {
    const line = stack.pop();
    if (line === undefined) return null;
    if (isHash(table, line, hash)) return table.levelMask[line] === 0 ? table.cell(line) : null;
    for (let r = line * 4, end = r + table.refCount[line]!; r < end; r++) stack.push(table.refs[r]!);
  }
  return null;
}

function isHash(table: CellTable, line: number, hash: Uint8Array): boolean {
  const at = table.hashOffset(line);
  const { hashBytes } = table;
  for (let i = 0; i < 32; i++) if (hashBytes[at + i] !== hash[i]) return false;
  return true;
}
