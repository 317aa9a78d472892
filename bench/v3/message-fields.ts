import type { CellTable } from '#formats/cells/cell-table.js';
import { bitAt, readBits } from '#formats/cells/dict-label.js';

/** Where the fields of a message are that differ from one message to another like it: bits of the bag of cells. */
export interface MessageFields {
  readonly kind: 'internal' | 'external-in' | 'external-out';
  /** The account ids, without workchain; null: there is none. */
  readonly source: number | null;
  readonly destination: number | null;
  /** 64 bits, followed by the 32 of created_at; null for external-in messages. */
  readonly created_lt: number | null;
  /** 64 bits that make the body unlike others: query_id, part of a comment, or part of a signature. */
  readonly token: { readonly bit: number; readonly isText: boolean } | null;
  /** The first 32 bits of the body. */
  readonly opcode: number | null;
}

const TOKEN_BITS = 64;

/** Finds the fields of a message; null for one of a rare form. */
export function messageFields(table: CellTable, line: number): MessageFields | null {
  const reader = new BitReader(table, line);
  let source: number | null = null;
  let destination: number | null = null;
  let created_lt: number | null = null;
  let kind: MessageFields['kind'] = 'internal';
  const isInternal = reader.take(1) === 0;
  const isOut = !isInternal && reader.take(1) === 1;
  if (isInternal) {
    reader.take(3);
    source = reader.account();
    destination = reader.account();
    reader.amount();
    if (reader.take(1) === 1) return null;
    reader.amount();
    reader.amount();
    if (source === null || destination === null) return null;
  } else if (!isOut) {
    kind = 'external-in';
    if (reader.take(2) !== 0) return null;
    destination = reader.account();
    reader.amount();
    if (destination === null) return null;
  } else {
    kind = 'external-out';
    source = reader.account();
    if (source === null) return null;
    const tag = reader.take(2);
    if (tag > 1) return null;
    if (tag === 1) reader.skip(reader.take(9));
  }
  if (kind !== 'external-in') {
    created_lt = reader.at;
    reader.skip(64 + 32);
  }
  if (reader.take(1) === 1 && reader.take(1) === 0) return null;
  const body = reader.take(1) === 1 ? new BitReader(table, table.refs[line * 4 + table.refCount[line]! - 1]!) : reader;
  const found = { kind, source, destination, created_lt };
  if (kind === 'external-in') {
    return { ...found, token: body.left < 512 ? null : { bit: body.at, isText: false }, opcode: null };
  }
  if (body.left < 32) return { ...found, token: null, opcode: null };
  const opcode = body.take(16) * 65_536 + body.take(16);
  return { ...found, token: body.left < TOKEN_BITS ? null : { bit: body.at, isText: opcode === 0 }, opcode };
}

/** Reads the data of a cell, bit by bit. */
class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  at: number;

  constructor(table: CellTable, line: number) {
    this.#bytes = table.bytes;
    this.at = table.dataStart[line]! * 8;
    this.#end = this.at + table.bitLength[line]!;
  }

  get left(): number {
    return this.#end - this.at;
  }

  take(bits: number): number {
    const value = bits === 1 ? bitAt(this.#bytes, this.at) : readBits(this.#bytes, this.at, bits);
    this.at += bits;
    return value;
  }

  skip(bits: number): void {
    this.at += bits;
  }

  amount(): void {
    this.skip(this.take(4) * 8);
  }

  /** Of `addr_std` in the basechain the bit where the account id begins. */
  account(): number | null {
    if (this.take(3) !== 0b100 || this.take(8) !== 0) return null;
    const at = this.at;
    this.skip(256);
    return at;
  }
}
