import type { StateFields } from '#drivers/store/encode/state-summary.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import type { CellTable, TableCell } from '#formats/cells/cell-table.js';
import { lookup } from '#formats/cells/dict-lookup.js';
import { DictWalk } from '#formats/cells/dict-walk.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import { AccountReader } from '#services/indexer/rows/account-reader.js';
import { CellCursor } from '#services/indexer/rows/cell-cursor.js';
import type { AccountData } from '#services/indexer/rows/round-rows.js';

/** An account in a shard state of which some cells may be pruned. */
export interface FoundAccount extends StateFields {
  /** Its `hash(0)` is the hash of the state. */
  readonly cell: Cell;
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  readonly data: AccountData;
  /** The dictionary of other currencies, when some of it is pruned. */
  readonly pruned_extra: Cell | null;
  /** The code, when all of it is there. */
  readonly code: Cell | null;
}

const ACCOUNT_BITS = 256;
const NO_DATA: AccountData = { kind: 'none' };
const UNCHANGED: AccountData = { kind: 'unchanged' };
const reader = new AccountReader();
const cursor = new CellCursor();

/**
 * The accounts of a shard state whose cells are lines of a table: of a whole state, or of one side of the update in a block.
 */
export class StateAccounts {
  /** `ShardAccounts`: pruned where no account of the state is another than before. */
  readonly #accounts: Cell;
  /** The dictionary; null when it is empty, undefined as long as nobody asked. */
  #root: Cell | null | undefined;

  /** @param state the root cell of a `ShardStateUnsplit` @throws cells/pruned-branch, cells/slice-* */
  constructor(state: Cell) {
    const slice = openCell(state);
    slice.loadRef(); // out_msg_queue_info
    this.#accounts = slice.loadRef();
  }

  /** @param id 32 bytes @throws cells/pruned-branch when the state does not show where it would be */
  find(id: Uint8Array): FoundAccount | null {
    const leaf = lookup(this.#dictionary(), ACCOUNT_BITS, id);
    return leaf === null ? null : readShardAccount(leaf);
  }

  /** All accounts by id. */
  *all(): Generator<readonly [id: Uint8Array, account: FoundAccount]> {
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
function readShardAccount(leaf: Slice): FoundAccount {
  const { table, index } = leaf.cell as TableCell;
  cursor.open(table, index);
  cursor.skip(leaf.bitOffset + 5); // the label, split_depth
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
