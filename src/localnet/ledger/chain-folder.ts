import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { toHex } from '#kernel/bytes/bytes.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { listFolder, makeFolder, moveTo, readFileIfAny, removeAll, writeWhole } from '#localnet/ledger/ledger-files.js';

/** One chain: its folder, and a name that no other chain has. */
export interface ChainFolder {
  /** 16 hex digits. */
  readonly incarnation: string;
  readonly path: string;
}

const CHAINS = 'chains';
const DRAFT = '.draft';

/**
 * The chain in a folder, `null` when there is none. Its files are in `chains/INCARNATION`; which chain it is, the file
 * `current` says. So one chain takes the place of another by the writing of that file.
 *
 * @throws ledger/damaged, ledger/missing-file, ledger/unreadable
 */
export function currentChain(folder: string): ChainFolder | null {
  const file = join(folder, 'current');
  const bytes = readFileIfAny(file);
  const names = listFolder(join(folder, CHAINS));
  if (bytes === null) {
    const other = names.find((name) => /^[0-9a-f]{16}$/.test(name));
    if (other === undefined) return null;
    throw ledgerErrors['missing-file']({ file, needed: `it says which chain is used; there is ${other}` });
  }
  const incarnation = new TextDecoder().decode(bytes).trim();
  if (!/^[0-9a-f]{16}$/.test(incarnation)) {
    throw ledgerErrors.damaged({ file, offset: 0, problem: 'it has no name of a chain' });
  }
  const path = join(folder, CHAINS, incarnation);
  // Killed after it was made the current one.
  if (!names.includes(incarnation) && names.includes(incarnation + DRAFT)) moveTo(path + DRAFT, path);
  else if (!names.includes(incarnation)) {
    throw ledgerErrors['missing-file']({ file: path, needed: 'it has the blocks of the chain' });
  }
  return { incarnation, path };
}

/**
 * Makes a new chain the one of the folder; those that were there are removed.
 *
 * @param fill writes its files into a folder
 * @throws ledger/unwritable, and what `fill` throws: then the folder is as it was before
 */
export function replaceChain(folder: string, fill: (path: string) => void): ChainFolder {
  const incarnation = toHex(randomBytes(8));
  const path = join(folder, CHAINS, incarnation);
  makeFolder(path + DRAFT);
  try {
    fill(path + DRAFT);
    writeWhole(join(folder, 'current'), `${incarnation}\n`);
  } catch (error) {
    removeAll(path + DRAFT);
    throw error;
  }
  moveTo(path + DRAFT, path);
  removeOtherChains(folder, incarnation);
  return { incarnation, path };
}

/** Removes the chain of a folder, if there is one; also a damaged one. @throws ledger/unwritable */
export function removeChain(folder: string): void {
  const chains = join(folder, CHAINS);
  for (const name of listFolder(chains)) {
    if (/^[0-9a-f]{16}$/.test(name)) moveTo(join(chains, name), join(chains, name + DRAFT));
  }
  removeAll(join(folder, 'current'));
  removeOtherChains(folder, '');
}

/** Removes chains that were replaced, or were not made to the end. @throws ledger/unwritable */
export function removeOtherChains(folder: string, incarnation: string): void {
  for (const name of listFolder(join(folder, CHAINS))) {
    if (isChainName(name) && name !== incarnation) removeAll(join(folder, CHAINS, name));
  }
}

function isChainName(name: string): boolean {
  return /^[0-9a-f]{16}(\.draft)?$/.test(name);
}
