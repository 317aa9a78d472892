import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { jsonText } from '#api/http/json-text.js';
import { byProfile } from '#api/http/profile-keywords.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { addressParameter } from '#api/v3/parameters.js';
import { V2AddressInformation, V2WalletInformation } from '#api/v3/schemas/accounts.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import {
  type AccountFacts,
  addressInformationText,
  factsOfIndexed,
  factsOfRead,
  walletInformationText,
} from '#api/v3/serialize/legacy-accounts.js';
import type { Address } from '#formats/address/address.js';

const TAG = 'Api/v2';
const GET = ['GET'] as const;

/** Without a value: as the profile has it. */
const READS_CHAIN = { spec: true, toncenter: false } as const;

/** The live service calls it unauthorised when what a method is about is missing. */
export const MISSING_INPUT = { [httpErrors['missing-parameter'].code]: { spec: 422, toncenter: 401 } } as const;

const params = Type.Object(
  {
    address: addressParameter('Account to look at'),
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

interface Question {
  readonly address: Address;
  readonly use_v2?: boolean;
}

async function factsOf({ address, use_v2 }: Question, context: V3Context): Promise<AccountFacts> {
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
    jsonText(addressInformationText(await factsOf(question, context), dialectOf(context.profile))),
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
