import { type Cell, CellType } from '#formats/cells/cell.js';
import { BitString } from '#kernel/bytes/bit-string.js';
import { toHex } from '#kernel/bytes/bytes.js';

const KINDS: Readonly<Record<CellType, string>> = {
  [CellType.ordinary]: '',
  [CellType.prunedBranch]: 'pruned ',
  [CellType.libraryReference]: 'library ',
  [CellType.merkleProof]: 'Merkle proof ',
  [CellType.merkleUpdate]: 'Merkle update ',
};

/**
 * The cells below `root`, one line each: kind, data as TON tools write it (`x{…}`), number of bits, hash. A cell that
 * was shown before is only named by its hash, so the output is no longer than the bag of cells.
 */
export function* cellTreeLines(root: Cell): Generator<string> {
  const seen = new Set<string>();
  const stack: { cell: Cell; lead: string; last: boolean }[] = [{ cell: root, lead: '', last: true }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { cell, lead, last } = entry;
    const hash = toHex(cell.hash());
    const top = cell === root;
    const branch = top ? '' : `${lead}${last ? '└─ ' : '├─ '}`;
    if (seen.has(hash)) {
      yield `${branch}↑ ${hash.slice(0, 16)}… (shown above)`;
      continue;
    }
    seen.add(hash);
    const level = cell.level === 0 ? '' : ` level ${cell.level}`;
    yield `${branch}${KINDS[cell.type]}x{${dataOf(cell)}} ${cell.bits} bits${level} ${hash}`;
    const below = top ? '' : `${lead}${last ? '   ' : '│  '}`;
    for (let i = cell.refCount - 1; i >= 0; i--)
      stack.push({ cell: cell.ref(i), lead: below, last: i === cell.refCount - 1 });
  }
}

function dataOf(cell: Cell): string {
  const size = (cell.bits + 7) >> 3;
  const bytes = cell.bytes.slice(cell.dataOffset, cell.dataOffset + size);
  if ((cell.bits & 7) !== 0) bytes[size - 1]! &= 0xff << (8 - (cell.bits & 7));
  return new BitString(bytes, cell.bits).toString();
}
