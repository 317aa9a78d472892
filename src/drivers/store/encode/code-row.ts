import { codeMethods } from '#domain/contracts/code-methods.js';
import type { CodeRow } from '#drivers/store/rows.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { type Cell, CellType } from '#formats/cells/cell.js';

/** A code as it is stored, whole or a library reference. */
export function codeRow(code: Cell): CodeRow {
  const isReference = code.type === CellType.libraryReference;
  return {
    code_hash: code.hash().slice(),
    boc: serializeBoc(code),
    methods: isReference ? null : codeMethods(code),
    methods_read: !isReference,
  };
}
