import { v2Errors } from '#api/v2/errors.js';
import type {
  AccountStateEnum,
  AccountState as AccountStateJson,
  AddressInformation,
  ExtendedAddressInformation,
  WalletInformation,
  WalletType,
} from '#api/v2/schemas/accounts.js';
import { echoedAddress } from '#api/v2/serialize/address.js';
import { blockIdExt, bocBase64, extraCurrencies, transactionId } from '#api/v2/serialize/ton-objects.js';
import { type AccountKind, readAccountKind } from '#domain/contracts/account-kind.js';
import { isSuspendedOnMainnet } from '#domain/contracts/suspended-addresses.js';
import { readWallet } from '#domain/contracts/wallet.js';
import type { Address } from '#formats/address/address.js';
import type { ParsedAddress } from '#formats/address/parse-address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { AccountStorage } from '#formats/tlb/account.js';
import { toBase64 } from '#kernel/bytes/bytes.js';
import type { AccountStateRead } from '#services/chain/account-state.js';

/** What the methods about accounts have in common. */
interface AccountParts {
  /** Null: there is no such account. */
  readonly storage: AccountStorage | null;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** Hash of the state that a frozen account had. */
  readonly state_hash: Uint8Array | null;
}

/** @throws v2/no-workchain */
function partsOf(read: AccountStateRead, address: Address): AccountParts {
  if (read.shard_block === null) {
    throw v2Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  const { account } = read;
  if (account === null || account.kind === 'account_none') {
    return { storage: null, code: null, data: null, state_hash: null };
  }
  const { storage } = account;
  const { state } = storage;
  switch (state.kind) {
    case 'account_active':
      return { storage, code: state.state_init.code, data: state.state_init.data, state_hash: null };
    case 'account_frozen':
      return { storage, code: null, data: null, state_hash: state.state_hash };
    default:
      return { storage, code: null, data: null, state_hash: null };
  }
}

function stateOf({ code, state_hash }: AccountParts): AccountStateEnum {
  if (code !== null) return 'active';
  return state_hash === null ? 'uninitialized' : 'frozen';
}

function balanceOf({ storage }: AccountParts): string {
  return storage === null ? '0' : storage.balance.grams.toString();
}

/** @throws v2/no-workchain */
export function addressInformation(read: AccountStateRead, address: Address): AddressInformation {
  const parts = partsOf(read, address);
  const { storage, code, data, state_hash } = parts;
  const utime = read.shard_utime ?? 0;
  return {
    '@type': 'raw.fullAccountState',
    balance: balanceOf(parts),
    extra_currencies: storage === null ? [] : extraCurrencies(storage.balance.other),
    last_transaction_id: transactionId(read.last_transaction),
    block_id: blockIdExt(read.block),
    code: code === null ? '' : bocBase64(code),
    data: data === null ? '' : bocBase64(data),
    frozen_hash: state_hash === null ? '' : toBase64(state_hash),
    sync_utime: utime,
    state: stateOf(parts),
    suspended: isSuspendedOnMainnet(address, utime),
  };
}

/** @throws v2/no-workchain */
export function extendedAddressInformation(read: AccountStateRead, asked: ParsedAddress): ExtendedAddressInformation {
  const parts = partsOf(read, asked.address);
  const { storage, code, data } = parts;
  const utime = read.shard_utime ?? 0;
  const balance = storage?.balance.grams ?? 0n;
  const { revision, ...kind } = readAccountKind({ code, data, balance, now: utime });
  return {
    '@type': 'fullAccountState',
    address: { '@type': 'accountAddress', account_address: echoedAddress(asked) },
    balance: storage === null ? '-1' : balance.toString(),
    extra_currencies: storage === null ? [] : extraCurrencies(storage.balance.other),
    last_transaction_id: transactionId(read.last_transaction),
    block_id: blockIdExt(read.block),
    sync_utime: utime,
    account_state: accountState(kind, parts),
    revision,
  };
}

function accountState(kind: AccountKind, { code, data, state_hash }: AccountParts): AccountStateJson {
  const frozen_hash = state_hash === null ? '' : toBase64(state_hash);
  switch (kind.kind) {
    case 'uninited':
      return { '@type': 'uninited.accountState', frozen_hash };
    case 'raw':
      return {
        '@type': 'raw.accountState',
        code: code === null ? '' : bocBase64(code),
        data: data === null ? '' : bocBase64(data),
        frozen_hash,
      };
    case 'wallet.v3':
      return { '@type': 'wallet.v3.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.v4':
      return { '@type': 'wallet.v4.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.highload.v1':
      return { '@type': 'wallet.highload.v1.accountState', wallet_id: kind.wallet_id, seqno: kind.seqno };
    case 'wallet.highload.v2':
      return { '@type': 'wallet.highload.v2.accountState', wallet_id: kind.wallet_id };
    case 'dns':
      return { '@type': 'dns.accountState', wallet_id: kind.wallet_id };
    case 'rwallet':
      return {
        '@type': 'rwallet.accountState',
        wallet_id: kind.wallet_id,
        seqno: kind.seqno,
        unlocked_balance: Number(kind.unlocked_balance),
        config: {
          '@type': 'rwallet.config',
          start_at: kind.start_at,
          limits: kind.limits.map(({ seconds, value }) => ({
            '@type': 'rwallet.limit',
            seconds,
            value: Number(value),
          })),
        },
      };
  }
}

/** @throws v2/no-workchain */
export function walletInformation(read: AccountStateRead, address: Address): WalletInformation {
  const parts = partsOf(read, address);
  const wallet = readWallet(parts.code, parts.data);
  const json: WalletInformation = {
    '@type': 'ext.accounts.walletInformation',
    wallet: wallet !== null,
    balance: balanceOf(parts),
    account_state: stateOf(parts),
    last_transaction_id: transactionId(read.last_transaction),
  };
  if (wallet === null) return json;
  json.wallet_type = wallet.wallet_type as WalletType;
  json.seqno = wallet.seqno;
  if (wallet.wallet_id !== null) json.wallet_id = wallet.wallet_id;
  if (wallet.is_signature_allowed !== null) json.is_signature_allowed = wallet.is_signature_allowed;
  return json;
}

/** @throws v2/no-workchain */
export function addressBalance(read: AccountStateRead, address: Address): string {
  return balanceOf(partsOf(read, address));
}

/** @throws v2/no-workchain */
export function addressState(read: AccountStateRead, address: Address): AccountStateEnum {
  return stateOf(partsOf(read, address));
}
