import { AccountStatusCode } from '#drivers/store/encode/account-status.js';
import { accountOf } from '#formats/address/msg-address.js';
import type { CellTable } from '#formats/cells/cell-table.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { MsgAddressInt } from '#formats/tlb/msg-address.js';
import { CellCursor } from '#services/indexer/rows/cell-cursor.js';

const NONE = -1;

/**
 * What the index needs of an account's state, read from cells of which some may be pruned; read again and again into the same
 * object. Agrees with the codec `Account`.
 */
export class AccountReader {
  status: AccountStatusCode = AccountStatusCode.nonexist;
  balance = 0n;
  /** By currency id; null for none, and when some are pruned. */
  extra_currencies: ReadonlyMap<number, bigint> | null = null;
  /** The dictionary of other currencies where some of it is pruned, as a line of the table; -1: it is not. */
  pruned_extra = NONE;
  /** Lines of the table; -1: none. */
  code = NONE;
  data = NONE;
  frozen_hash: Uint8Array | null = null;
  readonly #cursor = new CellCursor();

  /**
   * @throws as the codec `Account`; cells/pruned-branch when the account itself is pruned
   */
  read(table: CellTable, index: number): void {
    const cursor = this.#cursor.open(table, index);
    this.balance = 0n;
    this.extra_currencies = null;
    this.pruned_extra = NONE;
    this.code = NONE;
    this.data = NONE;
    this.frozen_hash = null;
    if (cursor.uint(1) === 0) {
      this.status = AccountStatusCode.nonexist;
      return;
    }
    this.#skipAddress(cursor);
    cursor.skipVarUint(3); // storage_used$_ cells:(VarUInteger 7) bits:(VarUInteger 7)
    cursor.skipVarUint(3);
    const extra = cursor.uint(3);
    if (extra > 1) decodeCell(Account, table.cell(index));
    cursor.skip(extra === 1 ? 256 + 32 : 32); // dict_hash last_paid
    if (cursor.uint(1) === 1) cursor.skipVarUint(4); // due_payment
    cursor.skip(64); // last_trans_lt
    this.balance = cursor.varUint(4);
    if (cursor.peek(1) === 1) this.#readExtra(cursor);
    else cursor.skip(1);
    this.#readState(cursor);
  }

  #skipAddress(cursor: CellCursor): void {
    if (cursor.peek(3) === 0b100) {
      cursor.skip(3 + 8 + 256);
      return;
    }
    const slice = cursor.slice();
    const before = slice.remainingBits;
    accountOf(MsgAddressInt.load(slice));
    cursor.skip(before - slice.remainingBits);
  }

  #readExtra(cursor: CellCursor): void {
    const slice = cursor.slice();
    cursor.skip(1);
    const root = cursor.nextRef();
    if (cursor.table.levelMask[root] !== 0) this.pruned_extra = root;
    else this.extra_currencies = new Map(ExtraCurrencyCollection.load(slice));
  }

  #readState(cursor: CellCursor): void {
    if (cursor.uint(1) === 0) {
      if (cursor.uint(1) === 0) {
        this.status = AccountStatusCode.uninit;
        return;
      }
      this.status = AccountStatusCode.frozen;
      this.frozen_hash = cursor.take(32);
      return;
    }
    this.status = AccountStatusCode.active;
    if (cursor.uint(1) === 1) cursor.skip(5); // fixed_prefix_length
    if (cursor.uint(1) === 1) cursor.skip(2); // special
    if (cursor.uint(1) === 1) this.code = cursor.nextRef();
    if (cursor.uint(1) === 1) this.data = cursor.nextRef();
  }
}
