import { findLibraries } from '#drivers/tvm/libraries.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardAccount } from '#formats/tlb/shard-account.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ForkSource } from '#localnet/fork/fork-source.js';
import type { Intervention } from '#localnet/producer/round-request.js';

/** What a local chain has of its own, whatever the forked network says. */
export interface LocalState {
  /** Whether the account was here once, and has been destroyed. */
  readonly isGone: (address: Address) => boolean;
  /** Whether the chain publishes a library. @param hash 32 bytes */
  readonly hasLibrary: (hash: Uint8Array) => boolean;
}

/** Workchains that every network has; accounts of others cannot live here. */
const WORKCHAINS: ReadonlySet<number> = new Set([-1, 0]);

/** Libraries of one account, those that they name themselves included. */
const MOST_LIBRARIES = 64;

/** Accounts of the forked network, as the local one takes them over: each once, with what its code needs. */
export class ForeignAccounts {
  readonly #source: Pick<ForkSource, 'account' | 'library'>;
  readonly #local: LocalState;
  /** Libraries that were given for single runs, by the hex of their hashes. */
  readonly #lent = new Map<string, Cell>();

  constructor(source: Pick<ForkSource, 'account' | 'library'>, local: LocalState) {
    this.#source = source;
    this.#local = local;
  }

  /**
   * The state (`ShardAccount`) of an account that is not here; null: it is not there either, or lived here and has ended.
   * @throws fork/unreachable
   */
  async account(address: Address): Promise<Cell | null> {
    if (!WORKCHAINS.has(address.workchain) || this.#local.isGone(address)) return null;
    return this.#source.account(address);
  }

  /** A library for a run; it will have to be published, see {@link ForeignAccounts.takeLent}. @throws fork/unreachable */
  async library(hash: Uint8Array): Promise<Cell | null> {
    const library = await this.#source.library(hash);
    if (library !== null) this.#lent.set(toHex(hash), library);
    return library;
  }

  /** What publishes the libraries that were given for runs since the last time, and are not published yet. */
  takeLent(): readonly Intervention[] {
    const lent = [...this.#lent.values()].filter((library) => !this.#local.hasLibrary(library.hash()));
    this.#lent.clear();
    return lent.map((library) => ({ kind: 'library', library }));
  }

  /**
   * What brings an account here, and the libraries that its code and data name; null when there is no such account.
   * @throws fork/unreachable
   */
  async bring(address: Address): Promise<readonly Intervention[] | null> {
    const shard_account = await this.account(address);
    if (shard_account === null) return null;
    const libraries = await this.#librariesOf(shard_account);
    const published = libraries.map((library): Intervention => ({ kind: 'library', library }));
    return [...published, { kind: 'import', address, shard_account }];
  }

  /** Libraries that the code and the data of an account name, and those name in turn, as far as they are not here. */
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
        if (asked.size === MOST_LIBRARIES || asked.has(key) || this.#local.hasLibrary(hash)) continue;
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
