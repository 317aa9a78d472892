import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import type { BlockId } from '#formats/proofs/block-id.js';
import { shardHex } from '#formats/tlb/block-id.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import {
  ensureFolder,
  linkOrCopy,
  listFolder,
  lockFolder,
  moveTo,
  readFileIfAny,
  removeAll,
  writeWhole,
} from '#localnet/ledger/ledger-files.js';

/** A saved chain that can be restored. */
export interface ChainSnapshot {
  readonly name: string;
  readonly head: BlockId;
  /** Unix seconds, machine time. */
  readonly saved_at: number;
}

/** The files of a chain; none of them will be written to again. */
export interface ChainFiles {
  /** Files in the folder of the chain. */
  readonly files: readonly string[];
  /** Files in its folder `states`. */
  readonly states: readonly string[];
}

const SNAPSHOT_FILE = 'snapshot.json';
const STATES = 'states';
/** Prefix, invalid in snapshot names, of snapshots that are being written or deleted. */
const SNAPSHOT_DRAFT = '.';

/** Whether a folder has a chain. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
export function hasChain(folder: string): boolean {
  return currentChain(folder) !== null;
}

/** Removes the chain in a folder, even a damaged one; snapshots stay. @throws ledger/in-use, ledger/unwritable */
export function resetChain(folder: string): void {
  whileLocked(folder, () => removeChain(folder));
}

/**
 * Replaces the chain by a snapshot, as a chain of its own with a new incarnation. The files of the chain before stay until
 * the new one has been opened: see {@link returnToChain}.
 * @throws ledger/no-snapshot, ledger/bad-snapshot-name, ledger/in-use, ledger/unwritable
 */
export function restoreSnapshot(folder: string, name: string): void {
  whileLocked(folder, () => {
    requireSnapshot(folder, name);
    const from = pathOf(folder, name);
    replaceChain(folder, (to) => {
      for (const file of listFolder(from)) {
        if (file !== STATES && file !== SNAPSHOT_FILE) linkOrCopy(join(from, file), join(to, file));
      }
      ensureFolder(join(to, STATES));
      for (const file of listFolder(join(from, STATES))) linkOrCopy(join(from, STATES, file), join(to, STATES, file));
    });
  });
}

/**
 * Replaces the chain by a snapshot and starts it. When that fails, the folder has the chain that it had before, or none.
 * @throws as {@link restoreSnapshot}, and what `start` throws
 */
export async function startFromSnapshot<T>(folder: string, name: string, start: () => Promise<T>): Promise<T> {
  const before = readFileIfAny(join(folder, 'current'));
  restoreSnapshot(folder, name);
  try {
    return await start();
  } catch (error) {
    if (before === null) resetChain(folder);
    else returnToChain(folder, new TextDecoder().decode(before).trim());
    throw error;
  }
}

/** @throws ledger/no-snapshot, ledger/bad-snapshot-name, ledger/damaged */
export function requireSnapshot(folder: string, name: string): ChainSnapshot {
  checkName(name);
  const file = join(pathOf(folder, name), SNAPSHOT_FILE);
  const bytes = readFileIfAny(file);
  if (bytes === null) throw ledgerErrors['no-snapshot']({ name });
  return parseSnapshot(file, name, bytes);
}

/** All snapshots of a folder, sorted by name. @throws ledger/damaged, ledger/unreadable */
export function listSnapshots(folder: string): readonly ChainSnapshot[] {
  const names = listFolder(join(folder, 'snapshots')).filter((name) => !name.startsWith(SNAPSHOT_DRAFT));
  return names.map((name) => requireSnapshot(folder, name));
}

/**
 * Saves a snapshot atomically: hard links where the file system supports them, copies elsewhere.
 * @throws ledger/snapshot-exists, ledger/bad-snapshot-name, ledger/unwritable
 */
export function writeSnapshot(folder: string, { name, head, saved_at }: ChainSnapshot, chain: ChainFiles): void {
  requireFreeName(folder, name);
  const path = pathOf(folder, name);
  const draft = pathOf(folder, SNAPSHOT_DRAFT + name);
  removeAll(draft);
  ensureFolder(join(draft, STATES));
  for (const file of chain.files) linkOrCopy(file, join(draft, basename(file)));
  for (const file of chain.states) linkOrCopy(file, join(draft, STATES, basename(file)));
  const { workchain, shard, seqno, root_hash, file_hash } = head;
  const id = { workchain, shard: shardHex(shard), seqno, root_hash: toHex(root_hash), file_hash: toHex(file_hash) };
  writeWhole(join(draft, SNAPSHOT_FILE), `${JSON.stringify({ head: id, saved_at }, null, 2)}\n`);
  moveTo(draft, path);
}

/** @throws ledger/snapshot-exists, ledger/bad-snapshot-name */
export function requireFreeName(folder: string, name: string): void {
  checkName(name);
  const taken = listFolder(join(folder, 'snapshots')).some((each) => each.toLowerCase() === name.toLowerCase());
  if (taken) throw ledgerErrors['snapshot-exists']({ name });
}

/** @throws ledger/no-snapshot, ledger/bad-snapshot-name, ledger/unwritable */
export function deleteSnapshot(folder: string, name: string): void {
  checkName(name);
  if (!listFolder(join(folder, 'snapshots')).includes(name)) throw ledgerErrors['no-snapshot']({ name });
  const draft = pathOf(folder, SNAPSHOT_DRAFT + name);
  removeAll(draft);
  moveTo(pathOf(folder, name), draft);
  removeAll(draft);
}

/** Removes incomplete snapshots. @throws ledger/unwritable */
export function removeSnapshotDrafts(folder: string): void {
  for (const name of listFolder(join(folder, 'snapshots')))
    if (name.startsWith(SNAPSHOT_DRAFT)) removeAll(pathOf(folder, name));
}

function whileLocked(folder: string, change: () => void): void {
  const unlock = lockFolder(folder);
  try {
    change();
  } finally {
    unlock();
  }
}

function pathOf(folder: string, name: string): string {
  return join(folder, 'snapshots', name);
}

/** @throws ledger/bad-snapshot-name */
function checkName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) throw ledgerErrors['bad-snapshot-name']({ name });
}

function parseSnapshot(file: string, name: string, bytes: Uint8Array): ChainSnapshot {
  try {
    const { head, saved_at } = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly head: Readonly<Record<'shard' | 'root_hash' | 'file_hash', string>> & {
        readonly workchain: number;
        readonly seqno: number;
      };
      readonly saved_at: number;
    };
    const { workchain, seqno } = head;
    const [root_hash, file_hash] = [fromHex(head.root_hash)!, fromHex(head.file_hash)!];
    return { name, head: { workchain, shard: BigInt(`0x${head.shard}`), seqno, root_hash, file_hash }, saved_at };
  } catch (error) {
    throw ledgerErrors.damaged({ file, offset: 0, problem: `it does not name a block (${String(error)})` }, error);
  }
}

/** A chain with its folder and its unique name. */
export interface ChainFolder {
  /** 16 hex digits. */
  readonly incarnation: string;
  readonly path: string;
}

const CHAINS = 'chains';
const DRAFT = '.draft';

/**
 * The chain in a folder, `null` if there is none. Its files are in `chains/INCARNATION`; the file `current` names the
 * incarnation, so that writing this file switches to another chain.
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
  // The process was killed after this chain became the current one.
  if (!names.includes(incarnation) && names.includes(incarnation + DRAFT)) moveTo(path + DRAFT, path);
  else if (!names.includes(incarnation)) {
    throw ledgerErrors['missing-file']({ file: path, needed: 'it has the blocks of the chain' });
  }
  return { incarnation, path };
}

/**
 * Creates a new chain in the folder and makes it the current one. The others stay until it has been opened.
 *
 * @param fill writes its files into a folder
 * @throws ledger/unwritable, and what `fill` throws: then the folder is unchanged
 */
export function replaceChain(folder: string, fill: (path: string) => void): ChainFolder {
  const incarnation = toHex(randomBytes(8));
  const path = join(folder, CHAINS, incarnation);
  ensureFolder(path + DRAFT);
  try {
    fill(path + DRAFT);
    writeWhole(join(folder, 'current'), `${incarnation}\n`);
  } catch (error) {
    removeAll(path + DRAFT);
    throw error;
  }
  moveTo(path + DRAFT, path);
  return { incarnation, path };
}

/** Makes a chain the current one again, where the one that took its place could not be opened. @throws ledger/in-use, ledger/unwritable */
export function returnToChain(folder: string, incarnation: string): void {
  const file = join(folder, 'current');
  const text = `${incarnation}\n`;
  const current = readFileIfAny(file);
  if (current !== null && new TextDecoder().decode(current) === text) return;
  if (listFolder(join(folder, CHAINS)).includes(incarnation)) whileLocked(folder, () => writeWhole(file, text));
}

/** Removes the chain of a folder, if there is one, even a damaged one. @throws ledger/unwritable */
function removeChain(folder: string): void {
  const chains = join(folder, CHAINS);
  for (const name of listFolder(chains)) {
    if (/^[0-9a-f]{16}$/.test(name)) moveTo(join(chains, name), join(chains, name + DRAFT));
  }
  removeAll(join(folder, 'current'));
  removeOtherChains(folder, '');
}

/** Removes chains that were replaced or are incomplete. @throws ledger/unwritable */
export function removeOtherChains(folder: string, incarnation: string): void {
  for (const name of listFolder(join(folder, CHAINS))) {
    if (isChainName(name) && name !== incarnation) removeAll(join(folder, CHAINS, name));
  }
}

function isChainName(name: string): boolean {
  return /^[0-9a-f]{16}(\.draft)?$/.test(name);
}
