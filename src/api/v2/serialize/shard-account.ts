import { v2Errors } from '#api/v2/errors.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { AccountStateRead } from '#services/chain/account-state.js';

/** `account_none$0 = Account;` */
const NO_ACCOUNT = new Builder().storeBit(false).endCell();
const NO_HASH = new Uint8Array(32);

/**
 * `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;` of a read.
 * @throws v2/no-workchain
 */
export function shardAccountCell(read: AccountStateRead, address: Address): Cell {
  if (read.shard_block === null) {
    throw v2Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  const { cell, last_transaction } = read;
  return new Builder()
    .storeRef(cell ?? NO_ACCOUNT)
    .storeBytes(last_transaction?.hash ?? NO_HASH)
    .storeUint(last_transaction?.lt ?? 0n, 64)
    .endCell();
}
