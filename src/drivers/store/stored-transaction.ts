import { codeMethods } from '#domain/contracts/code-methods.js';
import { storeErrors } from '#drivers/store/errors.js';
import type { MessageFacts } from '#drivers/store/read/index-types.js';
import type { CodeRow } from '#drivers/store/tables.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot, readBocHeader } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { BuiltCell } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { decodeCell, type Lazy } from '#formats/tlb/codec/codec.js';
import { type Message, messageBody, messageBodyCell, normalizedExternalHash } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { uint64At } from '#kernel/bytes.js';

/** Codes of fewer bytes stay in the transaction: reading them from elsewhere would cost more than it saves. */
const SHARED_FROM = 128;
/** `serialized_boc#b5ee9c72`: no index, no checksum. */
const MAGIC = [0xb5, 0xee, 0x9c, 0x72];

/**
 * Writes transactions in their stored form: a byte with the number of shared cells (codes that messages deploy, which are stored
 * once for all transactions), the index of each of them in the bag of cells (2 bytes), and a bag of cells without index and
 * checksum. In the bag a shared cell is a pruned branch of level 1: its hash and its depth.
 *
 * Cells are in depth-first order, the last reference first, so equal transactions have equal bytes.
 */
export class TransactionWriter {
  /** Codes that were left out, each once, by their hash as a binary string. */
  readonly #codes = new Map<string, CodeRow>();
  #table: CellTable | null = null;
  /** For each cell of the table: in which pass it was last visited, and its number. */
  #seen = new Uint32Array(0);
  #places = new Uint32Array(0);
  /** Level masks, with the shared cells below taken as pruned. */
  #masks = new Uint8Array(0);
  #hasMerkle = false;
  #turn = 0;
  /** Cells in the order of the walk: children first. */
  readonly #lines: number[] = [];
  #shared: readonly number[] = [];
  #out = new Uint8Array(4096);

  /** The codes that are left out of the transactions written so far. */
  get codes(): readonly CodeRow[] {
    return [...this.#codes.values()];
  }

  /** Adds a code unless it is known. */
  addCode(cell: Cell): void {
    const hash = cell.hash();
    const key = keyOf(hash);
    if (!this.#codes.has(key)) this.#codes.set(key, codeRow(cell));
  }

  /**
   * @param codes table indexes of codes that messages of the transaction deploy; large ones are left out
   */
  write(table: CellTable, root: number, codes: readonly number[] = []): Uint8Array {
    if (table !== this.#table) this.#take(table);
    this.#shared = codes.length === 0 ? codes : this.#choose(table, codes);
    this.#number(root);
    // Below a Merkle cell a pruned branch would mean another cell.
    if (this.#hasMerkle && this.#shared.length > 0) {
      this.#shared = [];
      this.#number(root);
    }
    return this.#serialize(table, root);
  }

  #number(root: number): void {
    this.#turn++;
    this.#lines.length = 0;
    this.#hasMerkle = false;
    this.#walk(root);
  }

  #take(table: CellTable): void {
    this.#table = table;
    if (this.#seen.length < table.count) {
      this.#seen = new Uint32Array(table.count * 2);
      this.#places = new Uint32Array(table.count * 2);
      this.#masks = new Uint8Array(table.count * 2);
    } else this.#seen.fill(0, 0, table.count);
    this.#turn = 0;
  }

  /** The codes to leave out. */
  #choose(table: CellTable, codes: readonly number[]): readonly number[] {
    const chosen: number[] = [];
    for (const line of codes) {
      if (chosen.includes(line) || table.levelMask[line] !== 0) continue;
      this.#turn++;
      if (this.#weigh(table, line, 0) < SHARED_FROM) continue;
      chosen.push(line);
      this.addCode(table.cell(line));
    }
    return chosen;
  }

  /** Bytes of the distinct cells of a code; stops counting at the threshold. */
  #weigh(table: CellTable, line: number, before: number): number {
    if (before >= SHARED_FROM || this.#seen[line] === this.#turn) return before;
    this.#seen[line] = this.#turn;
    let bytes = before + 2 + ((table.bitLength[line]! + 7) >> 3) + table.refCount[line]!;
    for (let r = line * 4, end = r + table.refCount[line]!; r < end; r++) {
      bytes = this.#weigh(table, table.refs[r]!, bytes);
    }
    return bytes;
  }

  #walk(line: number): void {
    this.#seen[line] = this.#turn;
    const table = this.#table!;
    let mask = table.levelMask[line]!;
    if (this.#shared.length > 0 && this.#shared.includes(line)) {
      mask = 1;
    } else {
      const type = table.type[line]!;
      if (type === CellType.merkleProof || type === CellType.merkleUpdate) this.#hasMerkle = true;
      const first = line * 4;
      for (let r = first + table.refCount[line]! - 1; r >= first; r--) {
        const child = table.refs[r]!;
        if (this.#seen[child] !== this.#turn) this.#walk(child);
        if (type === 0) mask |= this.#masks[child]!;
      }
    }
    this.#masks[line] = mask;
    this.#places[line] = this.#lines.push(line) - 1;
  }

  #serialize(table: CellTable, root: number): Uint8Array {
    const lines = this.#lines;
    const count = lines.length;
    const shared = this.#shared;
    const refSize = count < 256 ? 1 : count < 65_536 ? 2 : 4;
    let cellBytes = 0;
    for (const line of lines) {
      if (shared.length > 0 && shared.includes(line)) cellBytes += 2 + 36;
      else cellBytes += 2 + ((table.bitLength[line]! + 7) >> 3) + table.refCount[line]! * refSize;
    }
    const offsetSize = cellBytes < 65_536 ? 2 : 4;
    const total = 1 + shared.length * 2 + 6 + refSize * 4 + offsetSize + cellBytes;
    if (this.#out.length < total) this.#out = new Uint8Array(total * 2);
    const out = this.#out;
    let at = 0;
    out[at++] = shared.length;
    for (const line of shared) at = putNumber(out, at, count - 1 - this.#places[line]!, 2);
    for (const byte of MAGIC) out[at++] = byte;
    out[at++] = refSize;
    out[at++] = offsetSize;
    at = putNumber(out, at, count, refSize);
    at = putNumber(out, at, 1, refSize);
    at = putNumber(out, at, 0, refSize);
    at = putNumber(out, at, cellBytes, offsetSize);
    at = putNumber(out, at, count - 1 - this.#places[root]!, refSize);
    for (let i = count - 1; i >= 0; i--) {
      const line = lines[i]!;
      at =
        shared.length > 0 && shared.includes(line)
          ? this.#putPruned(out, at, table, line)
          : this.#putCell(out, at, table, line, refSize, count - 1);
    }
    return out.slice(0, at);
  }

  #putCell(out: Uint8Array, start: number, table: CellTable, line: number, refSize: number, last: number): number {
    let at = start;
    const refs = table.refCount[line]!;
    const bits = table.bitLength[line]!;
    const length = (bits + 7) >> 3;
    out[at++] = refs | (table.type[line] === 0 ? 0 : 8) | (this.#masks[line]! << 5);
    out[at++] = (bits >> 3) + length;
    const { bytes } = table;
    for (let from = table.dataStart[line]!, to = at + length; at < to; ) out[at++] = bytes[from++]!;
    for (let r = line * 4, end = r + refs; r < end; r++) {
      const place = last - this.#places[table.refs[r]!]!;
      if (refSize === 1) out[at++] = place;
      else at = putNumber(out, at, place, refSize);
    }
    return at;
  }

  #putPruned(out: Uint8Array, start: number, table: CellTable, line: number): number {
    const depth = table.depth(line, 3);
    out[start] = 0x28; // exotic, level 1
    out[start + 1] = 72;
    out[start + 2] = CellType.prunedBranch;
    out[start + 3] = 1;
    out.set(table.hash(line, 3), start + 4);
    out[start + 36] = depth >> 8;
    out[start + 37] = depth;
    return start + 38;
  }
}

/** A hash as a map key. */
function keyOf(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

function putNumber(out: Uint8Array, at: number, value: number, size: number): number {
  let rest = value;
  for (let i = at + size - 1; i >= at; i--) {
    out[i] = rest;
    rest >>>= 8;
  }
  return at + size;
}

/** A transaction as it is stored: its cells, with a pruned branch in the place of each code that is stored apart. */
export class StoredTransaction {
  /** Its `hash(0)` is the hash of the transaction. */
  readonly root: TableCell;
  readonly #places: readonly number[] = [];

  /** @param stored the column `boc` @throws store/stored-value, cells/boc-* */
  constructor(stored: Uint8Array) {
    const shared = stored[0] ?? 0;
    const start = 1 + shared * 2;
    if (stored.length <= start) throw wrong('ends too early');
    this.root = parseBocRoot(stored.subarray(start)) as TableCell;
    if (shared === 0) return;
    const { table } = this.root;
    const places: number[] = [];
    for (let at = 1; at < start; at += 2) {
      const place = (stored[at]! << 8) | stored[at + 1]!;
      if (place >= table.count || table.type[place] !== CellType.prunedBranch) {
        throw wrong(`cell ${place} is not a pruned branch`);
      }
      places.push(place);
    }
    this.#places = places;
  }

  /** Hashes of the codes that are stored apart. */
  get sharedCodes(): Uint8Array[] {
    return this.#places.map((place) => this.root.table.hash(place, 0));
  }

  /**
   * Its cells with the codes in their places.
   *
   * @param code returns the code with a hash; for null, that stays a pruned branch
   */
  whole(code: (hash: Uint8Array) => Cell | null): Cell {
    if (this.#places.length === 0) return this.root;
    const { table, index } = this.root;
    const filled = new Map<number, Cell>();
    for (const place of this.#places) {
      const cell = code(table.hash(place, 0));
      if (cell !== null) filled.set(place, cell);
    }
    return filled.size === 0 ? this.root : fill(table, index, filled);
  }
}

/** Hashes of the codes that a stored transaction leaves out. @throws store/stored-value */
export function sharedCodes(stored: Uint8Array): Uint8Array[] {
  return stored[0] === 0 ? [] : new StoredTransaction(stored).sharedCodes;
}

/**
 * The cells of a stored transaction.
 *
 * @param code returns a code that the transaction leaves out. For null, the code stays a pruned branch, and the hash of the
 *   transaction is `hash(0)`.
 * @throws store/stored-value, cells/boc-*
 */
export function loadTransaction(stored: Uint8Array, code: (hash: Uint8Array) => Cell | null): Cell {
  return new StoredTransaction(stored).whole(code);
}

/** The cell with the codes filled in; subtrees without one stay as they are. */
function fill(table: CellTable, line: number, filled: Map<number, Cell>): Cell {
  const known = filled.get(line);
  if (known !== undefined) return known;
  let cell: Cell = table.cell(line);
  if (table.levelMask[line] !== 0 && table.type[line] === 0) {
    const refs: Cell[] = [];
    for (let r = line * 4, end = r + cell.refCount; r < end; r++) refs.push(fill(table, table.refs[r]!, filled));
    const start = cell.dataOffset;
    const bytes = cell.bytes.subarray(start, start + ((cell.bits + 7) >> 3));
    const whole = refs.every((ref) => ref.levelMask === 0);
    cell = whole
      ? BuiltCell.withHash(bytes, cell.bits, refs, false, cell.hash(0), cell.depth(0))
      : new BuiltCell(bytes, cell.bits, refs, false);
  }
  filled.set(line, cell);
  return cell;
}

function wrong(problem: string): Error {
  return storeErrors['stored-value']({ column: 'boc', problem });
}

/** Fields of the root cell of a transaction. */
export interface TransactionHead {
  /** 32 bytes. */
  readonly account_addr: Uint8Array;
  readonly prev_trans_hash: Uint8Array;
  readonly prev_trans_lt: bigint;
  /** Whether the account did not exist before, and after it. */
  readonly wasNonexist: boolean;
  readonly isNonexist: boolean;
}

/** `transaction$0111 account_addr:bits256 lt:uint64 prev_trans_hash:bits256 prev_trans_lt:uint64 now:uint32 outmsg_cnt:uint15 orig_status:(2 bits) end_status:(2 bits)` */
const AT = { account: 4, prevHash: 4 + 256 + 64, prevLt: 4 + 256 + 64 + 256 };
const STATUS_BYTE = (4 + 256 + 64 + 256 + 64 + 32 + 15) >> 3;
const NONEXIST = 3;

/**
 * Reads the root cell of a stored transaction (the column `boc`) without its other cells.
 * @throws store/stored-value, cells/boc-*
 */
export function transactionHead(stored: Uint8Array): TransactionHead {
  const boc = stored.subarray(1 + (stored[0] ?? 0) * 2);
  const header = readBocHeader(boc);
  const data = boc.subarray(header.cellsStart + 2);
  // The writer puts the root first; transaction$0111.
  if (header.roots[0] !== 0 || data.length < 92 || data[0]! >> 4 !== 7 || (boc[header.cellsStart]! & 0x10) !== 0) {
    throw storeErrors['stored-value']({ column: 'boc', problem: 'its first cell is not a transaction' });
  }
  const lt = nibbles(data, AT.prevLt, 8);
  // Bits 691 to 694: the fourth of byte 86 and the three behind it.
  const statuses = (data[STATUS_BYTE]! >> 1) & 15;
  return {
    account_addr: nibbles(data, AT.account, 32),
    prev_trans_hash: nibbles(data, AT.prevHash, 32),
    prev_trans_lt: uint64At(lt, 0),
    wasNonexist: statuses >> 2 === NONEXIST,
    isNonexist: (statuses & 3) === NONEXIST,
  };
}

/** Bytes from a bit offset that is 4 modulo 8. */
function nibbles(data: Uint8Array, bit: number, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let i = 0, from = bit >> 3; i < length; i++, from++) out[i] = (data[from]! << 4) | (data[from + 1]! >> 4);
  return out;
}

/** A message in a stored transaction, decoded lazily. */
export class StoredMessage implements MessageFacts {
  readonly #message: Lazy<Message>;
  /** 0: the in-message; n: the n-th out-message. */
  readonly position: number;

  constructor(message: Lazy<Message>, position: number) {
    this.#message = message;
    this.position = position;
  }

  get hash(): Uint8Array {
    return this.#message.cell.hash(0);
  }
  /** Its hash, and of an external-in message also the normalized one (TEP-467). */
  get hashes(): readonly Uint8Array[] {
    const { value } = this.#message;
    return this.isExternalIn ? [this.hash, normalizedExternalHash(value)] : [this.hash];
  }
  get bodyHash(): Uint8Array {
    return messageBodyCell(this.#message.value).hash(0);
  }
  get isExternalIn(): boolean {
    return this.#message.value.info.kind === 'ext_in_msg_info';
  }
  get isExternalOut(): boolean {
    return this.#message.value.info.kind === 'ext_out_msg_info';
  }
  get source(): Address | null {
    return accountOf(this.#message.value.info.src);
  }
  get destination(): Address | null {
    return accountOf(this.#message.value.info.dest);
  }
  /** The first 32 bits of the body, unsigned; null where it is shorter or no ordinary cell. */
  get opcode(): number | null {
    const { body } = this.#message.value;
    if (body.kind === 'right' && body.value.type !== 0) return null;
    const slice = messageBody(this.#message.value);
    return slice.remainingBits < 32 ? null : slice.loadUint(32);
  }
}

/** The messages of a stored transaction. Codes that are stored apart are not needed: pruned branches have their hashes. */
export class StoredMessages {
  readonly stored: StoredTransaction;
  readonly #transaction: Transaction;

  constructor(stored: Uint8Array) {
    this.stored = new StoredTransaction(stored);
    this.#transaction = decodeCell(Transaction, this.stored.root);
  }

  /** Of the transaction. */
  get hash(): Uint8Array {
    return this.stored.root.hash(0);
  }
  get received(): StoredMessage | null {
    const { in_msg } = this.#transaction;
    return in_msg === null ? null : new StoredMessage(in_msg, 0);
  }
  get sent(): readonly StoredMessage[] {
    return [...this.#transaction.out_msgs].map(([key, message]) => new StoredMessage(message, key + 1));
  }
  /** The message at a position as `messages.position` has it; null when there is none. */
  at(position: number): StoredMessage | null {
    if (position === 0) return this.received;
    const message = this.#transaction.out_msgs.get(position - 1);
    return message === undefined ? null : new StoredMessage(message, position);
  }
}

/** The row of a code, be it the code itself or a library reference. */
export function codeRow(code: Cell): CodeRow {
  const isReference = code.type === CellType.libraryReference;
  return {
    code_hash: code.hash().slice(),
    boc: serializeBoc(code),
    methods: isReference ? null : codeMethods(code),
    methods_read: !isReference,
  };
}
