import { type Cell, CellType } from '#formats/cells/cell.js';
import { BitString, toHex } from '#kernel/bytes.js';

/** How a tree is printed. */
export interface TreeLook {
  /** Columns that a line may have; null: data and hashes are printed whole. */
  readonly width: number | null;
  readonly hasColour: boolean;
}

const CELL_TYPES: Readonly<Record<CellType, string>> = {
  [CellType.ordinary]: '',
  [CellType.prunedBranch]: 'pruned ',
  [CellType.libraryReference]: 'library ',
  [CellType.merkleProof]: 'Merkle proof ',
  [CellType.merkleUpdate]: 'Merkle update ',
};

const HASH_DIGITS = 16;

/** Fewest characters of data in a shortened line, and the longest indentation that is drawn. */
const LEAST_DATA = 6;
const MOST_LEAD = 18;

const DIM = '\u001b[2m';
const CYAN = '\u001b[36m';
const END = '\u001b[0m';

/**
 * Prints the cells below `root`, one per line: cell type, data (`x{…}`), number of bits, hash. A repeated cell is only
 * referenced by its hash, so the output is bounded by the BoC.
 */
export function* cellTreeLines(root: Cell, look: TreeLook): Generator<string> {
  const seen = new Set<string>();
  const stack: { cell: Cell; lead: string; last: boolean }[] = [{ cell: root, lead: '', last: true }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { cell, lead, last } = entry;
    const hash = toHex(cell.hash());
    const top = cell === root;
    const branch = top ? '' : branchOf(lead, last, look);
    if (seen.has(hash)) {
      yield `${painted(branch, DIM, look)}↑ ${hash.slice(0, HASH_DIGITS)}… (shown above)`;
      continue;
    }
    seen.add(hash);
    yield lineOf(cell, hash, branch, look);
    const below = top ? '' : `${lead}${last ? '   ' : '│  '}`;
    for (let i = cell.refCount - 1; i >= 0; i--)
      stack.push({ cell: cell.ref(i), lead: below, last: i === cell.refCount - 1 });
  }
}

/** A deep one is drawn as its depth. */
function branchOf(lead: string, last: boolean, { width }: TreeLook): string {
  const drawn = width === null || lead.length <= MOST_LEAD ? lead : `${lead.slice(0, 6)}…${lead.length / 3 + 1} deep `;
  return `${drawn}${last ? '└─ ' : '├─ '}`;
}

function lineOf(cell: Cell, hash: string, branch: string, look: TreeLook): string {
  const level = cell.level === 0 ? '' : ` level ${cell.level}`;
  const type = CELL_TYPES[cell.type];
  const size = ` ${cell.bits} bits${level}`;
  const name = look.width === null ? hash : `${hash.slice(0, HASH_DIGITS)}…`;
  const taken = branch.length + type.length + 'x{}'.length + size.length + 1 + name.length;
  const room = look.width === null ? Number.POSITIVE_INFINITY : Math.max(LEAST_DATA, look.width - taken);
  const data = dataOf(cell);
  const shown = data.length <= room ? data : `${data.slice(0, room - 1)}…`;
  const text = painted(`x{${shown}}`, CYAN, look);
  return `${painted(branch, DIM, look)}${type}${text}${size} ${painted(name, DIM, look)}`;
}

function painted(text: string, colour: string, { hasColour }: TreeLook): string {
  return hasColour && text !== '' ? `${colour}${text}${END}` : text;
}

/** Whole digits of the data, `_` at the end when the last one is not. */
function dataOf(cell: Cell): string {
  const size = (cell.bits + 7) >> 3;
  const bytes = cell.bytes.slice(cell.dataOffset, cell.dataOffset + size);
  if ((cell.bits & 7) !== 0) bytes[size - 1]! &= 0xff << (8 - (cell.bits & 7));
  return new BitString(bytes, cell.bits).toString();
}
