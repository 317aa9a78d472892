import { accountKey, addressBytes, hashKey } from '#drivers/store/keys.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import { copyBits, DictLabel, putBit } from '#formats/cells/dict-label.js';
import { forkError, tooLarge, type VisitBudget, visitBudget } from '#formats/cells/dict-read.js';
import { sha256Into } from '#formats/cells/digests.js';
import { BlockExtra } from '#formats/tlb/block.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { accountOf, MsgAddress } from '#formats/tlb/msg-address.js';
import { AccountBlock, HASH_UPDATE, Transaction } from '#formats/tlb/transaction.js';
import { CellCursor, int64Of } from '#services/indexer/rows/cell-cursor.js';

/** An account's part of a block. */
export interface AccountBlockTransactions {
  /** 32 bytes: the address without workchain. */
  readonly account: Uint8Array;
  /** Cell indexes of its transactions by ascending lt; at least one. */
  readonly cells: readonly number[];
  readonly lts: readonly bigint[];
}

const ACCOUNT_BITS = 256;
const LT_BITS = 64;
const ACC_TRANS = 5;

/**
 * Finds the transactions of a block, decoding only the path to them. A second reader besides the codec `ShardAccountBlocks`,
 * for speed: see the README.
 *
 * @param extra cell index of the block's `BlockExtra`
 * @throws cells/*, tlb/* as the codec
 */
export function accountTransactions(table: CellTable, extra: number): AccountBlockTransactions[] {
  return new AccountBlocksWalk(table).run(extra);
}

class AccountBlocksWalk {
  readonly #table: CellTable;
  readonly #cursor = new CellCursor();
  readonly #label = new DictLabel();
  readonly #key = new Uint8Array(32);
  readonly #lt = new Uint8Array(8);
  readonly #budget: VisitBudget;
  readonly #limit: number;
  readonly #found: AccountBlockTransactions[] = [];

  constructor(table: CellTable) {
    this.#table = table;
    this.#budget = visitBudget(table.cell(0), undefined);
    this.#limit = this.#budget.left;
  }

  run(extra: number): AccountBlockTransactions[] {
    const table = this.#table;
    const cursor = this.#cursor.open(table, extra);
    if (cursor.uint(32) !== BlockExtra.line.tag || table.refCount[extra]! < 3)
      decodeCell(BlockExtra, table.cell(extra));
    cursor.open(table, table.refs[extra * 4 + 2]!);
    if (cursor.uint(1) === 1) this.#accounts(cursor.nextRef(), 0);
    return this.#found;
  }

  #accounts(index: number, depth: number): void {
    const below = this.#readLabel(index, this.#key, depth, ACCOUNT_BITS);
    if (below < ACCOUNT_BITS) {
      const first = this.#fork(index);
      for (let bit = 0; bit < 2; bit++) {
        putBit(this.#key, below, bit);
        this.#accounts(this.#table.refs[first + bit]!, below + 1);
      }
      return;
    }
    const cursor = this.#cursor;
    cursor.skipCurrencies();
    if (cursor.uint(4) !== ACC_TRANS) decodeCell(AccountBlock, this.#table.cell(index));
    cursor.skip(256); // account_addr, which is the key
    const cells: number[] = [];
    const lts: bigint[] = [];
    this.#transactionsAt(0, cells, lts);
    this.#found.push({ account: this.#key.slice(), cells, lts });
  }

  /** Reads a node of the transaction dictionary at the cursor: its root node is inline. */
  #transactionsAt(depth: number, cells: number[], lts: bigint[]): void {
    const cursor = this.#cursor;
    const { table, index, at, end, ref } = cursor;
    this.#label.read(cursor.bytes, at, end, LT_BITS - depth, table.dataStart[index]! * 8);
    cursor.at = this.#label.end;
    this.#label.copyTo(this.#lt, depth);
    const below = depth + this.#label.length;
    if (below === LT_BITS) {
      cursor.skipCurrencies();
      cells.push(cursor.nextRef());
      lts.push(ltOf(this.#lt));
      return;
    }
    if (cursor.refEnd - ref < 2) throw forkError(table.cell(index), end - cursor.at);
    for (let bit = 0; bit < 2; bit++) {
      putBit(this.#lt, below, bit);
      if (this.#budget.left-- === 0) throw tooLarge(this.#budget, this.#limit);
      cursor.open(table, table.refs[ref + bit]!);
      this.#transactionsAt(below + 1, cells, lts);
    }
  }

  #readLabel(index: number, key: Uint8Array, depth: number, keyBits: number): number {
    if (this.#budget.left-- === 0) throw tooLarge(this.#budget, this.#limit);
    const cursor = this.#cursor.open(this.#table, index);
    this.#label.read(cursor.bytes, cursor.at, cursor.end, keyBits - depth);
    cursor.at = this.#label.end;
    this.#label.copyTo(key, depth);
    return depth + this.#label.length;
  }

  #fork(index: number): number {
    const table = this.#table;
    if (table.refCount[index]! < 2) throw forkError(table.cell(index), this.#cursor.end - this.#cursor.at);
    return index * 4;
  }
}

function ltOf(key: Uint8Array): bigint {
  return int64Of(
    (key[0]! << 24) | (key[1]! << 16) | (key[2]! << 8) | key[3]!,
    (key[4]! << 24) | (key[5]! << 16) | (key[6]! << 8) | key[7]!,
  );
}

const TRANSACTION = 0b0111;
const UPDATE_HASHES = 0x72;
const INDEX_BITS = 15;

/**
 * Reads the fields of a transaction that the index needs, without its messages, into this reused object. A second reader
 * besides the codec `Transaction`, for speed: see the README.
 */
export class TransactionCellReader {
  lt = 0n;
  /** Unix seconds. */
  now = 0;
  /** Cell index of the inbound message; -1: none. */
  in_msg = -1;
  /** Cell indexes of the outbound messages, and their dictionary keys. */
  readonly out_msgs: number[] = [];
  readonly out_numbers: number[] = [];
  /** Cell index of its `HASH_UPDATE`. */
  state_update = 0;
  readonly #cursor = new CellCursor();
  readonly #part = new CellCursor();
  readonly #label = new DictLabel();

  /** @throws as the codec `Transaction` */
  read(table: CellTable, index: number): void {
    const cursor = this.#cursor.open(table, index);
    if (cursor.uint(4) !== TRANSACTION) decodeCell(Transaction, table.cell(index));
    cursor.skip(256); // account_addr
    this.lt = cursor.int64();
    cursor.skip(256 + 64); // prev_trans_hash prev_trans_lt
    this.now = cursor.uint(32);
    cursor.skip(15 + 2 + 2); // outmsg_cnt orig_status end_status
    this.#readMessages(table, cursor.nextRef());
    cursor.skipCurrencies();
    this.state_update = cursor.nextRef();
  }

  #readMessages(table: CellTable, index: number): void {
    const part = this.#part.open(table, index);
    this.in_msg = part.uint(1) === 1 ? part.nextRef() : -1;
    this.out_msgs.length = 0;
    this.out_numbers.length = 0;
    if (part.uint(1) === 1) this.#outMessages(table, part.nextRef(), INDEX_BITS, 0);
  }

  /** `HashmapE 15 ^(Message Any)` */
  #outMessages(table: CellTable, index: number, left: number, above: number): void {
    const part = this.#part.open(table, index);
    const label = this.#label;
    label.read(part.bytes, part.at, part.end, left);
    let key = above;
    for (let bit = 0; bit < label.length; bit++) key = key * 2 + label.bit(bit);
    const below = left - label.length;
    if (below === 0) {
      this.out_msgs.push(part.nextRef());
      this.out_numbers.push(key);
      return;
    }
    if (table.refCount[index]! < 2) throw forkError(table.cell(index), part.end - label.end);
    this.#outMessages(table, table.refs[index * 4]!, below - 1, key * 2);
    this.#outMessages(table, table.refs[index * 4 + 1]!, below - 1, key * 2 + 1);
  }

  /** The hash of the `Account` cell after the transaction; a view into the block. @throws as the codec `HASH_UPDATE` */
  stateHashAfter(table: CellTable): Uint8Array {
    const index = this.state_update;
    const at = table.dataStart[index]!;
    if (table.type[index] !== 0 || table.bitLength[index] !== 520 || table.bytes[at] !== UPDATE_HASHES) {
      return decodeCell(HASH_UPDATE, table.cell(index)).new_hash;
    }
    return table.bytes.subarray(at + 33, at + 65);
  }
}

/** d1 d2, up to 128 bytes of data, 4 depths, 4 hashes. */
const scratch = new Uint8Array(2 + 128 + 8 + 128);
const digest = new Uint8Array(32);
const NONE = -1;

/**
 * Reads the fields of a message that the index needs into this reused object. A second reader besides the codec `Message`,
 * for speed: see the README.
 */
export class MessageCellReader {
  kind: 'int_msg_info' | 'ext_in_msg_info' | 'ext_out_msg_info' = 'int_msg_info';
  /** Whether the source is account zero of the masterchain, as in system messages of validators. */
  fromAccountZero = false;
  source_key: bigint | null = null;
  destination_key: bigint | null = null;
  created_lt: bigint | null = null;
  created_at: number | null = null;
  /** First 32 bits of the body, signed; null when it is shorter. */
  opcode: number | null = null;
  body_key = 0n;
  /** Set for an external-in message whose normalised hash (TEP-467) differs from its hash. */
  norm_key: bigint | null = null;
  /** Cell indexes of the code and data of the message's StateInit; -1: none. */
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
    this.fromAccountZero = false;
    this.created_lt = null;
    this.created_at = null;
    const external = cursor.uint(1) === 1;
    if (!external) {
      this.kind = 'int_msg_info';
      cursor.skip(3); // ihr_disabled bounce bounced
      this.fromAccountZero = isAccountZero(cursor);
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
  /** Cell index of the body; -1: inline. */
  #body = NONE;

  /** The body is the rest of the message cell; its hash is that of a separate cell with these bits and references. */
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
   * Same result as `normalizedExternalHash`; called right after the body was read.
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

/** Completes the cell representation whose data starts at byte 2 of `scratch`, and hashes it into `digest`. */
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

/** Writes the descriptors and the padding of an ordinary cell; returns the offset after the data. */
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

const addressBuffer = new Uint8Array(33);
const addressDigest = new Uint8Array(32);

/** `addr_std$10 anycast:(Maybe Anycast)` without anycast. */
const STANDARD = 0b100;

/**
 * The account key of a message's source or destination; `null` for addr_none and external addresses. Moves the cursor behind
 * the address.
 */
function readAddressKey(cursor: CellCursor): bigint | null {
  if (cursor.peek(2) === 0) {
    cursor.skip(2);
    return null;
  }
  if (cursor.peek(3) === STANDARD) {
    cursor.skip(3);
    cursor.copy(addressBuffer, 0, 33);
    return keyOf(addressBuffer);
  }
  const slice = cursor.slice();
  const before = slice.remainingBits;
  const account = accountOf(MsgAddress.load(slice));
  cursor.skip(before - slice.remainingBits);
  return account === null ? null : accountKey(addressBytes(account));
}

/** Same as `accountKey` for a 33-byte address, without allocating a digest. */
function keyOf(address: Uint8Array): bigint {
  sha256Into(address, 33, addressDigest, 0);
  return int64Of(
    (addressDigest[0]! << 24) | (addressDigest[1]! << 16) | (addressDigest[2]! << 8) | addressDigest[3]!,
    (addressDigest[4]! << 24) | (addressDigest[5]! << 16) | (addressDigest[6]! << 8) | addressDigest[7]!,
  );
}

/** Whether the address at the cursor is account zero of the masterchain. */
function isAccountZero(cursor: CellCursor): boolean {
  if (cursor.peek(3) !== STANDARD) return false;
  const { at } = cursor;
  cursor.skip(3);
  let zero = cursor.uint(8) === 0xff;
  for (let word = 0; word < 8 && zero; word++) zero = cursor.uint(32) === 0;
  cursor.at = at;
  return zero;
}
