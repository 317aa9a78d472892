import { type Dialect, optional } from '#api/v3/serialize/dialect.js';
import { interfacesText } from '#api/v3/serialize/interfaces.js';
import { addressText, base64, currenciesText, decimal, hashText, quoted } from '#api/v3/serialize/texts.js';
import { readWallet, type WalletState } from '#domain/contracts/wallet.js';
import { WALLET_CODES } from '#domain/contracts/wallet-codes.js';
import type { IndexedAccount } from '#drivers/store/read/index-reads.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes/bytes.js';

/**
 * An account as `/accountStates` shows it.
 *
 * @param methods ids of its get methods; null: not known, or its code has no table of them
 */
export function accountStateText(account: IndexedAccount, methods: readonly number[] | null, dialect: Dialect): string {
  const { code_hash } = account;
  // Those without code are said to be of no kind here, other than in the address book.
  const interfaces = code_hash === null ? '[]' : interfacesText(code_hash, methods);
  return (
    `{"address":${addressText(account.address)},"account_state_hash":${hashText(account.state_hash)}` +
    `,"balance":${decimal(account.balance)},"extra_currencies":${currenciesText(account.extra_currencies)}` +
    `,"status":${quoted(account.status)}${optional('frozen_hash', maybeHash(account.frozen_hash))}` +
    `,"last_transaction_hash":${hashText(account.last_trans_hash)}` +
    `,"last_transaction_lt":${decimal(account.last_trans_lt)}` +
    optional('data_hash', maybeHash(account.data_hash)) +
    optional('code_hash', maybeHash(account.code_hash)) +
    optional('data_boc', maybeBoc(account.data_boc)) +
    optional('code_boc', maybeBoc(account.code_boc)) +
    dialect.nullable('contract_methods', methods === null ? null : JSON.stringify(methods)) +
    `${dialect.nullable('interfaces', interfaces)}}`
  );
}

/**
 * An account as `/walletStates` shows it; other members of wallets than those of its kind are left out. So is what a wallet
 * keeps, as long as its data is not known whole.
 */
export function walletStateText(account: IndexedAccount): string {
  const wallet = walletOf(account);
  const code = account.code_hash === null ? undefined : WALLET_CODES.get(toHex(account.code_hash));
  const members =
    wallet === null && account.incomplete && code !== undefined
      ? `,"wallet_type":${quoted(code.wallet_type)}`
      : walletMembers(wallet);
  const allowed = wallet?.is_signature_allowed ?? null;
  const currencies = account.extra_currencies;
  return (
    `{"address":${addressText(account.address)},"is_wallet":${members !== ''}${members}` +
    `,"balance":${decimal(account.balance)}` +
    optional('extra_currencies', currencies.size === 0 ? null : currenciesText(currencies)) +
    optional('is_signature_allowed', allowed === null ? null : String(allowed)) +
    `,"status":${quoted(account.status)}${optional('code_hash', maybeHash(account.code_hash))}` +
    `,"last_transaction_hash":${hashText(account.last_trans_hash)}` +
    `,"last_transaction_lt":${decimal(account.last_trans_lt)}}`
  );
}

/** Kind, seqno and id of a wallet, each with a comma before it. */
export function walletMembers(wallet: WalletState | null): string {
  if (wallet === null) return '';
  const { wallet_type, seqno, wallet_id } = wallet;
  return (
    `,"wallet_type":${quoted(wallet_type)},"seqno":${seqno}` +
    optional('wallet_id', wallet_id === null ? null : String(wallet_id))
  );
}

/** Null: it is no wallet of a known kind, or its data is not known. The account must have been read with code and data. */
export function walletOf({ code_hash, code_boc, data_boc }: IndexedAccount): WalletState | null {
  if (code_hash === null || code_boc === null || data_boc === null) return null;
  // Most accounts are no wallets: their code need not be looked at.
  if (!WALLET_CODES.has(toHex(code_hash))) return null;
  return readWallet(parseBocRoot(code_boc), parseBocRoot(data_boc));
}

function maybeHash(hash: Uint8Array | null): string | null {
  return hash === null ? null : hashText(hash);
}

function maybeBoc(boc: Uint8Array | null): string | null {
  return boc === null ? null : base64(boc);
}
