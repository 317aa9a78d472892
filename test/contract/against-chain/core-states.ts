import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, beginCell, Cell, loadAccount, type Slice } from '@ton/core';
import type { Expected } from '#test/contract/against-chain/core-transaction.js';

/** An account in a state, its cells whole. */
export interface CoreAccount {
  /** Raw, upper case. */
  readonly address: string;
  /** `Account`; null: it is not there. */
  readonly cell: Cell | null;
  readonly last_trans_hash: string;
  readonly last_trans_lt: bigint;
}

/** Hash of `account_none$0`. */
const NONE = beginCell().storeBit(false).endCell().hash().toString('base64');

/**
 * The states of a chain, cell by cell: what a block leaves out of a state was in an earlier one. Blocks must be given in an
 * order in which each comes behind those before it.
 */
export class CoreStates {
  /** By hash in hex; some have pruned branches in place of references, which are here under their own hashes. */
  readonly #cells = new Map<string, Cell>();
  /** The newest of each. */
  readonly accounts = new Map<string, CoreAccount>();

  /** @param folder with the zerostates */
  constructor(folder: string) {
    for (const file of readdirSync(folder).filter((name) => /^zerostate.*\.boc$/.test(name))) {
      const root = Cell.fromBoc(readFileSync(join(folder, file)))[0]!;
      this.#keep(root);
      for (const account of this.#accountsOf(root, workchainOf(root))) this.accounts.set(account.address, account);
    }
  }

  /**
   * Takes in the state after a block.
   *
   * @param update the reference of the block that is a Merkle update
   * @param changed raw addresses, upper case
   * @returns by address
   */
  apply(update: Cell, changed: readonly string[]): ReadonlyMap<string, CoreAccount> {
    const state = update.refs[1]!;
    this.#keep(state);
    const found = new Map<string, CoreAccount>();
    for (const address of changed) {
      const account = this.#find(state, address);
      found.set(address, account);
      this.accounts.set(address, account);
    }
    return found;
  }

  #keep(cell: Cell): void {
    // A pruned branch says nothing of its own.
    if (cell.isExotic && cell.beginParse(true).preloadUint(8) === 1) return;
    const hash = cell.hash(0).toString('hex');
    const known = this.#cells.get(hash);
    if (known !== undefined && (known.level() === 0 || cell.level() > 0)) return;
    this.#cells.set(hash, cell);
    for (const ref of cell.refs) this.#keep(ref);
  }

  /** The cell without pruned branches. */
  whole(cell: Cell): Cell {
    if (cell.level() === 0) return cell;
    const hash = cell.hash(0).toString('hex');
    const known = this.#cells.get(hash);
    if (known === undefined) throw new RangeError(`the cell ${hash} is in no state before`);
    if (known.level() === 0) return known;
    const builder = beginCell().storeBits(known.bits);
    for (const ref of known.refs) builder.storeRef(this.whole(ref));
    const made = builder.endCell();
    this.#cells.set(hash, made);
    return made;
  }

  /** `accounts:^ShardAccounts`, a `HashmapAugE 256 ShardAccount DepthBalanceInfo` */
  #find(state: Cell, address: string): CoreAccount {
    const absent = { address, cell: null, last_trans_hash: '', last_trans_lt: 0n };
    const dictionary = state.refs[1]!.beginParse();
    if (!dictionary.loadBit()) return absent;
    let cell = dictionary.loadRef();
    let key = BigInt(`0x1${address.split(':')[1]}`)
      .toString(2)
      .slice(1);
    for (;;) {
      const slice = cell.beginParse();
      const label = loadLabel(slice, key.length);
      if (!key.startsWith(label)) return absent;
      key = key.slice(label.length);
      if (key === '') return this.#read(slice, address);
      cell = slice.loadRef();
      if (key.startsWith('1')) cell = slice.loadRef();
      key = key.slice(1);
    }
  }

  /** `depth_balance$_ split_depth:(#<= 30) balance:CurrencyCollection`, `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64` */
  #read(leaf: Slice, address: string): CoreAccount {
    leaf.skip(5);
    leaf.loadCoins();
    if (leaf.loadBit()) leaf.loadRef();
    const cell = this.whole(leaf.loadRef());
    const last_trans_hash = leaf.loadBuffer(32).toString('base64');
    return { address, cell, last_trans_hash, last_trans_lt: leaf.loadUintBig(64) };
  }

  #accountsOf(state: Cell, workchain: number): CoreAccount[] {
    const dictionary = state.refs[1]!.beginParse();
    if (!dictionary.loadBit()) return [];
    const found: CoreAccount[] = [];
    const visit = (cell: Cell, before: string): void => {
      const slice = cell.beginParse();
      const key = before + loadLabel(slice, 256 - before.length);
      if (key.length < 256) {
        visit(slice.loadRef(), `${key}0`);
        visit(slice.loadRef(), `${key}1`);
        return;
      }
      const id = BigInt(`0b${key}`).toString(16).padStart(64, '0').toUpperCase();
      found.push(this.#read(slice, `${workchain}:${id}`));
    };
    visit(dictionary.loadRef(), '');
    return found;
  }
}

/** `shard_state#9023afe2 global_id:int32 shard_id:ShardIdent …`, where the workchain follows on two and six bits. */
function workchainOf(state: Cell): number {
  const slice = state.beginParse();
  slice.skip(32 + 32 + 2 + 6);
  return slice.loadInt(32);
}

/** A `HmLabel` as a text of bits. */
function loadLabel(slice: Slice, most: number): string {
  const bits = (length: number) => (length === 0 ? '' : slice.loadUintBig(length).toString(2).padStart(length, '0'));
  const size = 32 - Math.clz32(most);
  if (!slice.loadBit()) {
    let length = 0;
    while (slice.loadBit()) length++;
    return bits(length);
  }
  if (!slice.loadBit()) return bits(slice.loadUint(size));
  const digit = slice.loadBit() ? '1' : '0';
  return digit.repeat(slice.loadUint(size));
}

/** What `account_state_before` and `account_state_after` of a transaction show. */
export function stateJson({ cell }: CoreAccount): Expected {
  if (cell === null) {
    const nothing = { frozen_hash: null, data_hash: null, code_hash: null };
    return { hash: NONE, balance: '0', extra_currencies: {}, account_status: 'nonexist', ...nothing };
  }
  const { storage } = read(cell);
  const { state, balance } = storage;
  const init = state.type === 'active' ? state.state : null;
  const hash = (of: Cell | null | undefined) => of?.hash().toString('base64') ?? null;
  return {
    hash: hash(cell),
    balance: String(balance.coins),
    extra_currencies: Object.fromEntries(
      [...(balance.other ?? [])].map(([id, amount]) => [String(id), String(amount)]),
    ),
    account_status: state.type,
    frozen_hash: state.type === 'frozen' ? hashOf(state.stateHash) : null,
    data_hash: hash(init?.data),
    code_hash: hash(init?.code),
  };
}

function read(cell: Cell): Account {
  const slice = cell.beginParse();
  if (!slice.loadBit()) throw new TypeError('there is no account');
  return loadAccount(slice);
}

function hashOf(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64');
}

/** Code and data of an account. */
export function partsOf({ cell }: CoreAccount): { readonly code: Cell | null; readonly data: Cell | null } {
  const state = cell === null ? null : read(cell).storage.state;
  const init = state?.type === 'active' ? state.state : null;
  return { code: init?.code ?? null, data: init?.data ?? null };
}
