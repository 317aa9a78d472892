import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { byProfile } from '#api/http/profile.js';
import { V2AddressInformation, V2WalletInformation, walletMembers, walletOf } from '#api/v3/accounts.js';
import { base64Text, bocText, decimalText, hashText, type ProfileFormat, profileFormat } from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { accountParameter } from '#api/v3/parameters.js';
import { readWallet, type WalletState } from '#domain/contracts/wallet.js';
import type { IndexedAccount } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import type { AccountStateRead } from '#services/chain/accounts.js';

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
    code: code_boc === null ? null : base64Text(code_boc),
    data: data_boc === null ? null : base64Text(data_boc),
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

export function addressInformationText(facts: AccountFacts, dialect: ProfileFormat): string {
  return (
    `{"balance":${decimalText(facts.balance)}` +
    dialect.nullable('code', facts.code) +
    dialect.nullable('data', facts.data) +
    `,"last_transaction_lt":${decimalText(facts.last_transaction_lt)}` +
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
    `{"balance":${decimalText(facts.balance)}${walletMembers(wallet)}` +
    `,"last_transaction_lt":${decimalText(facts.last_transaction_lt)}` +
    `,"last_transaction_hash":${hashText(facts.last_transaction_hash)},"status":"${status}"}`
  );
}

const TAG = 'Api/v2';
const GET = ['GET'] as const;

/** Without a value: as the profile has it. */
const READS_CHAIN = { spec: true, toncenter: false } as const;

/** The live service calls it unauthorised when what a method is about is missing. */
export const MISSING_INPUT = { [httpErrors['missing-parameter'].code]: { spec: 422, toncenter: 401 } } as const;

const params = Type.Object(
  {
    address: accountParameter('Account to look at'),
    use_v2: Type.Optional(
      Type.Boolean({
        description:
          'True: read the newest state from the chain, as API v2 does. False: read the index. Default: true, as the ' +
          'published document says; false under /toncenter, as in the live service.',
        ...byProfile({ spec: { default: READS_CHAIN.spec }, toncenter: { default: READS_CHAIN.toncenter } }),
      }),
    ),
  },
  { additionalProperties: false },
);

interface LegacyAccountRequest {
  readonly address: Address;
  readonly use_v2?: boolean;
}

async function factsOf({ address, use_v2 }: LegacyAccountRequest, context: V3Context): Promise<AccountFacts> {
  const { network, read, query, profile } = context;
  if (use_v2 ?? READS_CHAIN[profile]) return factsOfRead(await network.chain.account(address, read), address);
  const [account = null] = await network.index.accounts({ address: [address] }, { boc: true }, query);
  if (account === null || !account.incomplete) return factsOfIndexed(account);
  // The same state, from the chain, where the index does not have all of it.
  return factsOfRead(await network.chain.account(address, { ...read, at: account.mc_seqno }), address);
}

const addressInformation = v3Endpoint({
  name: 'addressInformation',
  aliases: ['account'],
  verbs: GET,
  tag: TAG,
  summary: 'An account: balance, code, data',
  description:
    'Balance, code, data and last transaction of an account. One that does not exist has no code, and a balance of 0.',
  params,
  result: V2AddressInformation,
  schemaName: 'V2AddressInformation',
  statuses: [404, 422, 504],
  errorStatuses: MISSING_INPUT,
  freshness: 'head',
  handle: async (question, context) =>
    jsonText(addressInformationText(await factsOf(question, context), profileFormat(context.profile))),
});

const walletInformation = v3Endpoint({
  name: 'walletInformation',
  aliases: ['wallet'],
  verbs: GET,
  tag: TAG,
  summary: 'A wallet: its kind, seqno and balance',
  description:
    'What a wallet (v1 to v5) keeps: its kind, the `seqno` that its next order must carry, its id. Another contract is an ' +
    'error (409); an account without code, which may become a wallet, is not.',
  params,
  result: V2WalletInformation,
  schemaName: 'V2WalletInformation',
  statuses: [404, 409, 422, 504],
  errorStatuses: { ...MISSING_INPUT, [v3Errors['not-a-wallet'].code]: 409 },
  freshness: 'head',
  handle: async (question, context) =>
    jsonText(walletInformationText(await factsOf(question, context), question.address)),
});

/** Methods that API v2 has as well, about accounts. */
export const legacyAccountEndpoints: readonly AnyEndpoint<V3Context>[] = [addressInformation, walletInformation];
