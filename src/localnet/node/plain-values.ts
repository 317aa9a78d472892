import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Cell } from '#formats/cells/cell.js';
import { wholeCell } from '#formats/cells/whole-cell.js';

/** What stands for a value whose class would be lost between threads. */
interface Marked {
  readonly $cell?: Uint8Array;
  readonly $address?: { readonly workchain: number; readonly hash: Uint8Array };
}

/** A copy that goes to another thread: cells and addresses in it are made plain, all else is so already. */
export function toPlainValue(value: unknown): unknown {
  if (value instanceof Cell) return { $cell: serializeBoc(value) };
  if (value instanceof Address) return { $address: { workchain: value.workchain, hash: value.hash } };
  return mapped(value, toPlainValue);
}

/** The inverse of {@link toPlainValue}. */
export function fromPlainValue(value: unknown): unknown {
  if (isPlainObject(value)) {
    const { $cell, $address } = value as Marked;
    if ($cell !== undefined) return wholeCell($cell);
    if ($address !== undefined) return Address.ofParts($address.workchain, $address.hash);
  }
  return mapped(value, fromPlainValue);
}

function mapped(value: unknown, map: (each: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each)]));
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
