import { once } from 'node:events';
import type { ClientBase } from 'pg';
import pg from 'pg';
import { from } from 'pg-copy-streams';

/** Rows go to the socket in pieces: PostgreSQL holds each in memory as a whole, and back-pressure acts per piece. */
const PIECE_BYTES = 256 * 1024;

/**
 * Copies rows into a table, inside the transaction of the caller. While the database is busy, no further chunks are taken.
 * After an error the connection is ready for `ROLLBACK`, whether the database refused the rows or the chunks threw.
 *
 * @param chunks the bytes of {@link CopyRows.finish}, cut anywhere
 * @returns the number of rows
 */
export async function copyBinary(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  const names = columns.map(pg.escapeIdentifier).join(', ');
  const stream = client.query(from(`COPY ${pg.escapeIdentifier(table)} (${names}) FROM STDIN (FORMAT binary)`));
  let refusal: Error | null = null;
  stream.on('error', (error) => {
    refusal ??= error;
  });
  const check = () => {
    if (refusal !== null) throw refusal;
  };
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        check();
        // Rejects, as the one below, when the database refuses the rows.
        if (!stream.write(chunk.subarray(at, at + PIECE_BYTES))) await once(stream, 'drain');
      }
    }
    check();
    stream.end();
    await once(stream, 'finish');
    return stream.rowCount;
  } catch (error) {
    // After a refusal the connection is free already. Otherwise COPY has to be ended.
    if (refusal === null) {
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.destroy(error instanceof Error ? error : undefined);
      await closed;
    }
    throw error;
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Signature, flags, length of an extension. */
const HEADER_BYTES = SIGNATURE.length + 8;
const END_OF_ROWS = -1;
const NULL = -1;
const BYTEA_OID = 17;
const INT8_OID = 20;
const INT4_OID = 23;
const TEXT_OID = 25;
const JSONB_VERSION = 1;
const NUMERIC_NEGATIVE = 0x4000;
/** Digits of `numeric` have the base 10,000. */
const BASE = 10_000n;
/** Values that fit into a number are divided as numbers. */
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Rows in the binary format of `COPY`, in one buffer that grows. Start each row with {@link row}, then write its fields in
 * column order, each by the method of its column type; `null` is a field as well.
 *
 * Fields are not checked against the table: PostgreSQL refuses a field of a wrong width and a row of a wrong length.
 */
export class CopyRows {
  #bytes: Buffer;
  #view: DataView;
  #at = HEADER_BYTES;
  #rows = 0;

  /** @param bytes initial size of the buffer */
  constructor(bytes = 1 << 20) {
    this.#bytes = Buffer.alloc(Math.max(bytes, 1024));
    this.#view = viewOf(this.#bytes);
    this.#bytes.set(SIGNATURE);
  }

  /** Rows since the last {@link reset}. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes written. */
  get length(): number {
    return this.#at;
  }

  /** Starts a row of so many fields. */
  row(fields: number): void {
    this.#reserve(2);
    this.#view.setInt16(this.#at, fields);
    this.#at += 2;
    this.#rows++;
  }

  bool(value: boolean | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(5);
    this.#view.setInt32(this.#at, 1);
    this.#bytes[this.#at + 4] = value ? 1 : 0;
    this.#at += 5;
  }

  int2(value: number | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(6);
    this.#view.setInt32(this.#at, 2);
    this.#view.setInt16(this.#at + 4, value);
    this.#at += 6;
  }

  int4(value: number | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(8);
    this.#view.setInt32(this.#at, 4);
    this.#view.setInt32(this.#at + 4, value);
    this.#at += 8;
  }

  /** @param value a number is an integer up to 2^53 */
  int8(value: bigint | number | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(12);
    this.#view.setInt32(this.#at, 8);
    this.#putInt8(value, this.#at + 4);
    this.#at += 12;
  }

  bytea(value: Uint8Array | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const { length } = value;
    this.#reserve(4 + length);
    this.#view.setInt32(this.#at, length);
    this.#bytes.set(value, this.#at + 4);
    this.#at += 4 + length;
  }

  text(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const most = value.length * 3;
    this.#reserve(4 + most);
    const length = this.#bytes.write(value, this.#at + 4, most, 'utf8');
    this.#view.setInt32(this.#at, length);
    this.#at += 4 + length;
  }

  /** @param value text in JSON */
  jsonb(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const most = value.length * 3;
    this.#reserve(5 + most);
    const length = this.#bytes.write(value, this.#at + 5, most, 'utf8');
    this.#view.setInt32(this.#at, 1 + length);
    this.#bytes[this.#at + 4] = JSONB_VERSION;
    this.#at += 5 + length;
  }

  /** An array of one dimension without nulls. */
  int8Array(values: readonly bigint[] | null): void {
    if (!this.#array(INT8_OID, values, () => 8)) return;
    for (const value of values) this.int8(value);
  }

  /** As {@link int8Array}. */
  int4Array(values: readonly number[] | null): void {
    if (!this.#array(INT4_OID, values, () => 4)) return;
    for (const value of values) this.int4(value);
  }

  /** As {@link int8Array}. */
  byteaArray(values: readonly Uint8Array[] | null): void {
    if (!this.#array(BYTEA_OID, values, ({ length }) => length)) return;
    for (const value of values) this.bytea(value);
  }

  /** As {@link int8Array}. */
  textArray(values: readonly string[] | null): void {
    if (!this.#array(TEXT_OID, values, (value) => Buffer.byteLength(value))) return;
    for (const value of values) this.text(value);
  }

  /** An integer of any size as numeric. */
  numeric(value: bigint | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const digits = digitsOf(value < 0n ? -value : value);
    const count = digits.length;
    this.#reserve(12 + 2 * count);
    const view = this.#view;
    view.setInt32(this.#at, 8 + 2 * count);
    view.setInt16(this.#at + 4, count);
    view.setInt16(this.#at + 6, count === 0 ? 0 : count - 1);
    view.setInt16(this.#at + 8, value < 0n ? NUMERIC_NEGATIVE : 0);
    view.setInt16(this.#at + 10, 0);
    this.#at += 12;
    for (let i = count - 1; i >= 0; i--) {
      view.setInt16(this.#at, digits[i]!);
      this.#at += 2;
    }
  }

  /** All rows with header and trailer; a view that is valid until the next write. */
  finish(): Uint8Array {
    this.#reserve(2);
    this.#view.setInt16(this.#at, END_OF_ROWS);
    return this.#bytes.subarray(0, this.#at + 2);
  }

  /** Drops all rows and keeps the buffer. */
  reset(): void {
    this.#at = HEADER_BYTES;
    this.#rows = 0;
  }

  /** The header of an array of one dimension (an empty one has no dimension), or null. @returns whether items follow */
  #array<Item>(
    oid: number,
    values: readonly Item[] | null,
    bytesOf: (value: Item) => number,
  ): values is readonly Item[] {
    if (values === null) {
      this.#null();
      return false;
    }
    const dimensions = values.length === 0 ? 0 : 1;
    const head = 12 + dimensions * 8;
    this.#reserve(4 + head);
    const length = values.reduce((bytes, value) => bytes + 4 + bytesOf(value), head);
    this.#view.setInt32(this.#at, length);
    this.#view.setInt32(this.#at + 4, dimensions);
    this.#view.setInt32(this.#at + 8, 0);
    this.#view.setInt32(this.#at + 12, oid);
    if (dimensions === 1) {
      this.#view.setInt32(this.#at + 16, values.length);
      this.#view.setInt32(this.#at + 20, 1);
    }
    this.#at += 4 + head;
    return dimensions === 1;
  }

  #null(): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, NULL);
    this.#at += 4;
  }

  #putInt8(value: bigint | number, at: number): void {
    if (typeof value === 'bigint') {
      this.#view.setBigInt64(at, value);
      return;
    }
    this.#view.setInt32(at, Math.floor(value / 2 ** 32));
    this.#view.setUint32(at + 4, value);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Digits to the base 10,000, the lowest first; none for zero. */
function digitsOf(value: bigint): number[] {
  const digits: number[] = [];
  let rest = value;
  for (; rest > SAFE; rest /= BASE) digits.push(Number(rest % BASE));
  for (let low = Number(rest); low > 0; low = Math.floor(low / 10_000)) digits.push(low % 10_000);
  return digits;
}
