import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FuzzTarget } from './fuzz-target.js';

export interface FoundTarget {
  readonly file: string;
  readonly target: FuzzTarget;
}

/** Every target of the `*.fuzz.ts` files below `folder`, in a fixed order. @throws Error where two have one name */
export async function findTargets(folder: string): Promise<FoundTarget[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.fuzz.ts'));
  const found: FoundTarget[] = [];
  for (const file of files.sort().map((name) => join(folder, name))) {
    for (const target of await targetsOf(file)) found.push({ file, target });
  }
  refuseSameNames(found);
  return found;
}

/** `--target` and the inputs of a seed go by the name. */
function refuseSameNames(found: readonly FoundTarget[]): void {
  const files = new Map<string, string>();
  for (const { file, target } of found) {
    const other = files.get(target.name);
    if (other !== undefined) throw new Error(`two targets are named "${target.name}", in ${other} and in ${file}`);
    files.set(target.name, file);
  }
}

export async function targetsOf(file: string): Promise<readonly FuzzTarget[]> {
  const module = (await import(pathToFileURL(file).href)) as {
    fuzzTarget?: FuzzTarget;
    fuzzTargets?: readonly FuzzTarget[];
  };
  return [...(module.fuzzTarget === undefined ? [] : [module.fuzzTarget]), ...(module.fuzzTargets ?? [])];
}
