import { setImmediate } from 'node:timers';
import type pg from 'pg';
import type { Database } from '#drivers/store/database.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ChainQuestions } from '#services/indexer/contracts/chain-questions.js';
import type { ContractCode, ContractCodes } from '#services/indexer/contracts/contract-codes.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';
import { foreignState } from '#services/indexer/contracts/foreign-state.js';

/** Get methods of a code that the index has not noted yet. */
export interface NewMethods {
  readonly code_hash: Uint8Array;
  readonly methods: readonly number[] | null;
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
const ACCOUNTS = `SELECT address, status, balance, extra_currencies, last_trans_lt, mc_seqno, gen_utime, code_hash, data_hash,
    data_boc, incomplete
  FROM accounts WHERE address = ANY($1::bytea[])`;

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
