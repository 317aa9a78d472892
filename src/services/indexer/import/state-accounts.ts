import { AccountWalk, accountsRoot, findAccountLeaf } from '#drivers/state-files/account-walk.js';
import { StateCells } from '#drivers/state-files/state-cells.js';
import type { StateFile } from '#drivers/state-files/state-file.js';
import type { ShardStateFiles } from '#drivers/state-files/state-set.js';
import { type AddressInterval, addressAt } from '#drivers/store/write/state-imports.js';
import { Address } from '#formats/address/address.js';
import type { TableCell } from '#formats/cells/cell-table.js';
import { accountIdsOf, accountPrefix, shardContains } from '#formats/tlb/block-id.js';
import { compareBytes } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { readAccountLeaf, type ShardAccountState } from '#services/indexer/rows/state-reader.js';

/** A file with accounts of the state. */
export interface AccountFile {
  readonly workchain: number;
  /** The prefix of its accounts. */
  readonly shard: bigint;
  readonly root_hash: Uint8Array;
  /** Unix time of the block of the shard. */
  readonly gen_utime: number;
  readonly file: StateFile;
  /** Whether the file has accounts only. */
  readonly isPart: boolean;
}

/** Accounts of a file whose ids begin with a prefix. */
export interface AccountRange {
  readonly file: AccountFile;
  /** The prefix, as a shard. */
  readonly shard: bigint;
}

/** An account of a state file. */
export interface FoundAccount {
  readonly address: Address;
  readonly gen_utime: number;
  readonly found: ShardAccountState;
}

/** Consecutive accounts of a range. */
export interface AccountBatch {
  /** In the order of their ids; the last batch of a range may have none. */
  readonly accounts: readonly FoundAccount[];
  /** Of the last account; in the last batch the greatest id of the range. */
  readonly lastId: Uint8Array;
  /** There are no other accounts between these addresses. */
  readonly interval: AddressInterval;
  readonly gen_utime: number;
}

/** Memory for pages of the file whose accounts are enumerated, and of all files for accounts that contracts name. */
const ENUMERATION_CACHE = 48 * 2 ** 20;
const LOOKUP_CACHE = 32 * 2 ** 20;
/** Memory for accounts that contracts name, such as masters and collections. */
const ACCOUNTS_BYTES = 32 * 2 ** 20;

/** Accounts per batch: one database transaction. */
const BATCH = 4000;

/** The files with accounts of a state. */
export function accountFiles(states: readonly ShardStateFiles[]): readonly AccountFile[] {
  return states.flatMap(({ ident: { workchain, gen_utime }, files }) =>
    files.map((each) => ({ workchain, gen_utime, ...each })),
  );
}

/** The accounts of a range in the order of their ids. */
export class AccountBatches {
  readonly #file: AccountFile;
  readonly #cells: StateCells;
  readonly #walk: AccountWalk;
  readonly #lastId: Uint8Array;
  /** As {@link AccountBatch.interval}. */
  #after: Uint8Array;
  #isOver = false;

  /** @param after begins behind this id; null: with the first one @throws state-files/damaged */
  constructor({ file, shard }: AccountRange, after: Uint8Array | null) {
    this.#file = file;
    this.#cells = new StateCells(file.file, ENUMERATION_CACHE);
    const { before, last } = accountIdsOf(shard);
    this.#lastId = last;
    const from = after ?? before;
    this.#after = addressAt(file.workchain, from);
    this.#walk = new AccountWalk(this.#cells, accountsRoot(this.#cells, file.isPart), from);
  }

  /** Bytes read from the file. */
  get bytesRead(): number {
    return this.#cells.bytesRead;
  }

  /** The next accounts; null: all were returned. @throws state-files/damaged */
  next(): AccountBatch | null {
    if (this.#isOver) return null;
    const { workchain, gen_utime } = this.#file;
    const walk = this.#walk;
    const ids: Uint8Array[] = [];
    const leaves: number[] = [];
    const labels: number[] = [];
    while (leaves.length < BATCH && !this.#isOver) {
      this.#isOver = !walk.next() || compareBytes(walk.id, this.#lastId) > 0;
      if (this.#isOver) break;
      ids.push(walk.id.slice());
      leaves.push(walk.leaf);
      labels.push(walk.labelBits);
    }
    const lastId = this.#isOver ? this.#lastId : ids.at(-1)!;
    const interval = { after: this.#after, last: addressAt(this.#file.workchain, lastId) };
    this.#after = interval.last;
    if (leaves.length === 0) return { accounts: [], lastId, interval, gen_utime };
    const { table, roots } = this.#cells.load(leaves);
    const accounts = roots.map((place, i) => ({
      address: Address.ofParts(workchain, ids[i]!),
      gen_utime,
      found: readAccountLeaf(table, place, labels[i]!),
    }));
    return { accounts, lastId, interval, gen_utime };
  }
}

/** Finds single accounts of a state. */
export class StateLookup {
  readonly #files: readonly { readonly of: AccountFile; readonly cells: StateCells; readonly root: number | null }[];
  readonly #kept = new LruByBytes<{ readonly account: FoundAccount | null }>(ACCOUNTS_BYTES);

  /** @throws state-files/damaged */
  constructor(files: readonly AccountFile[]) {
    const cache = Math.floor(LOOKUP_CACHE / Math.max(files.length, 1));
    this.#files = files.map((of) => {
      const cells = new StateCells(of.file, cache);
      return { of, cells, root: accountsRoot(cells, of.isPart) };
    });
  }

  /** Bytes read from the files. */
  get bytesRead(): number {
    return this.#files.reduce((sum, { cells }) => sum + cells.bytesRead, 0);
  }

  /** Null: there is no such account. @throws state-files/damaged */
  find(address: Address): FoundAccount | null {
    const key = address.toRaw();
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.account;
    const account = this.#read(address);
    this.#kept.set(key, { account }, 256 + (account === null ? 0 : sizeOf(account.found)));
    return account;
  }

  #read(address: Address): FoundAccount | null {
    const { workchain, hash } = address;
    const prefix = accountPrefix(hash);
    const file = this.#files.find(({ of }) => of.workchain === workchain && shardContains(of.shard, prefix));
    if (file === undefined) return null;
    const { of, cells, root } = file;
    const place = findAccountLeaf(cells, root, hash);
    if (place === null) return null;
    const { table, roots } = cells.load([place.leaf]);
    return { address, gen_utime: of.gen_utime, found: readAccountLeaf(table, roots[0]!, place.labelBits) };
  }
}

/** Bytes of the table of cells that an account keeps alive, with hashes. */
function sizeOf({ cell }: ShardAccountState): number {
  const { table } = cell as TableCell;
  return table.bytes.length + table.count * 64;
}
