import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** Files to write: text, or bytes. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

const source = vectorPath('mainnet-genesis');

/** Entries of the first ten blocks of mainnet, with their proofs. */
export const genesisEntries = [...readChain(source)];

export const genesisZerostates: Files = {
  'zerostate-mc.boc': readBytes(join(source, 'zerostate_mc_5E994FCF.boc')),
  'zerostate-basechain.boc': readBytes(join(source, 'zerostate_wc0_EE0BEDFE.boc')),
};

/** Calls with a new folder that has just these files; it is gone afterwards. */
export function inFolder<T>(files: Files, use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'tern-replay-'));
  const remove = (): void => rmSync(folder, { recursive: true });
  let result: T;
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    result = use(folder);
  } catch (error) {
    remove();
    throw error;
  }
  if (result instanceof Promise) return result.finally(remove) as T;
  remove();
  return result;
}
