import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { v2Errors } from '#api/v2/errors.js';
import { address, optionalMasterchainSeqno } from '#api/v2/parameters.js';
import {
  AccountStateEnum,
  AddressBalance,
  AddressInformation,
  ExtendedAddressInformation,
  WalletInformation,
} from '#api/v2/schemas/accounts.js';
import { DnsResolved } from '#api/v2/schemas/dns.js';
import { TokenData } from '#api/v2/schemas/tokens.js';
import { TvmCell } from '#api/v2/schemas/ton-objects.js';
import {
  addressBalance,
  addressInformation,
  addressState,
  extendedAddressInformation,
  walletInformation,
} from '#api/v2/serialize/account.js';
import { normalizedAddress } from '#api/v2/serialize/address.js';
import { dnsResolved } from '#api/v2/serialize/dns.js';
import { shardAccountCell } from '#api/v2/serialize/shard-account.js';
import { tokenData } from '#api/v2/serialize/token.js';
import { tvmCell } from '#api/v2/serialize/ton-objects.js';
import type { ParsedAddress } from '#formats/address/parse-address.js';
import type { AccountStateRead } from '#services/chain/account-state.js';

interface Question {
  readonly address: ParsedAddress;
  readonly seqno?: number;
}

const TAG = 'Accounts';
const READ = ['GET', 'POST'] as const;
const STATUSES = [404, 422, 504];

const params = Type.Object({ address, seqno: optionalMasterchainSeqno }, { additionalProperties: false });

/** What is said of a numbered block stays true. */
function freshness({ seqno }: { readonly seqno?: number }) {
  return seqno === undefined ? ('head' as const) : ('forever' as const);
}

function readAccount({ address, seqno }: Question, context: V2Context, pruned = false): Promise<AccountStateRead> {
  const { network, read } = context;
  return network.chain.account(address.address, { ...read, at: seqno ?? 'head', pruned });
}

const getAddressInformation = v2Endpoint({
  name: 'getAddressInformation',
  verbs: READ,
  tag: TAG,
  summary: 'An account: balance, code, data, last transaction',
  description:
    'The state of an account after the newest masterchain block, or after block `seqno`: balance in nanotons, code and data ' +
    'as bags of cells, the last transaction. For an address that nobody has used yet, `state` is `uninitialized`, the ' +
    'balance 0, and the rest empty.',
  params,
  result: AddressInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressInformation(await readAccount(question, context), question.address.address),
});

const getExtendedAddressInformation = v2Endpoint({
  name: 'getExtendedAddressInformation',
  verbs: READ,
  tag: TAG,
  summary: 'An account, its data read where the code is known',
  description:
    'As `getAddressInformation`, but for some contracts (wallets v3 and v4, highload and restricted wallets, manual DNS) ' +
    '`account_state` has what their data mean, such as `seqno` and `wallet_id`, in place of code and data. For an account ' +
    'that does not exist the balance is -1.',
  params,
  result: ExtendedAddressInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    extendedAddressInformation(await readAccount(question, context), question.address),
});

const getWalletInformation = v2Endpoint({
  name: 'getWalletInformation',
  verbs: READ,
  tag: TAG,
  summary: 'A wallet: its kind, seqno and balance',
  description:
    'Tells whether an account is a known wallet (v1 to v5), and if so which, with the `seqno` that its next order must ' +
    'carry. For other accounts `wallet` is false and the fields of wallets are not there.',
  params,
  result: WalletInformation,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    walletInformation(await readAccount(question, context), question.address.address),
});

const getAddressBalance = v2Endpoint({
  name: 'getAddressBalance',
  verbs: READ,
  tag: TAG,
  summary: 'The balance of an account',
  description:
    'Nanotons (1 TON is 1,000,000,000 of them) as a decimal number in text; 0 when there is no such account.',
  params,
  result: AddressBalance,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressBalance(await readAccount(question, context, true), question.address.address),
});

const getAddressState = v2Endpoint({
  name: 'getAddressState',
  verbs: READ,
  tag: TAG,
  summary: 'Whether an account is active',
  description:
    '`active`: it has code. `frozen`: it could not pay for its storage. `uninitialized`: it has no code yet, or there is ' +
    'no such account.',
  params,
  result: AccountStateEnum,
  schemaName: 'AddressState',
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    addressState(await readAccount(question, context, true), question.address.address),
});

const getTokenData = v2Endpoint({
  name: 'getTokenData',
  verbs: READ,
  tag: TAG,
  summary: 'A jetton or an NFT',
  description:
    'What a jetton master, a jetton wallet, an NFT collection or an NFT tells of itself: owner, amounts, and its ' +
    'description as far as it is on the chain (TEP-64; links are given, not followed). A wallet or an NFT counts only ' +
    'when its master or collection knows it. An NFT that is a domain comes with its DNS records.',
  params,
  result: TokenData,
  statuses: [404, 409, 422, 500, 504],
  errorStatuses: { [v2Errors['not-a-token'].code]: 409 },
  freshness,
  handle: async ({ address: asked, seqno }, { network, read }) => {
    const { token } = await network.contracts.tokenData(asked.address, { ...read, at: seqno ?? 'head' });
    if (token === null) throw v2Errors['not-a-token']({ address: normalizedAddress(asked) });
    return tokenData(token, asked);
  },
});

const getShardAccountCell = v2Endpoint({
  name: 'getShardAccountCell',
  verbs: READ,
  tag: TAG,
  unpublished: true,
  summary: 'An account as a cell',
  description: 'The `ShardAccount` of an account: its entry in the state of the shard, as a bag of cells.',
  params,
  result: TvmCell,
  statuses: STATUSES,
  freshness,
  handle: async (question, context) =>
    tvmCell(shardAccountCell(await readAccount(question, context), question.address.address)),
});

const dnsResolve = v2Endpoint({
  name: 'dnsResolve',
  verbs: READ,
  tag: TAG,
  unpublished: true,
  summary: 'DNS records of a name',
  description:
    'What a resolver contract says about a name (TEP-81), records of all categories. With a `ttl` above 0 other resolvers ' +
    'that it names are asked as well, up to that many.',
  params: Type.Object(
    {
      address,
      name: Type.Optional(
        Type.String({ description: 'Name to resolve, such as `alice.ton`; empty: the resolver itself.', default: '' }),
      ),
      category: Type.Optional(
        Type.String({ description: 'Accepted for the sake of existing clients; records of all categories are given.' }),
      ),
      ttl: Type.Optional(
        Type.Integer({
          description: 'How many further resolvers may be asked.',
          format: 'int32',
          default: 0,
          minimum: 0,
          maximum: 0x7fff_ffff,
        }),
      ),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  result: DnsResolved,
  statuses: STATUSES,
  freshness,
  handle: async ({ address: resolver, name = '', ttl = 0, seqno }, { network, read }) => {
    const options = { ...read, at: seqno ?? 'head' } as const;
    return dnsResolved(await network.contracts.resolveDns(resolver.address, name, ttl, options));
  },
});

/** Methods about accounts, in the order of the document. */
export const accountEndpoints: readonly AnyEndpoint<V2Context>[] = [
  getAddressInformation,
  getExtendedAddressInformation,
  getWalletInformation,
  getAddressBalance,
  getAddressState,
  getTokenData,
  getShardAccountCell,
  dnsResolve,
];
