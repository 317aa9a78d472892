import type { CellTable } from '#formats/cells/cell-table.js';
import { DictLabel } from '#formats/cells/dict-label.js';
import { forkError } from '#formats/cells/dict-walk.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { HASH_UPDATE } from '#formats/tlb/hash-update.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { CellCursor } from '#services/indexer/rows/cell-cursor.js';

const TRANSACTION = 0b0111;
const UPDATE_HASHES = 0x72;
const INDEX_BITS = 15;

/**
 * What the index needs of a transaction besides its messages, read from the cells of a block; read again and again into the
 * same object. Agrees with the codec `Transaction`.
 */
export class TransactionReader {
  lt = 0n;
  /** Unix seconds. */
  now = 0;
  /** The message that it received, as a line of the table; -1: none. */
  in_msg = -1;
  /** The messages that it sent, as lines of the table, and their numbers. */
  readonly out_msgs: number[] = [];
  readonly out_numbers: number[] = [];
  /** The line of its `HASH_UPDATE`. */
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
