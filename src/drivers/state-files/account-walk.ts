import { stateFilesErrors } from '#drivers/state-files/errors.js';
import type { StateCells } from '#drivers/state-files/state-cells.js';
import { bitAt, DictLabel, putBit } from '#formats/cells/dict-label.js';

const KEY_BITS = 256;
/** Place of a cell that is the root of a state file: its `ShardStateUnsplit`, or the `ShardAccounts` of a part. */
const ROOT = 0;
/** `out_msg_queue_info:^OutMsgQueueInfo before_split:(## 1) accounts:^ShardAccounts` */
const ACCOUNTS_REF = 1;

/** The root of the dictionary of accounts of a file; null: it is empty. @param isPart whether the file has `ShardAccounts` only */
export function accountsRoot(cells: StateCells, isPart: boolean): number | null {
  const holder = isPart ? ROOT : cells.open(ROOT).refs[ACCOUNTS_REF]!;
  // ahme_empty$0 / ahme_root$1 root:^(HashmapAug n X Y)
  const cell = cells.open(holder);
  return bitAt(cells.bytes, cell.dataStart * 8) === 0 ? null : cell.refs[0]!;
}

interface OpenNode {
  readonly index: number;
  /** Key bits above the node; the last one is `bit`. */
  readonly depth: number;
  readonly bit: number;
}

/** The accounts of a file in the order of their ids: `HashmapAugE 256 ShardAccount DepthBalanceInfo`. */
export class AccountWalk {
  readonly #cells: StateCells;
  readonly #label = new DictLabel();
  readonly #after: Uint8Array | null;
  readonly #open: OpenNode[] = [];
  /** Id of the account; overwritten by {@link next}. */
  readonly id = new Uint8Array(32);
  /** Index of its leaf in the file. */
  leaf = 0;
  /** Bits of the leaf before its `DepthBalanceInfo`. */
  labelBits = 0;

  /** @param root of {@link accountsRoot} @param after begins with the account behind this id */
  constructor(cells: StateCells, root: number | null, after: Uint8Array | null) {
    this.#cells = cells;
    this.#after = after;
    if (root !== null) this.#open.push({ index: root, depth: 0, bit: 0 });
  }

  /** Moves to the next account; false: there is none. @throws state-files/damaged */
  next(): boolean {
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) {
      const { index, depth, bit } = node;
      if (depth > 0) putBit(this.id, depth - 1, bit);
      const cell = this.#cells.open(index);
      const below = readLabel(this.#cells, this.#label, cell, index, depth);
      this.#label.copyTo(this.id, depth);
      if (this.#isBefore(below)) continue;
      if (below === KEY_BITS) {
        this.leaf = index;
        this.labelBits = this.#label.end - cell.dataStart * 8;
        return true;
      }
      this.#open.push({ index: cell.refs[1]!, depth: below + 1, bit: 1 });
      this.#open.push({ index: cell.refs[0]!, depth: below + 1, bit: 0 });
    }
    return false;
  }

  /** Whether all ids that begin with the first bits of the current one are up to `after`. */
  #isBefore(bits: number): boolean {
    const after = this.#after;
    if (after === null) return false;
    const whole = bits >> 3;
    for (let i = 0; i < whole; i++) {
      const difference = this.id[i]! - after[i]!;
      if (difference !== 0) return difference < 0;
    }
    if (bits === KEY_BITS) return true;
    const mask = 0xff00 >> (bits & 7);
    return (this.id[whole]! & mask & 0xff) < (after[whole]! & mask & 0xff);
  }
}

/** An account of a file: its leaf, and the bits before its `DepthBalanceInfo`. */
export interface AccountLeaf {
  readonly leaf: number;
  readonly labelBits: number;
}

/** Finds one account; null: there is none of this id. @throws state-files/damaged */
export function findAccountLeaf(cells: StateCells, root: number | null, id: Uint8Array): AccountLeaf | null {
  const label = new DictLabel();
  let depth = 0;
  for (let index = root; index !== null; ) {
    const cell = cells.open(index);
    const below = readLabel(cells, label, cell, index, depth);
    if (label.matches(id, depth) < label.length) return null;
    if (below === KEY_BITS) return { leaf: index, labelBits: label.end - cell.dataStart * 8 };
    index = cell.refs[bitAt(id, below)]!;
    depth = below + 1;
  }
  return null;
}

/** Reads the label of a node; returns the key bits below it. */
function readLabel(
  cells: StateCells,
  label: DictLabel,
  cell: ReturnType<StateCells['open']>,
  index: number,
  depth: number,
): number {
  const start = cell.dataStart * 8;
  label.read(cells.bytes, start, start + cell.bits, KEY_BITS - depth);
  const below = depth + label.length;
  if (cell.isExotic || cell.refCount < (below === KEY_BITS ? 1 : 2)) {
    const problem = `cell ${index} is no node of the dictionary of accounts`;
    throw stateFilesErrors.damaged({ file: cells.file.source.name, offset: 0, problem });
  }
  return below;
}
