import { setImmediate } from 'node:timers';
import type pg from 'pg';
import { codeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import type { Database } from '#drivers/store/database.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { ImportedAccountRow } from '#drivers/store/write/accounts.js';
import { importedAccountRow } from '#drivers/store/write/imported-account.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { Clock } from '#kernel/clock.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import type { DetectionChain, UnindexedAccount } from '#services/indexer/contracts/detect-protocol.js';

/** Get-methods of a code that are not stored yet. */
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

interface WantedAccount {
  readonly address: Address;
  readonly resolve: (state: Promise<ContractAccount | null>) => void;
  readonly reject: (error: unknown) => void;
}

const ACTIVE = 1;
const SELECT_ACCOUNTS = `SELECT address, status, balance, extra_currencies, last_trans_lt, mc_seqno, gen_utime, code_hash, data_hash,
    data_boc, incomplete
  FROM accounts WHERE address = ANY($1::bytea[])`;

export interface ContractAccountsModules {
  readonly database: Database;
  readonly codes: ContractCodes;
  readonly chain: Pick<DetectionChain, 'account'>;
}

/**
 * States of accounts for one detection batch: each is read once, and concurrent reads share one query. Accounts that are not
 * indexed are read from the chain.
 */
export class ContractAccounts {
  readonly #modules: ContractAccountsModules;
  readonly #known = new Map<string, Promise<ContractAccount | null>>();
  readonly #codes = new Map<string, ContractCode>();
  readonly #unindexed: ContractAccount[] = [];
  readonly #newMethods: NewMethods[] = [];
  #wanted: WantedAccount[] = [];

  constructor(modules: ContractAccountsModules) {
    this.#modules = modules;
  }

  /** The accounts that are not indexed. */
  get unindexed(): readonly ContractAccount[] {
    return this.#unindexed;
  }

  get newMethods(): readonly NewMethods[] {
    return this.#newMethods;
  }

  /** Null: the account does not exist. @throws store/*, chain/*, lite/* */
  get(address: Address): Promise<ContractAccount | null> {
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

  async #rows(wanted: readonly WantedAccount[]): Promise<ReadonlyMap<string, AccountRow>> {
    const values = [wanted.map(({ address }) => addressBytes(address))];
    const rows = await this.#query<AccountRow>({ name: 'contract-accounts', text: SELECT_ACCOUNTS, values });
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
      if (this.#codes.has(hash)) continue;
      const known = codes.get(hash);
      // Codes that are references to libraries may have come without their get-methods since.
      if (known === undefined || known.library !== null) missing.set(hash, code_hash);
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

  #state(row: AccountRow): ContractAccount {
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
      unindexed: null,
    };
  }

  async #askFor(address: Address): Promise<ContractAccount | null> {
    const { chain, codes } = this.#modules;
    const account = await chain.account(addressBytes(address));
    if (account === null) return null;
    const state = await unindexedContractAccount(address, account, codes);
    if (state !== null) this.#noteUnindexed(state);
    return state;
  }

  #noteUnindexed(state: ContractAccount): void {
    this.#unindexed.push(state);
    const { code_hash, running } = state;
    if (code_hash === null || running === null || running.code.library === null || !running.code.isWhole) return;
    this.#newMethods.push({ code_hash, methods: running.code.methods });
  }
}

/** The newest known state of an account. */
export interface ContractAccount {
  readonly address: Address;
  readonly balance: bigint;
  readonly extra_currencies: readonly (readonly [id: number, amount: bigint])[];
  readonly last_trans_lt: bigint;
  readonly mc_seqno: number;
  readonly gen_utime: number;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
  /** Null: it cannot run, because it has no code or is frozen. */
  readonly running: { readonly code: ContractCode; readonly data: Cell } | null;
  /** Whether a part of its code or data is not known yet. */
  readonly incomplete: boolean;
  /** Set for an account that is not indexed: the state as read from the chain. */
  readonly unindexed: UnindexedAccount | null;
}

/** Decodes a state read from the chain; null: `account_none`. @throws tlb/*, cells/* */
export async function unindexedContractAccount(
  address: Address,
  unindexed: UnindexedAccount,
  codes: ContractCodes,
): Promise<ContractAccount | null> {
  const account = decodeCell(Account, parseBocRoot(unindexed.boc));
  if (account.kind === 'account_none') return null;
  const { balance, state } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  const { last_trans_lt, mc_seqno, gen_utime } = unindexed;
  const code = init?.code ?? null;
  const data = init?.data ?? null;
  const hash = code === null ? '' : toHex(code.hash());
  return {
    address,
    balance: balance.grams,
    extra_currencies: [...balance.other],
    ...{ last_trans_lt, mc_seqno, gen_utime },
    code_hash: code?.hash() ?? null,
    data_hash: data?.hash() ?? null,
    running:
      code === null
        ? null
        : {
            code: codes.get(hash) ?? (await codes.add(hash, code, serializeBoc(code).length)),
            data: data ?? EMPTY_CELL,
          },
    incomplete: false,
    unindexed,
  };
}

/** The rows of an account that is not indexed; null: `account_none`. */
export function unindexedAccountRow({ address, unindexed }: ContractAccount): ImportedAccountRow | null {
  return importedAccountRow(addressBytes(address), parseBocRoot(unindexed!.boc), unindexed!);
}

/** A code, and what detection knows about it. */
export interface ContractCode {
  readonly cell: Cell;
  /** Lower-case hexadecimal. */
  readonly hash: string;
  /** For a library cell: the hash of the library. */
  readonly library: Uint8Array | null;
  /** Ids of its get-methods; null: it has no readable method dictionary. */
  readonly methods: readonly number[] | null;
  /** False for a library cell whose library is not published. */
  readonly isWhole: boolean;
}

const CODES_BYTES = 64 * 2 ** 20;

/** LRU cache of codes by hash. */
export class ContractCodes {
  readonly #kept = new LruByBytes<ContractCode>(CODES_BYTES);
  readonly #libraries: PublishedLibraryCache;

  constructor(libraries: PublishedLibraryCache) {
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

const LIBRARIES_BYTES = 32 * 2 ** 20;
/** A published library is read again after this; an absent one sooner. */
const REFRESH_LIBRARY_MS = 600_000;
const REFRESH_ABSENT_LIBRARY_MS = 10_000;

interface CachedLibrary {
  readonly cell: Promise<Cell | null>;
  anewAt: number;
}

/** LRU cache of libraries published on the masterchain. */
export class PublishedLibraryCache {
  readonly #chain: Pick<DetectionChain, 'library'>;
  readonly #clock: Clock;
  readonly #kept = new LruByBytes<CachedLibrary>(LIBRARIES_BYTES);

  constructor(chain: Pick<DetectionChain, 'library'>, clock: Clock) {
    this.#chain = chain;
    this.#clock = clock;
  }

  /** Null: not published. @throws chain/*, lite/* */
  find(hash: Uint8Array): Promise<Cell | null> {
    const key = toHex(hash);
    const now = this.#clock.now();
    const known = this.#kept.get(key);
    if (known !== undefined && known.anewAt > now) return known.cell;
    const reading = this.#chain.library(hash);
    const kept: CachedLibrary = {
      cell: reading.then((boc) => (boc === null ? null : parseBocRoot(boc))),
      anewAt: now + REFRESH_LIBRARY_MS,
    };
    this.#kept.set(key, kept, 1024);
    reading.then(
      (boc) => {
        if (boc === null) kept.anewAt = now + REFRESH_ABSENT_LIBRARY_MS;
        else this.#kept.set(key, kept, 2 * boc.length);
      },
      () => {
        kept.anewAt = 0;
      },
    );
    kept.cell.catch(() => {});
    return kept.cell;
  }
}
