import { AccountStatusCode, type StateFields } from '#drivers/store/stored-state.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { DictWalk, lookup } from '#formats/cells/dict-read.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { accountOf, MsgAddressInt } from '#formats/tlb/msg-address.js';
import type { AccountData } from '#services/indexer/rows/bundle-rows.js';
import { CellCursor } from '#services/indexer/rows/cell-cursor.js';

const NONE = -1;

/**
 * Reads the fields of an account state that the index needs, from cells that may be partly pruned, into this reused object.
 * A second reader besides the codec `Account`, for speed: see the README. `test/corpus/index-rows.long.test.ts` compares both.
 */
export class AccountCellReader {
  status: AccountStatusCode = AccountStatusCode.nonexist;
  balance = 0n;
  /** By currency id; null when there are none, or when some are pruned. */
  extra_currencies: ReadonlyMap<number, bigint> | null = null;
  /** Cell index of the extra currency dictionary if it is partly pruned; -1: it is not. */
  pruned_extra = NONE;
  /** Cell indexes; -1: none. */
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

/** An account in a shard state that may be partly pruned. */
export interface ShardAccountState extends StateFields {
  /** Its `hash(0)` is the account state hash. */
  readonly cell: Cell;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly data: AccountData;
  /** The extra currency dictionary, when it is partly pruned. */
  readonly pruned_extra: Cell | null;
  /** The code, when it is complete. */
  readonly code: Cell | null;
}

const ACCOUNT_BITS = 256;
const NO_DATA: AccountData = { kind: 'none' };
const UNCHANGED: AccountData = { kind: 'unchanged' };
const reader = new AccountCellReader();
const cursor = new CellCursor();

/**
 * The accounts of a shard state in one cell table: a complete state, or one side of the Merkle update of a block.
 */
export class ShardStateAccounts {
  /** `ShardAccounts`: pruned if no account changed. */
  readonly #accounts: Cell;
  /** The dictionary; null when empty, undefined until first used. */
  #root: Cell | null | undefined;

  /** @param state the root cell of a `ShardStateUnsplit` @throws cells/pruned-branch, cells/slice-* */
  constructor(state: Cell) {
    const slice = openCell(state);
    slice.loadRef(); // out_msg_queue_info
    this.#accounts = slice.loadRef();
  }

  /** @param id 32 bytes @throws cells/pruned-branch when the path to the account is pruned */
  find(id: Uint8Array): ShardAccountState | null {
    const leaf = lookup(this.#dictionary(), ACCOUNT_BITS, id);
    return leaf === null ? null : readShardAccount(leaf);
  }

  /** All accounts by id. */
  *all(): Generator<readonly [id: Uint8Array, account: ShardAccountState]> {
    const walk = new DictWalk(this.#dictionary(), ACCOUNT_BITS);
    while (walk.next()) yield [walk.key.slice(), readShardAccount(walk.value())];
  }

  #dictionary(): Cell | null {
    if (this.#root === undefined) {
      const accounts = openCell(this.#accounts);
      this.#root = accounts.loadBit() ? accounts.loadRef() : null;
    }
    return this.#root;
  }
}

/** `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64`, behind its `DepthBalanceInfo`. */
function readShardAccount(leaf: Slice): ShardAccountState {
  const { table, index } = leaf.cell as TableCell;
  return readAccountLeaf(table, index, leaf.bitOffset);
}

/**
 * Reads an account from its leaf in `ShardAccounts`.
 *
 * @param labelBits bits of the leaf before its `DepthBalanceInfo`
 */
export function readAccountLeaf(table: CellTable, index: number, labelBits: number): ShardAccountState {
  cursor.open(table, index);
  cursor.skip(labelBits + 5); // the label, split_depth
  cursor.skipCurrencies();
  const account = cursor.nextRef();
  const last_trans_hash = cursor.take(32);
  const last_trans_lt = cursor.int64();
  reader.read(table, account);
  const { status, balance, extra_currencies, pruned_extra, frozen_hash, code, data } = reader;
  return {
    cell: table.cell(account),
    status,
    balance,
    extra_currencies,
    extra_hash: pruned_extra < 0 ? null : table.hash(pruned_extra, 0),
    pruned_extra: pruned_extra < 0 ? null : table.cell(pruned_extra),
    frozen_hash,
    code_hash: code < 0 ? null : table.hash(code, 0),
    data_hash: data < 0 ? null : table.hash(data, 0),
    last_trans_lt,
    last_trans_hash,
    data: dataAt(table, data),
    code: code < 0 || table.levelMask[code] !== 0 ? null : table.cell(code),
  };
}

function dataAt(table: CellTable, data: number): AccountData {
  if (data < 0) return NO_DATA;
  if (table.levelMask[data] === 0) return { kind: 'whole', cell: table.cell(data) };
  return table.type[data] === CellType.prunedBranch ? UNCHANGED : { kind: 'partial', cell: table.cell(data) };
}
