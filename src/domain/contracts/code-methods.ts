import { readFileSync } from 'node:fs';
import type { Cell } from '#formats/cells/cell.js';
import { DictWalk } from '#formats/cells/dict-read.js';
import { openCell } from '#formats/cells/slice.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/tern-error.js';

/** `SETCP0` */
const SETCP0 = 0xff00;
/** `DICTPUSHCONST`, then a bit, the length of keys in 10 bits, and a reference to the dictionary. */
const DICTPUSHCONST = 0b1111_0100_1010_0;

/** Longer keys do not fit a column of integers; compilers write 19 bits. */
const MAX_KEY_BITS = 31;
/** Maximal number of visited cells: more than the largest contracts need, and a bound for hostile ones. */
const MAX_VISITS = 8_192;

/**
 * Method ids of a code, ascending and unsigned: 0 is `recv_internal`, 524287 (-1 in 19 bits) `recv_external`. The code is not run: it
 * must start as compilers write it, with a jump into a constant dictionary.
 *
 * @param code the whole code; for a library reference, the library
 * @returns null if it starts otherwise, or has too many entries
 */
export function codeMethods(code: Cell): readonly number[] | null {
  try {
    const slice = openCell(code);
    if (slice.loadUint(16) !== SETCP0 || slice.loadUint(13) !== DICTPUSHCONST) return null;
    slice.skip(1);
    const keyBits = slice.loadUint(10);
    if (keyBits === 0 || keyBits > MAX_KEY_BITS) return null;
    const walk = new DictWalk(slice.loadRef(), keyBits, { limit: MAX_VISITS });
    const ids: number[] = [];
    while (walk.next()) ids.push(numberOf(walk.key, keyBits));
    return ids;
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** The leading bits of a key, at most 31, as a number. */
function numberOf(key: Uint8Array, bits: number): number {
  let number = 0;
  for (const byte of key) number = number * 256 + byte;
  return Math.floor(number / 2 ** (key.length * 8 - bits));
}

const INTERFACES_FILE = new URL('../../../data/contract-interfaces/contract-interfaces.json', import.meta.url);

/** By interface name: the get-methods that its contracts have, and their code hashes in hexadecimal. */
type InterfaceTableFile = Readonly<
  Record<string, { readonly methods?: readonly string[]; readonly codes?: readonly string[] }>
>;

interface InterfaceTable {
  /** By code hash; null: several interfaces have it, so it is ambiguous. */
  readonly byCode: ReadonlyMap<string, readonly string[] | null>;
  /** Sorted by name. */
  readonly byMethods: readonly { readonly name: string; readonly ids: readonly number[] }[];
}

let loadedTable: InterfaceTable | null = null;

/**
 * Names of the interfaces of a code, as in `interfaces` of API v3: the one that its hash stands for, else all whose get-methods it
 * has, sorted. They are more than the interfaces of `interface-registry.ts`, which have a table in the index.
 *
 * @param codeHash in lower-case hexadecimal
 * @param methods method ids of the code, for a library reference those of the library; null: unknown
 */
export function interfaceNamesOf(codeHash: string, methods: readonly number[] | null): readonly string[] {
  loadedTable ??= loadInterfaceTable(JSON.parse(readFileSync(INTERFACES_FILE, 'utf8')));
  const known = loadedTable.byCode.get(codeHash);
  if (known != null) return known;
  if (methods === null) return [];
  const has = new Set(methods);
  return loadedTable.byMethods.filter(({ ids }) => ids.every((id) => has.has(id))).map(({ name }) => name);
}

function loadInterfaceTable(file: InterfaceTableFile): InterfaceTable {
  const byCode = new Map<string, readonly string[] | null>();
  const byMethods: { name: string; ids: number[] }[] = [];
  for (const name of Object.keys(file).sort()) {
    const { methods = [], codes = [] } = file[name]!;
    for (const code of codes) byCode.set(code, byCode.has(code) ? null : [name]);
    if (methods.length > 0) byMethods.push({ name, ids: methods.map(methodIdOf) });
  }
  return { byCode, byMethods };
}
