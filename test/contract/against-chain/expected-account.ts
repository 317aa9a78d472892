import { type Account, type Cell as CoreCell, Dictionary, loadAccount } from '@ton/core';
import {
  WalletContractV1R1,
  WalletContractV1R2,
  WalletContractV1R3,
  WalletContractV2R1,
  WalletContractV2R2,
  WalletContractV3R1,
  WalletContractV3R2,
  WalletContractV4,
  WalletContractV5R1,
} from '@ton/ton';
import type { AccountMoment } from '#test/contract/against-chain/chain-record.js';
import { blockIdJson, shown, transactionIdJson } from '#test/contract/against-chain/core.js';
import { currenciesOf } from '#test/contract/against-chain/expected-transaction.js';

interface WalletCode {
  readonly name: string;
  readonly version: number;
  readonly revision: number;
}

const publicKey = Buffer.alloc(32);
const workchain = 0;

/** Wallets by the hash of their code, which another library has. */
const WALLETS: ReadonlyMap<string, WalletCode> = new Map(
  (
    [
      [1, 1, WalletContractV1R1.create({ workchain, publicKey })],
      [1, 2, WalletContractV1R2.create({ workchain, publicKey })],
      [1, 3, WalletContractV1R3.create({ workchain, publicKey })],
      [2, 1, WalletContractV2R1.create({ workchain, publicKey })],
      [2, 2, WalletContractV2R2.create({ workchain, publicKey })],
      [3, 1, WalletContractV3R1.create({ workchain, publicKey })],
      [3, 2, WalletContractV3R2.create({ workchain, publicKey })],
      [4, 2, WalletContractV4.create({ workchain, publicKey })],
      [5, 1, WalletContractV5R1.create({ publicKey })],
    ] as const
  ).map(([version, revision, { init }]) => [
    init.code.hash().toString('hex'),
    { name: `wallet v${version} r${revision}`, version, revision },
  ]),
);
/** The first revision of v4, which @ton/ton does not have. */
const V4R1 = '64dd54805522c5be8a9db59cea0105ccf0d08786ca79beb8cb79e880a8d7322d';

/** Wallets for many messages: the code of each, by its hash, as the recording names the accounts. */
export interface HighloadCode {
  readonly type: 'wallet.highload.v1' | 'wallet.highload.v2';
  readonly revision: number;
}

/** What the other library reads in the cell of an account. */
export interface AccountView {
  readonly account: Account | null;
  readonly code: CoreCell | null;
  readonly data: CoreCell | null;
  readonly frozenHash: bigint | null;
  readonly status: 'uninitialized' | 'active' | 'frozen';
  readonly wallet: WalletCode | null;
}

export function viewOf({ account: cell }: AccountMoment): AccountView {
  const slice = cell?.beginParse() ?? null;
  const account = slice?.loadBit() ? loadAccount(slice) : null;
  const state = account?.storage.state ?? null;
  const code = state?.type === 'active' ? (state.state.code ?? null) : null;
  const data = state?.type === 'active' ? (state.state.data ?? null) : null;
  const frozenHash = state?.type === 'frozen' ? state.stateHash : null;
  const status = code !== null ? 'active' : frozenHash !== null ? 'frozen' : 'uninitialized';
  return { account, code, data, frozenHash, status, wallet: code === null ? null : walletOf(code) };
}

function walletOf(code: CoreCell): WalletCode | null {
  const hash = code.hash().toString('hex');
  if (hash === V4R1) return { name: 'wallet v4 r1', version: 4, revision: 1 };
  return WALLETS.get(hash) ?? null;
}

function hash256(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').toString('base64');
}

const coins = ({ account }: AccountView): bigint => account?.storage.balance.coins ?? 0n;

export function expectedInformation(moment: AccountMoment): Record<string, unknown> {
  const view = viewOf(moment);
  return {
    '@type': 'raw.fullAccountState',
    balance: expectedBalance(moment),
    extra_currencies: currenciesOf(view.account?.storage.balance.other),
    last_transaction_id: transactionIdJson(moment.last_trans_lt, moment.last_trans_hash),
    block_id: blockIdJson(moment.mc.id),
    code: shown(view.code),
    data: shown(view.data),
    frozen_hash: view.frozenHash === null ? '' : hash256(view.frozenHash),
    sync_utime: moment.shard_utime,
    state: view.status,
    suspended: false,
  };
}

export const expectedBalance = (moment: AccountMoment): string => coins(viewOf(moment)).toString();
export const expectedState = (moment: AccountMoment): string => viewOf(moment).status;

export function expectedExtended(
  moment: AccountMoment,
  asked: string,
  highload: ReadonlyMap<string, HighloadCode>,
): Record<string, unknown> {
  const view = viewOf(moment);
  const { type, revision, fields } = kindOf(view, highload);
  return {
    '@type': 'fullAccountState',
    address: { '@type': 'accountAddress', account_address: asked },
    balance: view.account === null ? '-1' : coins(view).toString(),
    extra_currencies: currenciesOf(view.account?.storage.balance.other),
    last_transaction_id: transactionIdJson(moment.last_trans_lt, moment.last_trans_hash),
    block_id: blockIdJson(moment.mc.id),
    sync_utime: moment.shard_utime,
    account_state: { '@type': `${type}.accountState`, ...fields },
    revision,
  };
}

function kindOf(view: AccountView, highload: ReadonlyMap<string, HighloadCode>) {
  const { code, data, wallet, frozenHash } = view;
  const frozen_hash = frozenHash === null ? '' : hash256(frozenHash);
  if (code === null) return { type: 'uninited', revision: 0, fields: { frozen_hash } };
  const slice = data?.beginParse();
  // tonlib knows just one revision of v4.
  const isPlain = wallet?.version === 3 || wallet?.name === 'wallet v4 r2';
  if (slice !== undefined && wallet !== null && isPlain) {
    const seqno = slice.loadUint(32);
    const wallet_id = slice.loadUint(32);
    return { type: `wallet.v${wallet.version}`, revision: wallet.revision, fields: { wallet_id, seqno } };
  }
  const many = highload.get(code.hash().toString('hex'));
  if (slice !== undefined && many !== undefined) {
    if (many.type === 'wallet.highload.v2') return { ...many, fields: { wallet_id: slice.loadUint(32) } };
    const seqno = slice.loadUint(32);
    return { ...many, fields: { wallet_id: slice.loadUint(32), seqno } };
  }
  return { type: 'raw', revision: 0, fields: { code: shown(code), data: shown(data), frozen_hash } };
}

export function expectedWallet(moment: AccountMoment): Record<string, unknown> {
  const view = viewOf(moment);
  const { wallet, data } = view;
  return {
    '@type': 'ext.accounts.walletInformation',
    wallet: wallet !== null,
    balance: expectedBalance(moment),
    account_state: view.status,
    last_transaction_id: transactionIdJson(moment.last_trans_lt, moment.last_trans_hash),
    ...(wallet === null ? {} : { wallet_type: wallet.name, ...walletFields(wallet, data!) }),
  };
}

function walletFields({ version }: WalletCode, data: CoreCell): Record<string, unknown> {
  const slice = data.beginParse();
  if (version === 5) {
    const is_signature_allowed = slice.loadBit();
    const seqno = slice.loadUint(32);
    return { is_signature_allowed, seqno, wallet_id: slice.loadInt(32) };
  }
  const seqno = slice.loadUint(32);
  return version < 3 ? { seqno } : { seqno, wallet_id: slice.loadInt(32) };
}

/** Accounts that the network lets do nothing (parameter 44): raw addresses, and until when. */
export function suspendedBy(parameter: CoreCell | null): {
  readonly until: number;
  readonly addresses: ReadonlySet<string>;
} {
  if (parameter === null) return { until: 0, addresses: new Set() };
  const slice = parameter.beginParse();
  slice.loadUint(8);
  const list = slice.loadDict(Dictionary.Keys.BigUint(288), {
    serialize: () => {},
    parse: () => true,
  });
  const addresses = list
    .keys()
    .map(
      (key) =>
        `${Number(BigInt.asIntN(32, key >> 256n))}:${(key & ((1n << 256n) - 1n)).toString(16).padStart(64, '0')}`,
    );
  return { addresses: new Set(addresses), until: slice.loadUint(32) };
}
