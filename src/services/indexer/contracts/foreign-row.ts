import { AccountStatusCode } from '#drivers/store/encode/account-status.js';
import { codeRow } from '#drivers/store/encode/code-row.js';
import { addressBytes } from '#drivers/store/keys.js';
import type { ForeignAccountRow } from '#drivers/store/write/foreign-accounts.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';

const STATUS = {
  account_uninit: AccountStatusCode.uninit,
  account_active: AccountStatusCode.active,
  account_frozen: AccountStatusCode.frozen,
} as const;

/** The rows of an account that is not indexed; null: there is none. */
export function foreignRow({
  address,
  foreign,
  extra_currencies,
  code_hash,
  data_hash,
}: ContractState): ForeignAccountRow | null {
  const { boc, last_trans_lt, last_trans_hash, mc_seqno, gen_utime } = foreign!;
  const cell = parseBocRoot(boc);
  const account = decodeCell(Account, cell);
  if (account.kind === 'account_none') return null;
  const { balance, state } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  return {
    account: {
      address: addressBytes(address),
      state_hash: cell.hash().slice(),
      status: STATUS[state.kind],
      balance: balance.grams,
      extra_currencies: extra_currencies.length === 0 ? null : new Map(extra_currencies),
      ...{ last_trans_lt, last_trans_hash, mc_seqno, gen_utime, code_hash, data_hash },
      frozen_hash: state.kind === 'account_frozen' ? state.state_hash : null,
      data_boc: init?.data == null ? null : serializeBoc(init.data),
    },
    code: init?.code == null ? null : codeRow(init.code),
  };
}
