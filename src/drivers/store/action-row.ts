import type { DetailField, DetailFields, FieldKinds } from '#domain/actions/action-type.js';
import { storeErrors } from '#drivers/store/errors.js';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';

/*
 * The column `actions.data`, in bytes:
 *
 *   format, flags, action_id (32), parent_action_id (32, if there is one), start_lt, end_lt - start_lt, start_utime,
 *   end_utime - start_utime (integers), hashes of the transactions (a count, then 32 each), participants (a count, then addresses),
 *   details (a record).
 *
 * A record is a bit for each field, whether it has a value, and the values. A count is LEB128. An integer is a byte with its length
 * and, in the highest bit, its sign, then its absolute value, big-endian. An address that stands in the row already is its number
 * from 1 in one byte; a new one is 0 and 33 bytes, or 255 and 36 bytes (see addressBytes). Everything else of variable length is a
 * count and bytes. BoCs are as API v3 writes them.
 */

type ScalarKind = keyof FieldKinds;

/** A field of the details of a type, as its rows have it. */
interface LayoutField {
  readonly name: string;
  readonly kind: ScalarKind | 'record' | 'list';
  /** Of a record or of the items of a list. */
  readonly fields: ActionLayout;
}

/** The fields of the details of a type in their order: how its rows are encoded. */
export type ActionLayout = readonly LayoutField[];

/** JSON of a layout: the kind of each field by name, of a record its fields, of a list its fields in an array. */
type LayoutJson = { readonly [name: string]: ScalarKind | LayoutJson | readonly [LayoutJson] };

/** The layout that follows from the declaration of a type. */
export function layoutOf(fields: DetailFields): ActionLayout {
  return Object.entries<DetailField>(fields).map(([name, field]) => ({
    name,
    kind: field.kind,
    fields: 'fields' in field ? layoutOf(field.fields) : [],
  }));
}

/** The column `action_layouts.fields`. */
export function layoutText(layout: ActionLayout): string {
  const json = (fields: ActionLayout): LayoutJson =>
    Object.fromEntries(
      fields.map(({ name, kind, fields: inner }) => [
        name,
        kind === 'record' ? json(inner) : kind === 'list' ? ([json(inner)] as const) : kind,
      ]),
    );
  return JSON.stringify(json(layout));
}

/** The opposite of {@link layoutText}. */
export function layoutOfText(text: string): ActionLayout {
  const read = (json: LayoutJson): ActionLayout =>
    Object.entries(json).map(([name, value]) => {
      if (typeof value === 'string') return { name, kind: value, fields: [] };
      if (Array.isArray(value)) return { name, kind: 'list', fields: read((value as readonly [LayoutJson])[0]) };
      return { name, kind: 'record', fields: read(value as LayoutJson) };
    });
  return read(JSON.parse(text));
}

/** What a row of an action says besides its columns. */
export interface StoredAction {
  readonly action_id: Uint8Array;
  readonly parent_action_id: Uint8Array | null;
  readonly success: boolean | null;
  readonly start_lt: bigint;
  readonly end_lt: bigint;
  /** Unix seconds. */
  readonly start_utime: number;
  readonly end_utime: number;
  /** Hashes. */
  readonly transactions: readonly Uint8Array[];
  /** Participants. */
  readonly accounts: readonly Address[];
  /** By field; BoCs are bytes when they were read. */
  readonly details: ActionFields;
}

/** The details of an action: values of the kinds of their fields, null where there is none. */
export type ActionFields = Readonly<Record<string, unknown>>;

const FORMAT = 1;
const SUCCESS = [null, false, true] as const;
const HAS_PARENT = 4;
const NEW_ADDRESS = 0;
const NEW_LONG_ADDRESS = 255;
/** Addresses of a row that have a number. */
const MOST_NUMBERED = 254;

/** Encodes the column `data`. */
export function encodeAction(action: StoredAction, layout: ActionLayout): Uint8Array {
  const writer = new RowWriter();
  writer.byte(FORMAT);
  writer.byte(SUCCESS.indexOf(action.success) | (action.parent_action_id === null ? 0 : HAS_PARENT));
  writer.raw(action.action_id);
  if (action.parent_action_id !== null) writer.raw(action.parent_action_id);
  writer.integer(action.start_lt);
  writer.integer(action.end_lt - action.start_lt);
  writer.integer(BigInt(action.start_utime));
  writer.integer(BigInt(action.end_utime - action.start_utime));
  writer.count(action.transactions.length);
  for (const hash of action.transactions) writer.raw(hash);
  writer.count(action.accounts.length);
  for (const account of action.accounts) writer.address(account);
  writer.record(layout, action.details);
  return writer.finish();
}

/** The opposite of {@link encodeAction}. @throws store/stored-value */
export function decodeAction(data: Uint8Array, layout: ActionLayout): StoredAction {
  const reader = new RowReader(data);
  if (reader.byte() !== FORMAT) throw wrong('its first byte is not 1');
  const flags = reader.byte();
  const action_id = reader.raw(32);
  const parent_action_id = (flags & HAS_PARENT) === 0 ? null : reader.raw(32);
  const start_lt = reader.integer();
  const end_lt = start_lt + reader.integer();
  const start_utime = Number(reader.integer());
  const end_utime = start_utime + Number(reader.integer());
  const transactions = Array.from({ length: reader.count(32) }, () => reader.raw(32));
  const accounts = Array.from({ length: reader.count(1) }, () => reader.address());
  const details = reader.record(layout);
  reader.end();
  const success = SUCCESS[flags & 3] ?? null;
  const times = { start_lt, end_lt, start_utime, end_utime };
  return { action_id, parent_action_id, success, ...times, transactions, accounts, details };
}

class RowWriter {
  #bytes = new Uint8Array(512);
  #at = 0;
  readonly #numbers = new Map<string, number>();

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  count(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest & 127) | 128);
    this.byte(rest);
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length);
    this.raw(bytes);
  }

  integer(value: bigint): void {
    const isNegative = value < 0n;
    let hex = value === 0n ? '' : (isNegative ? -value : value).toString(16);
    if (hex.length % 2 === 1) hex = `0${hex}`;
    this.byte((hex.length >> 1) | (isNegative ? 128 : 0));
    this.raw(Buffer.from(hex, 'hex'));
  }

  address(address: Address): void {
    const raw = address.toRaw();
    const number = this.#numbers.get(raw);
    if (number !== undefined) {
      this.byte(number);
      return;
    }
    if (this.#numbers.size < MOST_NUMBERED) this.#numbers.set(raw, this.#numbers.size + 1);
    const bytes = addressBytes(address);
    this.byte(bytes.length === 33 ? NEW_ADDRESS : NEW_LONG_ADDRESS);
    this.raw(bytes);
  }

  record(layout: ActionLayout, values: ActionFields): void {
    const present = layout.map(({ name, kind }) => hasValue(kind, values[name]));
    for (let i = 0; i < present.length; i += 8) {
      let bits = 0;
      for (let bit = 0; bit < 8; bit++) if (present[i + bit] === true) bits |= 1 << bit;
      this.byte(bits);
    }
    for (const [i, { name, kind, fields }] of layout.entries()) {
      if (!present[i]) continue;
      const value = values[name];
      if (kind === 'record') this.record(fields, value as ActionFields);
      else if (kind === 'list') {
        const items = value as readonly ActionFields[];
        this.count(items.length);
        for (const item of items) this.record(fields, item);
      } else (WRITERS[kind] as (writer: RowWriter, value: unknown) => void)(this, value);
    }
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + bytes));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }
}

function hasValue(kind: LayoutField['kind'], value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (kind === 'currencies') return (value as ReadonlyMap<number, bigint>).size > 0;
  return kind !== 'list' || (value as readonly unknown[]).length > 0;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const WITH_CRC = { crc32c: true } as const;

type WrittenKind<Kind extends ScalarKind> = FieldKinds[Kind] extends Cell ? Cell | Uint8Array : FieldKinds[Kind];

const WRITERS: { readonly [Kind in ScalarKind]: (writer: RowWriter, value: WrittenKind<Kind>) => void } = {
  address: (writer, value) => writer.address(value),
  addresses: (writer, value) => {
    writer.count(value.length);
    for (const each of value) writer.address(each);
  },
  amount: (writer, value) => writer.integer(value),
  integer: (writer, value) => writer.integer(BigInt(value)),
  flag: (writer, value) => writer.byte(value ? 1 : 0),
  text: (writer, value) => writer.bytes(encoder.encode(value)),
  hex: (writer, value) => writer.bytes(value),
  hash: (writer, value) => writer.bytes(value),
  opcode: (writer, value) => writer.integer(BigInt(value)),
  boc: (writer, value) => writer.bytes(value instanceof Uint8Array ? value : serializeBoc(value, WITH_CRC)),
  bare_boc: (writer, value) => writer.bytes(value instanceof Uint8Array ? value : serializeBoc(value)),
  currencies: (writer, value) => {
    writer.count(value.size);
    for (const [id, amount] of value) {
      writer.count(id);
      writer.integer(amount);
    }
  },
};

class RowReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  readonly #addresses: Address[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    if (this.#at >= this.#bytes.length) throw this.#ended();
    return this.#bytes[this.#at++]!;
  }

  raw(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw this.#ended();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** @param least bytes of each that is counted */
  count(least: number): number {
    let value = 0;
    let scale = 1;
    let byte = 128;
    for (; byte > 127 && scale < 2 ** 49; scale *= 128) {
      byte = this.byte();
      value += (byte & 127) * scale;
    }
    if (byte > 127 || value * least > this.#bytes.length - this.#at) throw this.#ended();
    return value;
  }

  bytes(): Uint8Array {
    return this.raw(this.count(1));
  }

  integer(): bigint {
    const head = this.byte();
    const bytes = this.raw(head & 127);
    const value = bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
    return head > 127 ? -value : value;
  }

  address(): Address {
    const number = this.byte();
    if (number !== NEW_ADDRESS && number !== NEW_LONG_ADDRESS) {
      const known = this.#addresses[number - 1];
      if (known === undefined) throw wrong(`address ${number} does not stand before byte ${this.#at}`);
      return known;
    }
    const address = addressOfBytes(this.raw(number === NEW_ADDRESS ? 33 : 36));
    if (this.#addresses.length < MOST_NUMBERED) this.#addresses.push(address);
    return address;
  }

  record(layout: ActionLayout): ActionFields {
    const bits = this.raw((layout.length + 7) >> 3);
    const values: Record<string, unknown> = {};
    for (let i = 0; i < layout.length; i++) {
      const { name, kind, fields } = layout[i]!;
      if ((bits[i >> 3]! & (1 << (i & 7))) === 0) {
        values[name] = withoutValue(kind, fields);
      } else if (kind === 'record') values[name] = this.record(fields);
      else if (kind === 'list') {
        // A record without a field has no bytes, and no type has such a list.
        values[name] = Array.from({ length: this.count(1) }, () => this.record(fields));
      } else values[name] = READERS[kind](this);
    }
    return values;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw wrong(`${this.#bytes.length - this.#at} bytes are left over`);
  }

  #ended(): Error {
    return wrong(`ends before byte ${this.#at}`);
  }
}

const NO_CURRENCIES: ReadonlyMap<number, bigint> = new Map();

/** Records, lists and currencies are never null. */
function withoutValue(kind: LayoutField['kind'], fields: ActionLayout): unknown {
  if (kind === 'list') return [];
  if (kind === 'currencies') return NO_CURRENCIES;
  if (kind !== 'record') return null;
  return Object.fromEntries(fields.map((field) => [field.name, withoutValue(field.kind, field.fields)]));
}

const READERS: { readonly [Kind in ScalarKind]: (reader: RowReader) => FieldKinds[Kind] | Uint8Array } = {
  address: (reader) => reader.address(),
  addresses: (reader) => Array.from({ length: reader.count(1) }, () => reader.address()),
  amount: (reader) => reader.integer(),
  integer: (reader) => Number(reader.integer()),
  flag: (reader) => reader.byte() === 1,
  text: (reader) => decoder.decode(reader.bytes()),
  hex: (reader) => reader.bytes(),
  hash: (reader) => reader.bytes(),
  opcode: (reader) => Number(reader.integer()),
  boc: (reader) => reader.bytes(),
  bare_boc: (reader) => reader.bytes(),
  currencies: (reader) => {
    const count = reader.count(2);
    return new Map(Array.from({ length: count }, () => [reader.count(0), reader.integer()] as const));
  },
};

function wrong(problem: string): Error {
  return storeErrors['stored-value']({ column: 'actions.data', problem });
}
