import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FuzzTarget } from './fuzz-target.js';

export interface FoundTarget {
  readonly file: string;
  readonly target: FuzzTarget;
}

/** Every target of the `*.fuzz.ts` files below `folder`, in a fixed order. */
export async function findTargets(folder: string): Promise<FoundTarget[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.fuzz.ts'));
  const found: FoundTarget[] = [];
  for (const file of files.sort().map((name) => join(folder, name))) {
    for (const target of await targetsOf(file)) found.push({ file, target });
  }
  return found;
}

export async function targetsOf(file: string): Promise<readonly FuzzTarget[]> {
  const module = (await import(pathToFileURL(file).href)) as {
    fuzzTarget?: FuzzTarget;
    fuzzTargets?: readonly FuzzTarget[];
  };
  return [...(module.fuzzTarget === undefined ? [] : [module.fuzzTarget]), ...(module.fuzzTargets ?? [])];
}
