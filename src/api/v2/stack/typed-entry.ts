import type { STACK_TYPE } from '#api/v2/stack/type-names.js';

type Names = typeof STACK_TYPE;

export interface VmNumber {
  '@type': Names['number'];
  /** Decimal. */
  number: string;
}
export interface VmCell {
  '@type': Names['cell'];
  /** Bag of cells in base64. */
  bytes: string;
}
export interface VmSlice {
  '@type': Names['slice'];
  /** Bag of cells in base64: a cell with what the slice has left. */
  bytes: string;
}
export interface VmTuple {
  '@type': Names['tuple'];
  elements: TypedEntry[];
}
export interface VmList {
  '@type': Names['list'];
  elements: TypedEntry[];
}

/** A value of a stack as `runGetMethodStd` has it, and as the items of tuples and lists everywhere. */
export type TypedEntry =
  | { '@type': Names['numberEntry']; number: VmNumber }
  | { '@type': Names['cellEntry']; cell: VmCell }
  | { '@type': Names['sliceEntry']; slice: VmSlice }
  | { '@type': Names['tupleEntry']; tuple: VmTuple }
  | { '@type': Names['listEntry']; list: VmList }
  | { '@type': Names['unsupportedEntry'] };

/** A cell written out as a tree. */
export interface LegacyCell {
  /** Data bits, padded with zeros to whole bytes, in base64; `len` counts the bits. */
  data: { b64: string; len: number };
  refs: LegacyCell[];
  /** Whether the cell is exotic. */
  special: boolean;
}

/** A value of a stack as `runGetMethod` answers it. */
export type LegacyEntry =
  | ['num', string]
  | ['cell', { bytes: string; object?: LegacyCell }]
  | ['tuple', VmTuple]
  | ['list', VmList]
  | ['unsupported', ''];
