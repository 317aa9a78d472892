import { setImmediate } from 'node:timers';
import type pg from 'pg';
import { codeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/kinds/contract-kinds.js';
import type { Database } from '#drivers/store/database.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ChainQuestions, ForeignAccount } from '#services/indexer/contracts/chain-questions.js';
import { foreignState } from '#services/indexer/contracts/foreign-state.js';
import type { PublishedLibraries } from '#services/indexer/contracts/published-libraries.js';

/** A code, and what is known of it. */
export interface ContractCode {
  readonly cell: Cell;
  /** Lower-case hexadecimal. */
  readonly hash: string;
  /** Of a library reference: the hash of the library. */
  readonly library: Uint8Array | null;
  /** Ids of its get methods; null: it has no table of them that can be read. */
  readonly methods: readonly number[] | null;
  /** Not where it refers to a library that nobody has published. */
  readonly isWhole: boolean;
}

/** Get methods of a code that the index has not noted yet. */
export interface NewMethods {
  readonly code_hash: Uint8Array;
  readonly methods: readonly number[] | null;
}

/** The newest known state of an account. */
export interface ContractState {
  readonly address: Address;
  readonly balance: bigint;
  readonly extra_currencies: readonly (readonly [id: number, amount: bigint])[];
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  /** Null: it cannot run, for want of code, or since it is frozen. */
  readonly running: { readonly code: ContractCode; readonly data: Cell } | null;
  /** Of its code or data not all is known yet. */
  readonly incomplete: boolean;
  /** Of one that is not indexed, as it came. */
  readonly foreign: ForeignAccount | null;
}

interface AccountRow {
  readonly address: Uint8Array;
  readonly status: number;
  readonly balance: bigint;
  readonly extra_currencies: Readonly<Record<string, string>> | null;
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly gen_utime: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  readonly data_boc: Uint8Array | null;
  readonly incomplete: boolean;
}

interface Wanted {
  readonly address: Address;
  readonly resolve: (state: Promise<ContractState | null>) => void;
  readonly reject: (error: unknown) => void;
}

const ACTIVE = 1;
const CODES_BYTES = 64 * 2 ** 20;
const ACCOUNTS = `SELECT address, status, balance, extra_currencies, last_trans_lt, mc_seqno, gen_utime, code_hash, data_hash,
    data_boc, incomplete
  FROM accounts WHERE address = ANY($1::bytea[])`;

/** Codes by their hash; those that are used are kept. */
export class ContractCodes {
  readonly #kept = new LruByBytes<ContractCode>(CODES_BYTES);
  readonly #libraries: PublishedLibraries;

  constructor(libraries: PublishedLibraries) {
    this.#libraries = libraries;
  }

  get(hash: string): ContractCode | undefined {
    return this.#kept.get(hash);
  }

  async add(hash: string, cell: Cell, bytes: number): Promise<ContractCode> {
    const library = libraryHashOf(cell);
    const whole = library === null ? cell : await this.#libraries.find(library);
    const isWhole = whole !== null;
    const code = { cell, hash, library, methods: isWhole ? codeMethods(whole) : null, isWhole };
    // A library may be published later.
    if (isWhole) this.#kept.set(hash, code, 2 * bytes);
    return code;
  }
}

export interface ContractStatesModules {
  readonly database: Database;
  readonly codes: ContractCodes;
  readonly chain: Pick<ChainQuestions, 'account'>;
}

/**
 * States of accounts, for one batch: each is read once, and those that are asked for at the same time with one query. Who is not
 * indexed is asked for from the chain.
 */
export class ContractStates {
  readonly #modules: ContractStatesModules;
  readonly #known = new Map<string, Promise<ContractState | null>>();
  readonly #codes = new Map<string, ContractCode>();
  readonly #foreign: ContractState[] = [];
  readonly #newMethods: NewMethods[] = [];
  #wanted: Wanted[] = [];

  constructor(modules: ContractStatesModules) {
    this.#modules = modules;
  }

  /** Those that are not indexed. */
  get foreign(): readonly ContractState[] {
    return this.#foreign;
  }

  get newMethods(): readonly NewMethods[] {
    return this.#newMethods;
  }

  /** Null: there is no such account. @throws store/*, chain/*, lite/* */
  get(address: Address): Promise<ContractState | null> {
    const key = address.toRaw();
    let state = this.#known.get(key);
    if (state === undefined) {
      state = new Promise((resolve, reject) => {
        if (this.#wanted.length === 0) setImmediate(() => void this.#read());
        this.#wanted.push({ address, resolve, reject });
      });
      this.#known.set(key, state);
    }
    return state;
  }

  async #read(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    try {
      const rows = await this.#rows(wanted);
      for (const { address, resolve } of wanted) {
        const row = rows.get(address.toRaw());
        resolve(row === undefined ? this.#askFor(address) : Promise.resolve(this.#state(row)));
      }
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }

  async #rows(wanted: readonly Wanted[]): Promise<ReadonlyMap<string, AccountRow>> {
    const values = [wanted.map(({ address }) => addressBytes(address))];
    const rows = await this.#query<AccountRow>({ name: 'contract-accounts', text: ACCOUNTS, values });
    await this.#readCodes(rows);
    return new Map(rows.map((row) => [addressOfBytes(row.address).toRaw(), row]));
  }

  async #query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    return (await this.#modules.database.withWriter((client) => client.query<Row>(query))).rows;
  }

  async #readCodes(rows: readonly AccountRow[]): Promise<void> {
    const { codes } = this.#modules;
    const missing = new Map<string, Uint8Array>();
    for (const { code_hash, incomplete } of rows) {
      if (code_hash === null || incomplete) continue;
      const hash = toHex(code_hash);
      const known = this.#codes.get(hash) ?? codes.get(hash);
      if (known === undefined) missing.set(hash, code_hash);
      else this.#codes.set(hash, known);
    }
    if (missing.size === 0) return;
    const found = await this.#query<{ code_hash: Uint8Array; boc: Uint8Array; methods_read: boolean }>({
      name: 'contract-codes',
      text: 'SELECT code_hash, boc, methods_read FROM codes WHERE code_hash = ANY($1::bytea[])',
      values: [[...missing.values()]],
    });
    for (const { code_hash, boc, methods_read } of found) {
      const hash = toHex(code_hash);
      const code = await codes.add(hash, parseBocRoot(boc), boc.length);
      this.#codes.set(hash, code);
      if (!methods_read && code.isWhole) this.#newMethods.push({ code_hash, methods: code.methods });
    }
  }

  #state(row: AccountRow): ContractState {
    const { status, extra_currencies, data_boc, data_hash, code_hash } = row;
    const code = code_hash === null ? undefined : this.#codes.get(toHex(code_hash));
    const isActive = status === ACTIVE && code_hash !== null;
    const incomplete = row.incomplete || (isActive && code === undefined) || (data_hash !== null && data_boc === null);
    return {
      address: addressOfBytes(row.address),
      balance: row.balance,
      extra_currencies: Object.entries(extra_currencies ?? {}).map(([id, amount]) => [Number(id), BigInt(amount)]),
      last_trans_lt: row.last_trans_lt,
      mc_seqno: row.mc_seqno,
      gen_utime: Number(row.gen_utime),
      code_hash,
      data_hash,
      running:
        isActive && !incomplete ? { code: code!, data: data_boc === null ? EMPTY_CELL : parseBocRoot(data_boc) } : null,
      incomplete,
      foreign: null,
    };
  }

  async #askFor(address: Address): Promise<ContractState | null> {
    const { chain, codes } = this.#modules;
    const account = await chain.account(addressBytes(address));
    if (account === null) return null;
    const state = await foreignState(address, account, codes);
    if (state !== null) this.#foreign.push(state);
    return state;
  }
}
