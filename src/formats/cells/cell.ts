/**
 * Kinds of cells; the number of an exotic one is its first data byte.
 * A pruned branch stands for a cell that a proof leaves out, a library reference for a cell by its hash,
 * a Merkle proof for a tree with pruned parts, a Merkle update for two of them (old and new).
 */
export const CellType = {
  ordinary: 0,
  prunedBranch: 1,
  libraryReference: 2,
  merkleProof: 3,
  merkleUpdate: 4,
} as const;
export type CellType = (typeof CellType)[keyof typeof CellType];

/** Most bits of data, references, and depth that a cell may have. */
export const MAX_BITS = 1023;
export const MAX_REFS = 4;
export const MAX_DEPTH = 1024;

/**
 * A cell: up to 1023 bits and four references to other cells; immutable.
 *
 * It has a hash and a depth for each of its levels (0..3). The *representation hash* (`hash()`) identifies the cell as it is.
 * `hash(0)` looks through pruned branches: in a Merkle proof it is the hash that the whole, unpruned cell has.
 * For a cell of level 0, which all cells outside of proofs and updates are, the two are the same.
 */
export abstract class Cell {
  abstract readonly type: CellType;
  /** Length of the data in bits. */
  abstract readonly bits: number;
  abstract readonly refCount: number;
  /** Bit i set: the hash of level i+1 differs from that of level i (pruned branches below make it so). */
  abstract readonly levelMask: number;
  /**
   * Bytes that hold the data from byte {@link dataOffset} on, most significant bit first. Data that does not end at a
   * byte is padded there with a 1 bit and zeros, for every kind of cell.
   */
  abstract readonly bytes: Uint8Array;
  abstract readonly dataOffset: number;

  /** The reference at `index`, which must be below `refCount`. */
  abstract ref(index: number): Cell;
  /** 32 bytes; a view that must not be written to. The default is the representation hash. */
  abstract hash(level?: number): Uint8Array;
  /** Longest path of references below, as counted by that level's hash. */
  abstract depth(level?: number): number;

  get level(): number {
    return 32 - Math.clz32(this.levelMask);
  }

  /** Called when somebody starts to read the content; cells that record their use override it. */
  touch(): void {}
}

/** Number of set bits of a level mask (0..7). */
export function popcount3(mask: number): number {
  return (0x32212110 >>> (mask << 2)) & 0xf;
}

/** Index of a level's hash among the distinct hashes of a cell with this mask. */
export function hashIndex(levelMask: number, level: number): number {
  return levelMask === 0 ? 0 : popcount3(levelMask & ((1 << level) - 1));
}

const TYPE_NAMES = [
  'an ordinary cell',
  'a pruned branch',
  'a library reference',
  'a Merkle proof',
  'a Merkle update',
] as const;

/** For error messages: `a pruned branch`. */
export function cellTypeName(type: CellType): string {
  return TYPE_NAMES[type];
}
