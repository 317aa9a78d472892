/** The cells of a bag as columns of numbers; filled by the reader of bags of cells. */
export interface CellColumns {
  /** The bytes of the whole bag of cells; cells point into it, nothing is copied. */
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Byte at which the data of a cell starts. */
  readonly dataStart: Uint32Array;
  readonly bitLength: Uint16Array;
  /** Four slots per cell; a reference is the index of a later cell. */
  readonly refs: Uint32Array;
  readonly refCount: Uint8Array;
  readonly type: Uint8Array;
  readonly levelMask: Uint8Array;
  /** 1: the bag stores this cell's hashes and depths in front of its data. */
  readonly withHashes: Uint8Array;
}
