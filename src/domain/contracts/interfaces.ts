import { readFileSync } from 'node:fs';
import { methodIdOf } from '#formats/tlb/method-id.js';

const FILE = new URL('../../../data/contract-interfaces/contract-interfaces.json', import.meta.url);

/** By what contracts of a kind are known, by the name of the kind: names of get methods, hashes of code in hexadecimal. */
type InterfaceFile = Readonly<
  Record<string, { readonly methods?: readonly string[]; readonly codes?: readonly string[] }>
>;

interface Interfaces {
  /** By the hash of the code; null: several kinds have it, and it tells nothing. */
  readonly byCode: ReadonlyMap<string, readonly string[] | null>;
  /** By name, rising. */
  readonly byMethods: readonly { readonly name: string; readonly ids: readonly number[] }[];
}

let loaded: Interfaces | null = null;

/**
 * What kinds of contract a code is of, as the `interfaces` of API v3 are told: the one kind that its hash stands for, else all
 * whose get methods it has, by name.
 *
 * @param codeHash in lower-case hexadecimal
 * @param methods ids of the get methods of the code, of a library reference those of the library; null: not known
 */
export function interfacesOf(codeHash: string, methods: readonly number[] | null): readonly string[] {
  loaded ??= load(JSON.parse(readFileSync(FILE, 'utf8')));
  const known = loaded.byCode.get(codeHash);
  if (known != null) return known;
  if (methods === null) return [];
  const has = new Set(methods);
  return loaded.byMethods.filter(({ ids }) => ids.every((id) => has.has(id))).map(({ name }) => name);
}

function load(file: InterfaceFile): Interfaces {
  const byCode = new Map<string, readonly string[] | null>();
  const byMethods: { name: string; ids: number[] }[] = [];
  for (const name of Object.keys(file).sort()) {
    const { methods = [], codes = [] } = file[name]!;
    for (const code of codes) byCode.set(code, byCode.has(code) ? null : [name]);
    if (methods.length > 0) byMethods.push({ name, ids: methods.map(methodIdOf) });
  }
  return { byCode, byMethods };
}
