import { storeErrors } from '#drivers/store/errors.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BuiltCell } from '#formats/cells/built-cell.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';

/** Codes that a stored transaction leaves out, by hash. @throws store/stored-value */
export function sharedCodes(stored: Uint8Array): Uint8Array[] {
  if (stored[0] === 0) return [];
  const { places, root } = openStored(stored);
  return places.map((place) => root.table.hash(place, 0));
}

/**
 * The cells of a stored transaction.
 *
 * @param code gives a code that the transaction leaves out. Where it gives null, the cell of the code stays a pruned branch,
 *   and the transaction's hash is `hash(0)`.
 * @throws store/stored-value, cells/boc-*
 */
export function loadTransaction(stored: Uint8Array, code: (hash: Uint8Array) => Cell | null): Cell {
  const { places, root } = openStored(stored);
  if (places.length === 0) return root;
  const { table } = root;
  const filled = new Map<number, Cell>();
  for (const place of places) {
    const cell = code(table.hash(place, 0));
    if (cell !== null) filled.set(place, cell);
  }
  return filled.size === 0 ? root : fill(table, root.index, filled);
}

/** The cell with the codes in their places; what does not lead to one stays as it is. */
function fill(table: CellTable, line: number, filled: Map<number, Cell>): Cell {
  const known = filled.get(line);
  if (known !== undefined) return known;
  let cell: Cell = table.cell(line);
  if (table.levelMask[line] !== 0 && table.type[line] === 0) {
    const refs: Cell[] = [];
    for (let r = line * 4, end = r + cell.refCount; r < end; r++) refs.push(fill(table, table.refs[r]!, filled));
    const start = cell.dataOffset;
    const bytes = cell.bytes.subarray(start, start + ((cell.bits + 7) >> 3));
    const whole = refs.every((ref) => ref.levelMask === 0);
    cell = whole
      ? BuiltCell.withHash(bytes, cell.bits, refs, false, cell.hash(0), cell.depth(0))
      : new BuiltCell(bytes, cell.bits, refs, false);
  }
  filled.set(line, cell);
  return cell;
}

function openStored(stored: Uint8Array): { readonly places: readonly number[]; readonly root: TableCell } {
  const shared = stored[0] ?? 0;
  const start = 1 + shared * 2;
  if (stored.length <= start) throw wrong('ends too early');
  const root = parseBocRoot(stored.subarray(start)) as TableCell;
  const places: number[] = [];
  for (let at = 1; at < start; at += 2) {
    const place = (stored[at]! << 8) | stored[at + 1]!;
    if (place >= root.table.count || root.table.type[place] !== CellType.prunedBranch) {
      throw wrong(`cell ${place} is not one that was left out`);
    }
    places.push(place);
  }
  return { places, root };
}

function wrong(problem: string): Error {
  return storeErrors['stored-value']({ column: 'boc', problem });
}
