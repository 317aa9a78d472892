import { AccountStatusCode } from '#drivers/store/stored-state.js';
import { codeRow } from '#drivers/store/stored-transaction.js';
import type { ImportedAccountRow } from '#drivers/store/write/accounts.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';

/** Where a state that no indexed block has shown was read. */
export interface ImportedStateSource {
  /** Of `ShardAccount`; 0 and zeros for an account of a zerostate that never had a transaction. */
  readonly last_trans_lt: bigint;
  readonly last_trans_hash: Uint8Array;
  /** The masterchain block as of which the account has this state. */
  readonly mc_seqno: number;
  /** Unix time of the newest block of its shard by then. */
  readonly gen_utime: number;
}

const STATUS = {
  account_uninit: AccountStatusCode.uninit,
  account_active: AccountStatusCode.active,
  account_frozen: AccountStatusCode.frozen,
} as const;

/**
 * The rows of an account whose whole state was read from the chain and not from a block: its first transaction is not known.
 *
 * @param address as stored
 * @param cell `Account`
 * @returns null for `account_none`
 * @throws cells/*, tlb/*
 */
export function importedAccountRow(
  address: Uint8Array,
  cell: Cell,
  { last_trans_lt, last_trans_hash, mc_seqno, gen_utime }: ImportedStateSource,
): ImportedAccountRow | null {
  const account = decodeCell(Account, cell);
  if (account.kind === 'account_none') return null;
  const { balance, state } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  const extra_currencies = new Map(balance.other);
  return {
    account: {
      address,
      state_hash: cell.hash().slice(),
      status: STATUS[state.kind],
      balance: balance.grams,
      extra_currencies: extra_currencies.size === 0 ? null : extra_currencies,
      ...{ last_trans_lt, last_trans_hash, mc_seqno, gen_utime },
      code_hash: init?.code?.hash().slice() ?? null,
      data_hash: init?.data?.hash().slice() ?? null,
      frozen_hash: state.kind === 'account_frozen' ? state.state_hash : null,
      data_boc: init?.data == null ? null : serializeBoc(init.data),
      first_tx: null,
    },
    code: init?.code == null ? null : codeRow(init.code),
  };
}
