import { readWallet, readWalletMessage } from '#domain/contracts/wallet.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { type Message, messageBody, messageInit } from '#formats/tlb/message.js';
import { isTernError } from '#kernel/tern-error.js';

/** What a message to a wallet needs to be included: no higher seqno, and a time before `valid_until`. */
export interface WalletClaim {
  readonly seqno: number;
  /** Unix seconds; null: it does not expire. */
  readonly valid_until: number | null;
}

/**
 * Reads what a message to a wallet of a known version claims.
 *
 * @param shardAccount `ShardAccount` of its destination before it; null: not known
 * @returns null when the destination is no known wallet, before and with the message, or the body does not fit it
 */
export function readWalletClaim(message: Message, shardAccount: Cell | null): WalletClaim | null {
  try {
    const { body } = message;
    if (body.kind === 'right' && body.value.type !== CellType.ordinary) return null;
    const deployed = shardAccount === null ? null : contractOf(shardAccount);
    const { code = null, data = null } = deployed ?? messageInit(message) ?? {};
    const wallet = readWallet(code, data);
    const claim = wallet === null ? null : readWalletMessage(wallet.wallet_type, messageBody(message));
    return claim === null ? null : { seqno: claim.seqno, valid_until: claim.valid_until };
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}

/** `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount;` */
function contractOf(shardAccount: Cell): { readonly code: Cell | null; readonly data: Cell | null } | null {
  const account = decodeCell(Account, openCell(shardAccount).loadRef());
  if (account.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  return account.storage.state.state_init;
}
