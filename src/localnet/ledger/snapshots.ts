import { basename, join } from 'node:path';
import type { BlockId } from '#formats/proofs/block-id.js';
import { shardHex } from '#formats/tlb/shard-ident.js';
import { fromHex, toHex } from '#kernel/bytes/bytes.js';
import { currentChain, removeChain, replaceChain } from '#localnet/ledger/chain-folder.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { lockFolder } from '#localnet/ledger/folder-lock.js';
import {
  linkOrCopy,
  listFolder,
  makeFolder,
  moveTo,
  readFileIfAny,
  removeAll,
  writeWhole,
} from '#localnet/ledger/ledger-files.js';

/** A chain as it was at a moment, to go back to. */
export interface Snapshot {
  readonly name: string;
  readonly head: BlockId;
  /** Unix seconds, of the machine. */
  readonly saved_at: number;
}

/** The files of a chain, none of which will be written to again. */
export interface ChainFiles {
  /** Those of the folder of the chain. */
  readonly files: readonly string[];
  /** Those of its folder `states`. */
  readonly states: readonly string[];
}

const SNAPSHOT_FILE = 'snapshot.json';
const STATES = 'states';
/** Begins a name that no snapshot can have: of what is not complete yet, or not any more. */
const DRAFT = '.';

/** Whether a folder has a chain. @throws ledger/damaged, ledger/missing-file, ledger/unreadable */
export function hasChain(folder: string): boolean {
  return currentChain(folder) !== null;
}

/** Removes the chain in a folder, also a damaged one; snapshots stay. @throws ledger/in-use, ledger/unwritable */
export function resetChain(folder: string): void {
  whileLocked(folder, () => removeChain(folder));
}

/**
 * Puts a snapshot in the place of the chain. It becomes a chain of its own, with a new incarnation.
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
      makeFolder(join(to, STATES));
      for (const file of listFolder(join(from, STATES))) linkOrCopy(join(from, STATES, file), join(to, STATES, file));
    });
  });
}

/** @throws ledger/no-snapshot, ledger/bad-snapshot-name, ledger/damaged */
export function requireSnapshot(folder: string, name: string): Snapshot {
  checkName(name);
  const file = join(pathOf(folder, name), SNAPSHOT_FILE);
  const bytes = readFileIfAny(file);
  if (bytes === null) throw ledgerErrors['no-snapshot']({ name });
  return parseSnapshot(file, name, bytes);
}

/** All snapshots of a folder, by their names. @throws ledger/damaged, ledger/unreadable */
export function listSnapshots(folder: string): readonly Snapshot[] {
  const names = listFolder(join(folder, 'snapshots')).filter((name) => !name.startsWith(DRAFT));
  return names.map((name) => requireSnapshot(folder, name));
}

/**
 * Saves a snapshot: other names of the same files where the file system has them, copies elsewhere. It appears whole.
 * @throws ledger/snapshot-exists, ledger/bad-snapshot-name, ledger/unwritable
 */
export function writeSnapshot(folder: string, { name, head, saved_at }: Snapshot, chain: ChainFiles): void {
  requireFreeName(folder, name);
  const path = pathOf(folder, name);
  const draft = pathOf(folder, DRAFT + name);
  removeAll(draft);
  makeFolder(join(draft, STATES));
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
  const draft = pathOf(folder, DRAFT + name);
  removeAll(draft);
  moveTo(pathOf(folder, name), draft);
  removeAll(draft);
}

/** Removes snapshots that were not saved or deleted to the end. @throws ledger/unwritable */
export function removeDrafts(folder: string): void {
  for (const name of listFolder(join(folder, 'snapshots'))) if (name.startsWith(DRAFT)) removeAll(pathOf(folder, name));
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

function parseSnapshot(file: string, name: string, bytes: Uint8Array): Snapshot {
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
