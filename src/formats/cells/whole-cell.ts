import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { cellsErrors } from '#formats/cells/errors.js';

/**
 * The one root of a bag of cells, with its hash computed: no part of it is pruned, and every cell below it is well-formed.
 *
 * @throws cells/merkle-level when parts are pruned; cells/boc-roots and the rest as {@link parseBocRoot}; cells/cell-depth
 */
export function wholeCell(boc: Uint8Array): Cell {
  const root = parseBocRoot(boc);
  const { level } = root;
  if (level > 0) throw cellsErrors['merkle-level']({ subject: 'cell', level });
  root.hash();
  return root;
}
