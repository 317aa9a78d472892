import type { Cell } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { PARAMS, TYPES } from '../chain/config-layouts.js';
import { hashmapEntries } from '../chain/hashmap.js';

/** A field of a parameter as it is shown. */
export type ConfigField = { readonly name: string } & (
  | { readonly kind: 'number' | 'coins' | 'time' | 'seconds'; readonly value: bigint }
  | { readonly kind: 'flag'; readonly value: boolean }
  /** Hex. */
  | { readonly kind: 'hash'; readonly value: string }
  /** Raw. */
  | { readonly kind: 'account'; readonly value: string }
  /** Raw addresses, or numbers. */
  | { readonly kind: 'accounts' | 'numbers'; readonly value: readonly string[] }
  | { readonly kind: 'none'; readonly value: null }
);

/** A parameter of the configuration. */
export interface ConfigParam {
  readonly number: number;
  readonly title: string;
  /** Null: its layout is not known here, only its cell. */
  readonly fields: readonly ConfigField[] | null;
  readonly cell: Cell;
}

/** All parameters of a configuration. @param root the `Hashmap 32 ^Cell` that `getConfigAll` of API v2 answers with */
export function configParams(root: Cell): ConfigParam[] {
  return hashmapEntries(openCell(root), 32)
    .map(({ key, value }) => {
      const number = Number(BigInt.asIntN(32, key));
      const cell = value.loadRef();
      const { title = '', type, name = '' } = PARAMS[number] ?? {};
      return { number, title, cell, fields: type === undefined ? null : fieldsOf(type, name, cell) };
    })
    .sort((a, b) => a.number - b.number);
}

/** Null when the cell has another layout. */
function fieldsOf(type: string, name: string, cell: Cell): ConfigField[] | null {
  try {
    const slice = openCell(cell);
    const fields = readFields(type, name, slice);
    slice.end();
    return fields;
  } catch {
    return null;
  }
}

/** Reads a value of any type. What is in it has the name of the whole before its own. */
function readFields(type: string, name: string, slice: Slice): ConfigField[] {
  if (type.startsWith('?')) {
    return slice.loadBit() ? readFields(type.slice(1), name, slice) : [{ name, kind: 'none', value: null }];
  }
  if (type.startsWith('^')) {
    const inner = openCell(slice.loadRef());
    const fields = readFields(type.slice(1), name, inner);
    inner.end();
    return fields;
  }
  if (type.startsWith('Hashmap')) return readDictionary(type, name, slice);
  const lines = TYPES[type];
  if (lines === undefined) return [readField(name, type, slice)];
  return readConstructor(lines, slice).map((field) => ({ ...field, name: named(name, field.name) }));
}

const named = (outer: string, inner: string) => (outer === '' ? inner : inner === '' ? outer : `${outer}: ${inner}`);

/** Reads the constructor whose tag fits. */
function readConstructor(lines: readonly string[], slice: Slice): ConfigField[] {
  for (const line of lines) {
    const [head = '', ...fields] = line.split(' ');
    const tag = /#([0-9a-f]+)$/.exec(head)?.[1];
    if (tag !== undefined && slice.preloadUint(tag.length * 4) !== Number.parseInt(tag, 16)) continue;
    if (tag !== undefined) slice.skip(tag.length * 4);
    return fields.flatMap((field) => {
      const [name = '', type = ''] = field.split(':');
      return readFields(type, name === '_' ? '' : name.replaceAll('_', ' '), slice);
    });
  }
  throw new TypeError('no constructor has this tag');
}

/** `Hashmap/BITS/KEY/VALUE`, which is in the slice itself, or `HashmapE/…`, which is in a reference. */
function readDictionary(type: string, name: string, slice: Slice): ConfigField[] {
  const [form, bits = '', keys = '', value = ''] = type.split('/');
  const root = form === 'Hashmap' ? slice : slice.loadBit() ? openCell(slice.loadRef()) : null;
  const entries = root === null ? [] : hashmapEntries(root, Number(bits));
  if (value === 'count') {
    // The value of the only entry is in the slice.
    if (form === 'Hashmap') slice.skip(slice.remainingBits);
    return [{ name, kind: 'number', value: BigInt(entries.length) }];
  }
  const texts = entries.map(({ key }) => keyText(keys, key));
  if (value === 'True') return [{ name, kind: keys === 'int' ? 'numbers' : 'accounts', value: texts }];
  return entries.flatMap((entry, index) => readFields(value, `${name} ${texts[index]}`, entry.value));
}

function keyText(kind: string, key: bigint): string {
  const hex = (value: bigint) => value.toString(16).padStart(64, '0');
  switch (kind) {
    case 'int':
      return BigInt.asIntN(32, key).toString();
    case 'hash':
      return hex(key);
    case 'account':
      return `-1:${hex(key).toUpperCase()}`;
    case 'address':
      return `${BigInt.asIntN(32, key >> 256n)}:${hex(BigInt.asUintN(256, key)).toUpperCase()}`;
    default:
      return key.toString();
  }
}

function readField(name: string, type: string, slice: Slice): ConfigField {
  switch (type) {
    case 'Grams':
      return { name, kind: 'coins', value: loadVarUint(slice, 4) };
    case 'VarUInteger32':
      return { name, kind: 'number', value: loadVarUint(slice, 5) };
    case 'Bool':
      return { name, kind: 'flag', value: slice.loadBit() };
    case 'seconds':
    case 'time':
      return { name, kind: type, value: slice.loadUintBig(32) };
    case 'hash':
      return { name, kind: 'hash', value: toHex(slice.loadBytes(32)) };
    case 'account':
      return { name, kind: 'account', value: `-1:${toHex(slice.loadBytes(32)).toUpperCase()}` };
    case 'int32':
      return { name, kind: 'number', value: BigInt.asIntN(32, slice.loadUintBig(32)) };
    default:
      return { name, kind: 'number', value: slice.loadUintBig(Number(type.replace('uint', ''))) };
  }
}

/** @param lengthBits of the number of bytes */
function loadVarUint(slice: Slice, lengthBits: number): bigint {
  const bytes = slice.loadUint(lengthBits);
  return bytes === 0 ? 0n : slice.loadUintBig(bytes * 8);
}

interface Validator {
  readonly index: number;
  /** Hex. */
  readonly publicKey: string;
  readonly weight: bigint;
  /** Hex; null in the older constructor. */
  readonly adnl: string | null;
}

export interface ValidatorSet {
  /** Unix seconds. */
  readonly since: number;
  readonly until: number;
  /** How many of them validate the masterchain. */
  readonly main: number;
  readonly validators: readonly Validator[];
  readonly totalWeight: bigint;
}

/**
 * A set of validators: parameters 32, 34 and 36.
 * `validators_ext#12 utime_since utime_until total:(## 16) main:(## 16) total_weight:uint64 list:(HashmapE 16 ValidatorDescr)`,
 * or `validators#11` without the weight and with a `Hashmap`.
 */
export function validatorSet(cell: Cell): ValidatorSet {
  const slice = openCell(cell);
  const isExtended = slice.loadUint(8) === 0x12;
  const since = slice.loadUint(32);
  const until = slice.loadUint(32);
  slice.skip(16);
  const main = slice.loadUint(16);
  if (isExtended) slice.skip(64);
  const root = !isExtended ? slice : slice.loadBit() ? openCell(slice.loadRef()) : null;
  const validators = (root === null ? [] : hashmapEntries(root, 16)).map(({ key, value }) => {
    // validator#53, validator_addr#73; public_key: ed25519_pubkey#8e81278a
    const hasAdnl = value.loadUint(8) === 0x73;
    value.skip(32);
    const publicKey = toHex(value.loadBytes(32));
    const weight = value.loadUintBig(64);
    return { index: Number(key), publicKey, weight, adnl: hasAdnl ? toHex(value.loadBytes(32)) : null };
  });
  const totalWeight = validators.reduce((sum, { weight }) => sum + weight, 0n);
  return { since, until, main, validators, totalWeight };
}
