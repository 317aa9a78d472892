/**
 * Cell types; the number of an exotic type is the first data byte.
 * A pruned branch replaces a cell that a proof omits, a library reference names a cell by its hash,
 * a Merkle proof holds a tree with pruned parts, a Merkle update holds two of them (old and new).
 */
export const CellType = {
  ordinary: 0,
  prunedBranch: 1,
  libraryReference: 2,
  merkleProof: 3,
  merkleUpdate: 4,
} as const;
export type CellType = (typeof CellType)[keyof typeof CellType];

/** Maximum data bits, references and depth of a cell. */
export const MAX_BITS = 1023;
export const MAX_REFS = 4;
export const MAX_DEPTH = 1024;

/**
 * A cell: up to 1023 bits and four references to other cells; immutable.
 *
 * It has a hash and a depth for each level (0..3). The *representation hash* (`hash()`) identifies the cell as it is.
 * `hash(0)` sees through pruned branches: in a Merkle proof it is the hash of the whole, unpruned cell.
 * For cells of level 0, such as all cells outside proofs and updates, both are the same.
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
  /** Length of the longest path of references below, at that level. */
  abstract depth(level?: number): number;

  get level(): number {
    return 32 - Math.clz32(this.levelMask);
  }

  /** Called when reading of the content starts; cells that record their use override it. */
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

/** The properties of an exotic cell that determine its validity and level mask. */
export interface ExoticShape {
  /** First data byte. */
  readonly tag: number;
  readonly bits: number;
  readonly refCount: number;
  /** Second data byte: the level mask of a pruned branch. */
  readonly second: number;
  /** OR of the children's level masks. */
  readonly childMask: number;
}

/**
 * Checks the layout of an exotic cell and returns its level mask, or a description of the problem.
 *
 * Layouts: pruned branch `01 mask hash*32 depth*2`, library reference `02 hash`, Merkle proof `03 hash depth` and one
 * reference, Merkle update `04 hash hash depth depth` and two references.
 */
export function exoticLevelMask(shape: ExoticShape): number | string {
  const { tag, bits, refCount, second, childMask } = shape;
  if (bits < 8) return 'an exotic cell needs a type byte';
  switch (tag) {
    case CellType.prunedBranch:
      if (refCount !== 0) return 'a pruned branch has no references';
      if (bits < 16) return 'a pruned branch needs a level mask';
      if (second < 1 || second > 7) return `a pruned branch has a level mask of 1 to 7, not ${second}`;
      if (bits !== 16 + popcount3(second) * 272)
        return `a pruned branch with mask ${second} has ${16 + popcount3(second) * 272} bits, not ${bits}`;
      return second;
    case CellType.libraryReference:
      if (bits !== 264 || refCount !== 0)
        return `a library reference has 264 bits and no reference, not ${bits} and ${refCount}`;
      return 0;
    case CellType.merkleProof:
      if (bits !== 280 || refCount !== 1)
        return `a Merkle proof has 280 bits and 1 reference, not ${bits} and ${refCount}`;
      return childMask >> 1;
    case CellType.merkleUpdate:
      if (bits !== 552 || refCount !== 2)
        return `a Merkle update has 552 bits and 2 references, not ${bits} and ${refCount}`;
      return childMask >> 1;
    default:
      return `type byte ${tag} is not one of 1 to 4`;
  }
}
