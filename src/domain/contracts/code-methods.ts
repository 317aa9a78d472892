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

/** Longer keys have no place in a column of integers; compilers write 19 bits. */
const MAX_KEY_BITS = 31;
/** Cells that are visited: more than the largest contracts have, and few enough for any that is made to keep us busy. */
const MAX_VISITS = 8_192;

/**
 * The get methods of a code by their ids, rising, as unsigned numbers: 0 is the entry of internal messages, 524287 (-1 in 19
 * bits) that of external ones. The code is not run: it has to begin as compilers write it, with a jump into a constant
 * dictionary.
 *
 * @param code as a whole; of a library reference, the library
 * @returns null when it begins otherwise, or has more entries than any contract
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

/** The first bits of a key, at most 31. */
function numberOf(key: Uint8Array, bits: number): number {
  let number = 0;
  for (const byte of key) number = number * 256 + byte;
  return Math.floor(number / 2 ** (key.length * 8 - bits));
}

const INTERFACES_FILE = new URL('../../../data/contract-interfaces/contract-interfaces.json', import.meta.url);

/** By what contracts of a kind are known, by the name of the kind: names of get methods, hashes of code in hexadecimal. */
type InterfaceTableFile = Readonly<
  Record<string, { readonly methods?: readonly string[]; readonly codes?: readonly string[] }>
>;

interface InterfaceTable {
  /** By the hash of the code; null: several kinds have it, and it tells nothing. */
  readonly byCode: ReadonlyMap<string, readonly string[] | null>;
  /** By name, rising. */
  readonly byMethods: readonly { readonly name: string; readonly ids: readonly number[] }[];
}

let loadedTable: InterfaceTable | null = null;

/**
 * What kinds of contract a code is of, as the `interfaces` of API v3 are told: the one kind that its hash stands for, else all
 * whose get methods it has, by name.
 *
 * @param codeHash in lower-case hexadecimal
 * @param methods ids of the get methods of the code, of a library reference those of the library; null: not known
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
