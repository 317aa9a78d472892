import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { decimal, hashText } from '#api/v3/serialize/texts.js';
import { contentText, maybe } from '#api/v3/serialize/token-members.js';
import type { IndexedJettonMaster, IndexedJettonWallet } from '#drivers/store/read/indexed-tokens.js';

/** A master as `/jetton/masters` shows it. The answer names it and its admin. */
export function jettonMasterText(
  master: IndexedJettonMaster,
  { nullable }: Dialect,
  addresses: AddressCollector,
): string {
  const { address, total_supply, mintable, admin, content, code_hash, data_hash } = master;
  return (
    `{"address":${addresses.add(address)},"total_supply":${decimal(total_supply)},"mintable":${mintable}` +
    nullable(
      'admin_address',
      maybe(admin, (value) => addresses.add(value)),
    ) +
    nullable('jetton_content', contentText(content)) +
    `,"jetton_wallet_code_hash":${hashText(master.jetton_wallet_code_hash)}` +
    nullable('code_hash', maybe(code_hash, hashText)) +
    nullable('data_hash', maybe(data_hash, hashText)) +
    `,"last_transaction_lt":${decimal(master.last_trans_lt)}}`
  );
}

/** A wallet as `/jetton/wallets` shows it. The answer names it, its owner and its master. */
export function jettonWalletText(
  wallet: IndexedJettonWallet,
  { nullable }: Dialect,
  addresses: AddressCollector,
): string {
  const { address, balance, owner, jetton, last_trans_lt, code_hash, data_hash } = wallet;
  return (
    `{"address":${addresses.add(address)},"balance":${decimal(balance)},"owner":${addresses.add(owner)}` +
    `,"jetton":${addresses.add(jetton)},"last_transaction_lt":${decimal(last_trans_lt)}` +
    nullable('code_hash', maybe(code_hash, hashText)) +
    `${nullable('data_hash', maybe(data_hash, hashText))}}`
  );
}
