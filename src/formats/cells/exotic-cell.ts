import { CellType, popcount3 } from '#formats/cells/cell.js';

/** What is needed to check an exotic cell and to know its level mask. */
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
 * Checks the shape of an exotic cell and gives its level mask, or a sentence about what is wrong with it.
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
