import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { findLibraries } from '#drivers/tvm/request-fields.js';
import { Address, parseAddress } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { NO_ACCOUNT, ShardAccount } from '#formats/tlb/account.js';
import { Block } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { bytesEqual, fromHex, toHex } from '#kernel/bytes.js';
import { readRegularFile } from '#kernel/files.js';
import { isTernError } from '#kernel/tern-error.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import type { StateOverride } from '#localnet/producer/block-request.js';

/** State that the local chain has independently of the forked network. */
export interface LocalChainState {
  /** Whether the account existed here and has been deleted. */
  readonly isDeleted: (address: Address) => boolean;
  /** Whether the chain publishes a library. @param hash 32 bytes */
  readonly hasLibrary: (hash: Uint8Array) => boolean;
}

/** Workchains that every network has; accounts of others cannot be imported. */
const WORKCHAINS: ReadonlySet<number> = new Set([-1, 0]);

/** Libraries per account, including those that libraries refer to. */
const MAX_LIBRARIES = 64;

/** Imports accounts of the forked network, each once, with the libraries that its code needs. */
export class AccountImporter {
  readonly #source: Pick<ForkSource, 'account' | 'library'>;
  readonly #local: LocalChainState;
  /** Libraries that were provided for single runs, keyed by their hashes in hex. */
  readonly #lent = new Map<string, Cell>();

  constructor(source: Pick<ForkSource, 'account' | 'library'>, local: LocalChainState) {
    this.#source = source;
    this.#local = local;
  }

  /**
   * The state (`ShardAccount`) of an account that does not exist here; null: it does not exist there either, or was
   * deleted here.
   * @throws fork/unreachable
   */
  async account(address: Address): Promise<Cell | null> {
    if (!WORKCHAINS.has(address.workchain) || this.#local.isDeleted(address)) return null;
    return this.#source.account(address);
  }

  /**
   * A library for a run; it must be published afterwards, see {@link AccountImporter.takeLentLibraries}. @throws
   * fork/unreachable
   */
  async library(hash: Uint8Array): Promise<Cell | null> {
    const library = await this.#source.library(hash);
    if (library !== null) this.#lent.set(toHex(hash), library);
    return library;
  }

  /** Overrides that publish the libraries provided for runs since the last call and not published yet. */
  takeLentLibraries(): readonly StateOverride[] {
    const lent = [...this.#lent.values()].filter((library) => !this.#local.hasLibrary(library.hash()));
    this.#lent.clear();
    return lent.map((library) => ({ kind: 'library', library }));
  }

  /**
   * Overrides that import an account and the libraries that its code and data refer to; null when there is no such
   * account.
   * @throws fork/unreachable
   */
  async importOverrides(address: Address): Promise<readonly StateOverride[] | null> {
    const shard_account = await this.account(address);
    if (shard_account === null) return null;
    const libraries = await this.#librariesOf(shard_account);
    const published = libraries.map((library): StateOverride => ({ kind: 'library', library }));
    return [...published, { kind: 'import', address, shard_account }];
  }

  /**
   * Libraries that code and data of an account refer to, directly or through other libraries, and that are not
   * published here.
   */
  async #librariesOf(shard_account: Cell): Promise<readonly Cell[]> {
    const account = decodeCell(ShardAccount, shard_account).account.value;
    if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') return [];
    const { code, data } = account.storage.state.state_init;
    const asked = new Set<string>();
    const found: Cell[] = [];
    const roots = [code, data].filter((cell) => cell !== null);
    for (let root = roots.shift(); root !== undefined; root = roots.shift()) {
      for (const hash of findLibraries(root)) {
        const key = toHex(hash);
        if (asked.size === MAX_LIBRARIES || asked.has(key) || this.#local.hasLibrary(hash)) continue;
        asked.add(key);
        const library = await this.#source.library(hash);
        if (library === null) continue;
        found.push(library);
        roots.push(library);
      }
    }
    return found;
  }
}

/** Seqno, root hash and file hash of a masterchain block, an account, and whether its deletion was undone. */
const LINE = /^([1-9]\d{0,9}) ([0-9a-f]{64}) ([0-9a-f]{64}) (\S+)( undone)?$/;

/**
 * Accounts that existed here and were deleted: they must not be imported again. They are stored in a file beside the
 * chain, each with the block that deleted it; lines of blocks that are not in the chain, for example after a snapshot
 * was restored, are ignored. Where the chain returned to a state before a deletion, a later line says so.
 */
export class DeletedAccounts {
  readonly #file: string;
  readonly #deleted: Set<string>;

  private constructor(file: string, gone: Set<string>) {
    this.#file = file;
    this.#deleted = gone;
  }

  /**
   * @param file does not need to exist
   * @param isInChain whether the local chain has a masterchain block
   * @throws fork/bad-file
   */
  static open(file: string, isInChain: (id: BlockId) => boolean): DeletedAccounts {
    const gone = new Set<string>();
    const text = readText(file);
    // A line without a line end was being written when the process was killed: its block was not appended.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(file, whole.length);
    for (const [i, line] of whole.split('\n').slice(0, -1).entries()) {
      const entry = readLine(line);
      if (entry === null) throw forkErrors['bad-file']({ file, problem: `line ${i + 1} is of another form` });
      const { block, address, undone } = entry;
      if (!isInChain(block)) continue;
      if (undone) gone.delete(address.toRaw());
      else gone.add(address.toRaw());
    }
    return new DeletedAccounts(file, gone);
  }

  has(address: Address): boolean {
    return this.#deleted.has(address.toRaw());
  }

  /** Raw addresses of all of them. */
  all(): ReadonlySet<string> {
    return new Set(this.#deleted);
  }

  /** Records the accounts that a bundle deletes. Call it before the bundle is appended to the chain. */
  record({ masterchain, shards }: NewBlockBundle): void {
    const ended = [...shards, masterchain].flatMap(({ id, root }) => endedIn(root, id.workchain));
    if (ended.length === 0) return;
    this.#append(masterchain.id, ended);
    for (const address of ended) this.#deleted.add(address);
  }

  /**
   * Records that the chain has returned to a former state.
   * @param former what {@link DeletedAccounts.all} gave then
   * @param block the newest masterchain block
   */
  returnTo(former: ReadonlySet<string>, block: BlockId): void {
    const undone = [...this.#deleted].filter((address) => !former.has(address));
    const again = [...former].filter((address) => !this.#deleted.has(address));
    if (undone.length + again.length === 0) return;
    this.#append(block, [...undone.map((address) => `${address} undone`), ...again]);
    for (const address of undone) this.#deleted.delete(address);
    for (const address of again) this.#deleted.add(address);
  }

  #append({ seqno, root_hash, file_hash }: BlockId, entries: readonly string[]): void {
    const block = `${seqno} ${toHex(root_hash)} ${toHex(file_hash)}`;
    appendWhole(this.#file, entries.map((entry) => `${block} ${entry}\n`).join(''));
  }
}

/** Appends a text to a file, which does not need to exist, or leaves the file as it was. */
function appendWhole(file: string, text: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  try {
    appendFileSync(file, text);
  } catch (error) {
    // The next text would continue a line that was written in part.
    try {
      truncateSync(file, size);
    } catch {
      // The first error says more.
    }
    throw error;
  }
}

/** Raw addresses of accounts that a block deletes. */
function endedIn(root: Cell, workchain: number): string[] {
  const ended: string[] = [];
  for (const [id, { state_update, transactions }] of decodeCell(Block, root).extra.value.account_blocks.value) {
    if (!bytesEqual(state_update.value.new_hash, NO_ACCOUNT.hash())) continue;
    // The account may have been imported in the same block, so that the state before does not tell.
    const all = [...transactions].map(([, { value }]) => value);
    const lived = all.some(({ orig_status }) => orig_status !== 'acc_state_nonexist');
    // Accounts end by messages, ticks and tocks; the return to a snapshot that lacks them is no deletion.
    const isReturn = all.at(-1)?.description.value.kind === 'trans_storage';
    if (lived && !isReturn) ended.push(Address.ofParts(workchain, id).toRaw());
  }
  return ended;
}

/** @throws fork/bad-file */
function readText(file: string): string {
  try {
    return readRegularFile(file).toString('latin1');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw forkErrors['bad-file']({ file, problem: message }, error);
  }
}

interface Line {
  readonly block: BlockId;
  readonly address: Address;
  readonly undone: boolean;
}

function readLine(line: string): Line | null {
  const [, seqno, root, file, account, undone] = LINE.exec(line) ?? [];
  if (account === undefined) return null;
  const block = { ...MASTERCHAIN_SHARD, seqno: Number(seqno), root_hash: fromHex(root!)!, file_hash: fromHex(file!)! };
  try {
    return { block, address: parseAddress(account).address, undone: undone !== undefined };
  } catch (error) {
    if (!isTernError(error)) throw error;
    return null;
  }
}
