import { v3Errors } from '#api/v3/errors.js';
import { walletMembers, walletOf } from '#api/v3/serialize/accounts.js';
import type { Dialect } from '#api/v3/serialize/dialect.js';
import { base64, bocText, decimal, hashText } from '#api/v3/serialize/texts.js';
import { readWallet, type WalletState } from '#domain/contracts/wallet.js';
import type { IndexedAccount } from '#drivers/store/read/index-reads.js';
import type { Address } from '#formats/address/address.js';
import type { AccountStateRead } from '#services/chain/account-state.js';

/** What `addressInformation` and `walletInformation` tell, wherever it was read. */
export interface AccountFacts {
  /** Nanotons. */
  readonly balance: bigint;
  /** Bags of cells in base64, as JSON; null: none. */
  readonly code: string | null;
  readonly data: string | null;
  readonly last_transaction_lt: bigint;
  readonly last_transaction_hash: Uint8Array;
  readonly frozen_hash: Uint8Array | null;
  readonly status: string;
  /** Null: it is no wallet of a known kind. */
  readonly wallet: WalletState | null;
}

const NO_HASH = new Uint8Array(32);

/** @param account null: it is not indexed */
export function factsOfIndexed(account: IndexedAccount | null): AccountFacts {
  if (account === null) return nothingKnown('uninit');
  const { balance, code_boc, data_boc, last_trans_lt, last_trans_hash, frozen_hash, status } = account;
  return {
    balance,
    code: code_boc === null ? null : base64(code_boc),
    data: data_boc === null ? null : base64(data_boc),
    last_transaction_lt: last_trans_lt,
    last_transaction_hash: last_trans_hash,
    frozen_hash,
    status,
    wallet: walletOf(account),
  };
}

/** @throws v3/no-workchain */
export function factsOfRead(
  { account, last_transaction, shard_block }: AccountStateRead,
  address: Address,
): AccountFacts {
  if (shard_block === null) {
    throw v3Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  if (account === null || account.kind === 'account_none') return nothingKnown('uninitialized');
  const { state, balance } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  const code = init?.code ?? null;
  const data = init?.data ?? null;
  const frozen_hash = state.kind === 'account_frozen' ? state.state_hash : null;
  return {
    balance: balance.grams,
    code: code === null ? null : bocText(code),
    data: data === null ? null : bocText(data),
    last_transaction_lt: last_transaction?.lt ?? 0n,
    last_transaction_hash: last_transaction?.hash ?? NO_HASH,
    frozen_hash,
    status: code !== null ? 'active' : frozen_hash !== null ? 'frozen' : 'uninitialized',
    wallet: readWallet(code, data),
  };
}

function nothingKnown(status: string): AccountFacts {
  return {
    balance: 0n,
    code: null,
    data: null,
    last_transaction_lt: 0n,
    last_transaction_hash: NO_HASH,
    frozen_hash: null,
    status,
    wallet: null,
  };
}

export function addressInformationText(facts: AccountFacts, dialect: Dialect): string {
  return (
    `{"balance":${decimal(facts.balance)}` +
    dialect.nullable('code', facts.code) +
    dialect.nullable('data', facts.data) +
    `,"last_transaction_lt":${decimal(facts.last_transaction_lt)}` +
    `,"last_transaction_hash":${hashText(facts.last_transaction_hash)}` +
    dialect.nullable('frozen_hash', facts.frozen_hash === null ? null : hashText(facts.frozen_hash)) +
    `,"status":"${facts.status}"}`
  );
}

const WITHOUT_CODE: ReadonlySet<string> = new Set(['uninit', 'uninitialized']);

/** @throws v3/not-a-wallet for a contract that is none, and what is left of one; an account that may become one is no error */
export function walletInformationText(facts: AccountFacts, address: Address): string {
  const { wallet, status } = facts;
  if (wallet === null && !WITHOUT_CODE.has(status)) throw v3Errors['not-a-wallet']({ address: address.toRaw() });
  return (
    `{"balance":${decimal(facts.balance)}${walletMembers(wallet)}` +
    `,"last_transaction_lt":${decimal(facts.last_transaction_lt)}` +
    `,"last_transaction_hash":${hashText(facts.last_transaction_hash)},"status":"${status}"}`
  );
}
