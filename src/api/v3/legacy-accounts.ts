import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { Profile } from '#api/http/http-api.js';
import { byProfile } from '#api/http/openapi-schemas.js';
import { walletMembers, walletOf } from '#api/v3/accounts.js';
import {
  AddressCollector,
  answerType,
  boc,
  decimal,
  hash,
  type InputOf,
  nullable,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3ChainContext, v3ChainEndpoint } from '#api/v3/context.js';
import type { EndpointCoverage } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { v3AccountParameter } from '#api/v3/parameters.js';
import { ACCOUNT_PRICE } from '#api/v3/price.js';
import { readWallet, type WalletState } from '#domain/contracts/wallet.js';
import type { IndexedAccount } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import type { AccountStateRead } from '#services/chain/accounts.js';

const V2AddressInformation = answerType(
  'V2AddressInformation',
  {
    balance: decimal('Nanotons.'),
    code: nullable(boc('Code.')),
    data: nullable(boc('Data.')),
    last_transaction_lt: decimal('Logical time of its last transaction; 0 without any.'),
    last_transaction_hash: hash('Its last transaction; zeros without any.'),
    frozen_hash: nullable(hash('Hash of the state that a frozen account had.')),
    status: word(
      '`active`, `frozen`, or without code: `uninitialized` from the chain, `uninit` or `nonexist` from the index.',
    ),
  },
  'An account.',
);

const V2WalletInformation = answerType(
  'V2WalletInformation',
  {
    balance: decimal('Nanotons.'),
    ...walletMembers,
    last_transaction_lt: decimal('Logical time of its last transaction; 0 without any.'),
    last_transaction_hash: hash('Its last transaction; zeros without any.'),
    status: word('As of addressInformation.'),
  },
  'A wallet.',
);

/** What both methods return of an account, whether it was read from the chain or from the index. */
type AccountFacts = InputOf<typeof V2AddressInformation> & {
  /** Null: it is no wallet of a known type. */
  readonly wallet: WalletState | null;
};

const NO_HASH = new Uint8Array(32);

/** @param account null: it is not indexed */
function factsOfIndexed(account: IndexedAccount | null): AccountFacts {
  if (account === null) return emptyAccount('uninit');
  const { balance, code_boc, data_boc, last_trans_lt, last_trans_hash, frozen_hash, status } = account;
  return {
    balance,
    code: code_boc,
    data: data_boc,
    last_transaction_lt: last_trans_lt,
    last_transaction_hash: last_trans_hash,
    frozen_hash,
    status,
    wallet: walletOf(account),
  };
}

/** @throws v3/no-workchain */
function factsOfRead({ account, last_transaction, shard_block }: AccountStateRead, address: Address): AccountFacts {
  if (shard_block === null) {
    throw v3Errors['no-workchain']({ address: address.toRaw(), workchain: address.workchain });
  }
  if (account === null || account.kind === 'account_none') return emptyAccount('uninitialized');
  const { state, balance } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  const code = init?.code ?? null;
  const data = init?.data ?? null;
  const frozen_hash = state.kind === 'account_frozen' ? state.state_hash : null;
  return {
    balance: balance.grams,
    code,
    data,
    last_transaction_lt: last_transaction?.lt ?? 0n,
    last_transaction_hash: last_transaction?.hash ?? NO_HASH,
    frozen_hash,
    status: code !== null ? 'active' : frozen_hash !== null ? 'frozen' : 'uninitialized',
    wallet: readWallet(code, data),
  };
}

function emptyAccount(status: string): AccountFacts {
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

const WITHOUT_CODE: ReadonlySet<string> = new Set(['uninit', 'uninitialized']);

/** @throws v3/not-a-wallet for other contracts and deleted ones; an account that may become a wallet is no error */
function requireWallet({ wallet, status }: AccountFacts, address: Address): void {
  if (wallet === null && !WITHOUT_CODE.has(status)) throw v3Errors['not-a-wallet']({ address: address.toRaw() });
}

const TAG = 'Api/v2';
const GET = ['GET'] as const;

/** Default of `use_v2` by profile. */
const READS_CHAIN = { spec: true, toncenter: false } as const;

/** The live service answers 401 when the main parameter of a method is missing. */
export const MISSING_INPUT = { [httpErrors['missing-parameter'].code]: { spec: 422, toncenter: 401 } } as const;

const params = Type.Object(
  {
    address: v3AccountParameter('The account'),
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

interface AccountRequest {
  readonly address: Address;
  readonly use_v2?: boolean;
}

const readsChain = ({ use_v2 }: AccountRequest, profile: Profile): boolean => use_v2 ?? READS_CHAIN[profile];

const STATE_COVERAGE: EndpointCoverage<AccountRequest> = {
  needs: [],
  names: (request, profile) => (readsChain(request, profile) ? {} : { accounts: [request.address] }),
};

async function factsOf(request: AccountRequest, context: V3ChainContext): Promise<AccountFacts> {
  const { network, read, query, profile } = context;
  const { address } = request;
  if (readsChain(request, profile)) return factsOfRead(await network.chain.account(address, read), address);
  const [account = null] = await network.index.accounts({ address: [address] }, { boc: true }, query);
  if (account === null || !account.incomplete) return factsOfIndexed(account);
  // The index has a part of the state only: the same state from the chain.
  return factsOfRead(await network.chain.account(address, { ...read, at: account.mc_seqno }), address);
}

const addressInformation = v3ChainEndpoint({
  name: 'addressInformation',
  aliases: ['account'],
  verbs: GET,
  tag: TAG,
  summary: 'An account: balance, code, data',
  description:
    'Balance, code, data and last transaction of an account. An account that does not exist has no code and a balance of 0.',
  params,
  result: V2AddressInformation.schema,
  schemaName: 'V2AddressInformation',
  statuses: [404, 422, 504],
  errorStatuses: MISSING_INPUT,
  price: () => ACCOUNT_PRICE,
  coverage: STATE_COVERAGE,
  freshness: 'head',
  readsChain: true,
  handle: async (request, context) => {
    const page = { profile: context.profile, addresses: new AddressCollector() };
    return jsonText(writeAnswerJson(V2AddressInformation, await factsOf(request, context), page));
  },
});

const walletInformation = v3ChainEndpoint({
  name: 'walletInformation',
  aliases: ['wallet'],
  verbs: GET,
  tag: TAG,
  summary: 'A wallet: its type, seqno and balance',
  description:
    'Type of a wallet (v1 to v5), the `seqno` that its next external-in message must carry, and its wallet id. Another contract ' +
    'is an error (409); an account without code, which may become a wallet, is not.',
  params,
  result: V2WalletInformation.schema,
  schemaName: 'V2WalletInformation',
  statuses: [404, 409, 422, 504],
  errorStatuses: { ...MISSING_INPUT, [v3Errors['not-a-wallet'].code]: 409 },
  price: () => ACCOUNT_PRICE,
  coverage: STATE_COVERAGE,
  freshness: 'head',
  readsChain: true,
  handle: async (request, context) => {
    const facts = await factsOf(request, context);
    requireWallet(facts, request.address);
    const page = { profile: context.profile, addresses: new AddressCollector() };
    return jsonText(writeAnswerJson(V2WalletInformation, { ...facts, ...facts.wallet }, page));
  },
});

/** Account methods that API v2 has as well. */
export const legacyAccountEndpoints: readonly AnyEndpoint<V3ChainContext>[] = [addressInformation, walletInformation];
