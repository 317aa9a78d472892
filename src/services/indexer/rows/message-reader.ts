import { hashKey } from '#drivers/store/keys.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import { copyBits } from '#formats/cells/dict-bits.js';
import { sha256Into } from '#formats/cells/sha256.js';
import { isAccountZero, readAddressKey } from '#services/indexer/rows/address-key.js';
import { CellCursor } from '#services/indexer/rows/cell-cursor.js';

/** d1 d2, up to 128 bytes of data, 4 depths, 4 hashes. */
const scratch = new Uint8Array(2 + 128 + 8 + 128);
const digest = new Uint8Array(32);
const NONE = -1;

/**
 * What the index needs of a message, read from the cells of a block; read again and again into the same object.
 * Agrees with the codec `Message`, which reads everything and takes ten times as long.
 */
export class MessageReader {
  kind: 'int_msg_info' | 'ext_in_msg_info' | 'ext_out_msg_info' = 'int_msg_info';
  /** Whether account zero of the masterchain is its source, which is that of the validators' messages. */
  fromZero = false;
  source_key: bigint | null = null;
  destination_key: bigint | null = null;
  created_lt: bigint | null = null;
  created_at: number | null = null;
  /** The first 32 bits of the body, signed. */
  opcode: number | null = null;
  body_key = 0n;
  /** Of an external message whose normalised hash is not its hash. */
  norm_key: bigint | null = null;
  /** The code and the data that the message deploys, as lines of the table; -1: none. */
  code = NONE;
  data = NONE;
  readonly #cursor = new CellCursor();
  readonly #part = new CellCursor();

  /** @throws as the codec `Message` */
  read(table: CellTable, index: number): void {
    const cursor = this.#cursor.open(table, index);
    this.#readInfo(cursor);
    this.#readInit(cursor);
    if (cursor.uint(1) === 0) this.#readInlineBody(cursor);
    else this.#readBody(table, cursor.nextRef());
    this.norm_key = this.kind === 'ext_in_msg_info' ? this.#normKey(table, index) : null;
  }

  #dest = 0;
  #destEnd = 0;
  #readInfo(cursor: CellCursor): void {
    this.fromZero = false;
    this.created_lt = null;
    this.created_at = null;
    const external = cursor.uint(1) === 1;
    if (!external) {
      this.kind = 'int_msg_info';
      cursor.skip(3); // ihr_disabled bounce bounced
      this.fromZero = isAccountZero(cursor);
      this.source_key = readAddressKey(cursor);
      this.destination_key = readAddressKey(cursor);
      cursor.skipCurrencies();
      cursor.skipVarUint(4); // extra_flags
      cursor.skipVarUint(4); // fwd_fee
    } else if (cursor.uint(1) === 0) {
      this.kind = 'ext_in_msg_info';
      this.source_key = readAddressKey(cursor);
      this.#dest = cursor.at;
      this.destination_key = readAddressKey(cursor);
      this.#destEnd = cursor.at;
      cursor.skipVarUint(4); // import_fee
      return;
    } else {
      this.kind = 'ext_out_msg_info';
      this.source_key = readAddressKey(cursor);
      this.destination_key = readAddressKey(cursor);
    }
    this.created_lt = cursor.int64();
    this.created_at = cursor.uint(32);
  }

  /** `init:(Maybe (Either StateInit ^StateInit))` */
  #readInit(cursor: CellCursor): void {
    this.code = NONE;
    this.data = NONE;
    if (cursor.uint(1) === 0) return;
    if (cursor.uint(1) === 0) this.#readStateInit(cursor);
    else this.#readStateInit(this.#part.open(cursor.table, cursor.nextRef()));
  }

  #readStateInit(cursor: CellCursor): void {
    if (cursor.uint(1) === 1) cursor.skip(5); // fixed_prefix_length
    if (cursor.uint(1) === 1) cursor.skip(2); // special
    if (cursor.uint(1) === 1) this.code = cursor.nextRef();
    if (cursor.uint(1) === 1) this.data = cursor.nextRef();
    if (cursor.uint(1) === 1) cursor.nextRef(); // library
  }

  #readBody(table: CellTable, index: number): void {
    this.body_key = hashKey(table.hash(index, 3));
    const ordinary = table.type[index] === 0 && table.bitLength[index]! >= 32;
    this.opcode = ordinary ? this.#part.open(table, index).uint(32) | 0 : null;
    this.#body = index;
  }
  /** The cell of the body; -1: it is inline. */
  #body = NONE;

  /** The rest of the message's cell is the body: its hash is that of a cell of its own. */
  #readInlineBody(cursor: CellCursor): void {
    const bits = cursor.end - cursor.at;
    this.opcode = bits >= 32 ? cursor.peek(32) | 0 : null;
    this.#body = NONE;
    copyBits(scratch, 16, cursor.bytes, cursor.at, bits);
    hashScratch(bits, cursor.table, cursor.ref, cursor.refEnd);
    this.body_key = hashKey(digest);
  }

  /**
   * The key of the normalised hash (TEP-467): source `addr_none`, import fee 0, no init, the body in a reference.
   * Follows `normalizedExternalHash`; called right after the body was read.
   */
  #normKey(table: CellTable, index: number): bigint | null {
    const inline = this.#body === NONE;
    const bodyHash = inline ? digest.slice() : table.hash(this.#body, 3);
    const bodyDepth = inline ? scratchDepth : table.depth(this.#body, 3);
    const length = this.#destEnd - this.#dest;
    scratch[2] = 0b1000_0000; // ext_in_msg_info$10 src:addr_none$00
    copyBits(scratch, 20, table.bytes, this.#dest, length);
    const after = 20 + length;
    for (let bit = 0; bit < 6; bit++) {
      // import_fee:0000 init:0 body:1
      const mask = 0x80 >> ((after + bit) & 7);
      if (bit < 5) scratch[(after + bit) >> 3]! &= ~mask;
      else scratch[(after + bit) >> 3]! |= mask;
    }
    let at = padScratch(10 + length, 1);
    scratch[at++] = bodyDepth >> 8;
    scratch[at++] = bodyDepth;
    scratch.set(bodyHash, at);
    sha256Into(scratch, at + 32, digest, 0);
    const hash = table.hash(index, 3);
    for (let i = 0; i < 32; i++) if (hash[i] !== digest[i]) return hashKey(digest);
    return null;
  }
}

let scratchDepth = 0;

/** Completes the cell whose data begins at byte 2 of the scratch, and hashes it. */
function hashScratch(bits: number, table: CellTable, from: number, to: number): void {
  let at = padScratch(bits, to - from);
  scratchDepth = 0;
  for (let r = from; r < to; r++) {
    const depth = table.depth(table.refs[r]!, 3);
    if (depth >= scratchDepth) scratchDepth = depth + 1;
    scratch[at++] = depth >> 8;
    scratch[at++] = depth;
  }
  for (let r = from; r < to; r++) {
    let hash = table.hashOffset(table.refs[r]!);
    const { hashBytes } = table;
    for (const end = at + 32; at < end; ) scratch[at++] = hashBytes[hash++]!;
  }
  sha256Into(scratch, at, digest, 0);
}

/** Writes both descriptors and the padding of an ordinary cell; returns the byte behind the data. */
function padScratch(bits: number, refs: number): number {
  const length = (bits + 7) >> 3;
  scratch[0] = refs;
  scratch[1] = (bits >> 3) + length;
  if ((bits & 7) !== 0) {
    const last = 1 + length;
    const mask = 0x80 >> (bits & 7);
    scratch[last] = (scratch[last]! & -(mask << 1)) | mask;
  }
  return 2 + length;
}
