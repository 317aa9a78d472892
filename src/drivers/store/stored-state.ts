import { storeErrors } from '#drivers/store/errors.js';
import type { AccountStatusName, StateSummary } from '#drivers/store/read/index-types.js';

/** An account state without code and data, as it is written. */
export interface StateFields {
  readonly status: AccountStatusCode;
  readonly balance: bigint;
  /** By currency id; null: none, or not known. */
  readonly extra_currencies: ReadonlyMap<number, bigint> | null;
  /** Hash of the extra currency dictionary, when the block contains nothing else of it. */
  readonly extra_hash: Uint8Array | null;
  readonly frozen_hash: Uint8Array | null;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

const HAS_CODE = 4;
const HAS_DATA = 8;
const HAS_FROZEN = 16;
const HAS_EXTRA = 32;
const HAS_EXTRA_HASH = 64;
/** Buffer for a state without extra currencies. */
const scratch = new Uint8Array(256);

/**
 * The column `state_after`: a byte with the status (2 bits) and flags (code, data, frozen hash, extra currencies), the balance
 * (length, bytes), the hashes that the flags announce (of code, data, frozen state, extra currency dictionary), and the extra
 * currencies (count, then id, length, bytes of each).
 */
export function encodeState(state: StateFields): Uint8Array {
  const { code_hash, data_hash, frozen_hash, extra_hash, extra_currencies: extra } = state;
  const out = extra === null ? scratch : new Uint8Array(256 + extra.size * 40);
  out[0] =
    state.status |
    (code_hash === null ? 0 : HAS_CODE) |
    (data_hash === null ? 0 : HAS_DATA) |
    (frozen_hash === null ? 0 : HAS_FROZEN) |
    (extra === null ? 0 : HAS_EXTRA) |
    (extra_hash === null ? 0 : HAS_EXTRA_HASH);
  let at = putAmount(out, 1, state.balance);
  if (code_hash !== null) at = put(out, at, code_hash);
  if (data_hash !== null) at = put(out, at, data_hash);
  if (frozen_hash !== null) at = put(out, at, frozen_hash);
  if (extra_hash !== null) at = put(out, at, extra_hash);
  if (extra !== null) {
    at = putUint32(out, at, extra.size);
    for (const [id, amount] of extra) at = putAmount(out, putUint32(out, at, id), amount);
  }
  return out.slice(0, at);
}

/** An account state as it is stored. */
export interface StoredState extends StateSummary {
  readonly extra_currencies: ReadonlyMap<number, bigint>;
  /** Not null: there are extra currencies in a dictionary of this hash, and they are not known. */
  readonly extra_hash: Uint8Array | null;
}

/** The inverse of {@link encodeState}. @throws store/stored-value */
export function decodeState(bytes: Uint8Array): StoredState {
  const reader = new StateReader(bytes);
  const flags = reader.byte();
  const balance = reader.amount();
  const code_hash = (flags & HAS_CODE) === 0 ? null : reader.take(32);
  const data_hash = (flags & HAS_DATA) === 0 ? null : reader.take(32);
  const frozen_hash = (flags & HAS_FROZEN) === 0 ? null : reader.take(32);
  const extra_hash = (flags & HAS_EXTRA_HASH) === 0 ? null : reader.take(32);
  const extra_currencies = new Map<number, bigint>();
  if ((flags & HAS_EXTRA) !== 0) {
    for (let left = reader.uint32(); left > 0; left--) extra_currencies.set(reader.uint32(), reader.amount());
  }
  reader.end();
  return { status: accountStatusName(flags), balance, extra_currencies, extra_hash, frozen_hash, code_hash, data_hash };
}

function put(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let i = 0; i < 32; i++) out[at + i] = bytes[i]!;
  return at + 32;
}

function putUint32(out: Uint8Array, at: number, value: number): number {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
  return at + 4;
}

function putAmount(out: Uint8Array, at: number, amount: bigint): number {
  let length = 0;
  for (let rest = amount; rest > 0n; rest >>= 8n) length++;
  out[at] = length;
  let rest = amount;
  for (let i = at + length; i > at; i--) {
    out[i] = Number(rest & 255n);
    rest >>= 8n;
  }
  return at + 1 + length;
}

class StateReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  uint32(): number {
    const [a, b, c, d] = this.take(4) as unknown as [number, number, number, number];
    return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  }

  amount(): bigint {
    let value = 0n;
    for (const byte of this.take(this.byte())) value = (value << 8n) | BigInt(byte);
    return value;
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw this.#wrong(`ends before byte ${end}`);
    const part = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return part;
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw this.#wrong(`continues after byte ${this.#at}`);
  }

  #wrong(problem: string): Error {
    return storeErrors['stored-value']({ column: 'state_after', problem });
  }
}

/** Account status as a number, in columns and in {@link encodeState}. */
export const AccountStatusCode = { uninit: 0, active: 1, frozen: 2, nonexist: 3 } as const;
export type AccountStatusCode = (typeof AccountStatusCode)[AccountStatusName];

const NAMES: readonly AccountStatusName[] = ['uninit', 'active', 'frozen', 'nonexist'];

/** The name of a status in a column. */
export function accountStatusName(code: number): AccountStatusName {
  return NAMES[code & 3]!;
}
