import type { CellTable } from '#formats/cells/cell-table.js';
import { putBit } from '#formats/cells/dict-bits.js';
import { DictLabel } from '#formats/cells/dict-label.js';
import { forkError, tooLarge, type VisitBudget, visitBudget } from '#formats/cells/dict-walk.js';
import { AccountBlock } from '#formats/tlb/account-block.js';
import { BlockExtra } from '#formats/tlb/block-extra.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { CellCursor, int64Of } from '#services/indexer/rows/cell-cursor.js';

/** An account's part of a block. */
export interface AccountTransactions {
  /** 32 bytes: the address without workchain. */
  readonly account: Uint8Array;
  /** Cells of its transactions by rising lt, as lines of the block's table; at least one. */
  readonly cells: readonly number[];
  readonly lts: readonly bigint[];
}

const ACCOUNT_BITS = 256;
const LT_BITS = 64;
const ACC_TRANS = 5;

/**
 * Finds the transactions of a block without decoding more than leads to them. Agrees with the codec `ShardAccountBlocks`.
 *
 * @param extra the block's `BlockExtra`, a cell of `table`
 * @throws cells/*, tlb/* as the codec
 */
export function accountTransactions(table: CellTable, extra: number): AccountTransactions[] {
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
  readonly #found: AccountTransactions[] = [];

  constructor(table: CellTable) {
    this.#table = table;
    this.#budget = visitBudget(table.cell(0), undefined);
    this.#limit = this.#budget.left;
  }

  run(extra: number): AccountTransactions[] {
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

  /** A node of the transactions that begins where the cursor stands: the root of them is inline. */
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
