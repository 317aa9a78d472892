import { tvmErrors } from '#drivers/tvm/errors.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** @throws tvm/bad-request when a proof leaves out parts of the cell */
export function bocOf(field: string, cell: Cell): Uint8Array {
  return serializeBoc(requireWhole(field, cell));
}

/** @throws tvm/bad-request when a proof leaves out parts of the cell */
export function requireWhole(field: string, cell: Cell): Cell {
  if (cell.levelMask === 0) return cell;
  throw tvmErrors['bad-request']({ field, found: 'a tree with parts left out', accepted: 'whole cells' });
}

/** @param root of a dictionary; null is the empty one @throws tvm/bad-request */
export function librariesBoc(root: Cell | null): Uint8Array | null {
  return root === null ? null : bocOf('libraries', root);
}

/** @throws tvm/bad-request */
export function uint32Of(field: string, value: number): number {
  if (value >>> 0 === value) return value;
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^32 - 1' });
}

/** @throws tvm/bad-request */
export function uint64Of(field: string, value: bigint): string {
  if (BigInt.asUintN(64, value) === value) return value.toString();
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^64 - 1' });
}

/** What the emulator takes without making it negative. @throws tvm/bad-request */
export function uint63Of(field: string, value: bigint): string {
  if (BigInt.asUintN(63, value) === value) return value.toString();
  throw tvmErrors['bad-request']({ field, found: String(value), accepted: 'a whole number from 0 to 2^63 - 1' });
}

/** Zeros when nothing is given. @throws tvm/bad-request */
export function randSeedOf(seed: Uint8Array | undefined): string {
  if (seed === undefined) return '0'.repeat(64);
  if (seed.length === 32) return toHex(seed);
  throw tvmErrors['bad-request']({ field: 'rand_seed', found: `${seed.length} bytes`, accepted: '32 bytes' });
}

/** How much a log says: executed instructions; where in the code they stand; gas left; the stack; the stack with cells. */
export const LOG_LEVELS = [
  'short',
  'full',
  'full_location',
  'full_location_gas',
  'full_location_stack',
  'full_location_stack_verbose',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
