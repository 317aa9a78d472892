import { Type } from '@sinclair/typebox';
import { commaList } from '#api/http/comma-list.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { jsonText } from '#api/http/json-text.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { checkPage, pageOf, rowsOf } from '#api/v3/page.js';
import { decodeAddress } from '#api/v3/parameter-forms.js';
import { addressListParameter, hashListParameter, pageFields } from '#api/v3/parameters.js';
import { AccountBalance, AccountStatesResponse, WalletStatesResponse } from '#api/v3/schemas/accounts.js';
import { AddressBook, Metadata } from '#api/v3/schemas/address-book.js';
import { accountStateText, walletStateText } from '#api/v3/serialize/accounts.js';
import { addressBookText, emptyRowText } from '#api/v3/serialize/address-book.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { dialectOf } from '#api/v3/serialize/dialect.js';
import { metadataText } from '#api/v3/serialize/metadata.js';
import { addressesText, pageAddressesText, wantedFacts } from '#api/v3/serialize/page-addresses.js';
import { addressText, decimal, listText } from '#api/v3/serialize/texts.js';
import type { IndexedAccount } from '#drivers/store/read/index-reads.js';
import { Address } from '#formats/address/address.js';
import { isTernError } from '#kernel/errors/tern-error.js';

const TAG = 'Accounts';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** Most texts that `addressBook` and `metadata` take. */
const MAX_BOOK = 1_024;

const address = addressListParameter('Accounts');

/** Texts that should be accounts; one that is none does not spoil the answer for the others. */
const texts = commaList(Type.String({ maxLength: 200 }), {
  description:
    'Accounts, in raw or user-friendly form; several may be given by repeating the parameter or with commas between them.',
  maxItems: MAX_BOOK,
});

function addressesOf(accounts: readonly IndexedAccount[]): AddressCollector {
  const addresses = new AddressCollector();
  for (const { address: of } of accounts) addresses.add(of);
  return addresses;
}

const accountStates = v3Endpoint({
  name: 'accountStates',
  verbs: GET,
  tag: TAG,
  summary: 'States of accounts',
  description:
    'The newest indexed states of accounts, in the order asked for. Accounts that are not known are left out.',
  params: Type.Object(
    {
      address,
      include_boc: Type.Optional(Type.Boolean({ description: 'With code and data.', default: true })),
      code_hash: Type.Optional(hashListParameter('Only accounts whose code has one of these hashes')),
    },
    { additionalProperties: false },
  ),
  result: AccountStatesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: asked, include_boc: boc = true, code_hash }, context) => {
    const { network, query, profile } = context;
    const accounts = await network.index.accounts({ address: asked, code_hash }, { boc }, query);
    const addresses = addressesOf(accounts);
    const all = accounts.map((account) => account.address);
    const facts = await network.index.addressFacts(all, wantedFacts(context), query);
    const dialect = dialectOf(profile);
    const rows = accounts.map((account) => {
      const methods = facts.accounts.get(account.address.toRaw())?.methods ?? null;
      return accountStateText(account, methods, dialect);
    });
    return jsonText(`{"accounts":${listText(rows)},${addressesText(addresses, facts, context)}}`);
  },
});

const walletStates = v3Endpoint({
  name: 'walletStates',
  verbs: GET,
  tag: TAG,
  summary: 'Wallets',
  description:
    'The newest indexed states of accounts, in the order asked for, with what wallets keep: seqno and id. Accounts that are ' +
    'not known are left out; for those that are no wallet of a known kind `is_wallet` is false.',
  params: Type.Object({ address }, { additionalProperties: false }),
  result: WalletStatesResponse,
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: asked }, context) => {
    const accounts = await context.network.index.accounts({ address: asked }, { boc: true }, context.query);
    const last = await pageAddressesText(addressesOf(accounts), context);
    return jsonText(`{"wallets":${listText(accounts.map(walletStateText))},${last}}`);
  },
});

const addressBook = v3Endpoint({
  name: 'addressBook',
  verbs: GET,
  tag: TAG,
  summary: 'How to show accounts',
  description:
    'For each text that was given, the user-friendly form of the account, its domain, and what it is known to be. Texts that ' +
    'are no account have a row without; when there are no others it is an error (422).',
  params: Type.Object({ address: texts }, { additionalProperties: false }),
  result: AddressBook,
  schemaName: 'AddressBook',
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: given }, context) => {
    const { accounts, others } = sorted(given);
    const { network, query, profile } = context;
    const wanted = { domains: true, tokens: false };
    const facts = await network.index.addressFacts([...accounts.values()], wanted, query);
    const rows = addressBookText(accounts, facts, context);
    const empty = emptyRowText(dialectOf(profile));
    const more = others.map((text) => `,${JSON.stringify(text)}:${empty}`).join('');
    return jsonText(`${rows.slice(0, -1)}${more}}`);
  },
});

const metadata = v3Endpoint({
  name: 'metadata',
  verbs: GET,
  tag: TAG,
  summary: 'What tokens say of themselves',
  description:
    'Names, symbols and images of those accounts that are tokens, by raw address; of jetton wallets also those of their jettons.',
  params: Type.Object({ address: texts }, { additionalProperties: false }),
  result: Metadata,
  schemaName: 'Metadata',
  statuses: STATUSES,
  freshness: 'head',
  handle: async ({ address: given }, { network, query }) => {
    const { accounts } = sorted(given);
    const wanted = { domains: false, tokens: true };
    return jsonText(metadataText((await network.index.addressFacts([...accounts.values()], wanted, query)).tokens));
  },
});

/** The accounts, by their texts, and the texts that are none. @throws http/bad-parameter when all are none */
function sorted(given: readonly string[]) {
  const accounts = new Map<string, Address>();
  const others = new Set<string>();
  for (const text of given) {
    const read = readAddress(text);
    if (read instanceof Address) {
      accounts.set(text, read);
      continue;
    }
    others.add(text);
  }
  if (accounts.size > 0) return { accounts, others: [...others] };
  const problem = readAddress(given[0] ?? '') as string;
  throw httpErrors['bad-parameter']({ parameter: 'address', problem });
}

/** Else why it is none. */
function readAddress(text: string): Address | string {
  try {
    return decodeAddress(text);
  } catch (error) {
    if (isTernError(error)) return error.message;
    throw error;
  }
}

const topAccountsByBalance = v3Endpoint({
  name: 'topAccountsByBalance',
  verbs: GET,
  tag: 'Stats',
  summary: 'Accounts with the most coins',
  description: 'Accounts by their newest indexed balance, the greatest first.',
  params: Type.Object(pageFields, { additionalProperties: false }),
  check: checkPage,
  result: Type.Array(AccountBalance),
  schemaName: 'TopAccountsByBalance',
  statuses: STATUSES,
  freshness: 'head',
  handle: async (params, context) => {
    const listed = await context.network.index.topAccounts(pageOf(params, context), context.query);
    const rows = rowsOf(listed, context).map(
      ({ address: account, balance }) => `{"account":${addressText(account)},"balance":${decimal(balance)}}`,
    );
    return jsonText(listText(rows));
  },
});

/** Methods about accounts, in the order of the document. */
export const accountEndpoints: readonly AnyEndpoint<V3Context>[] = [accountStates, walletStates, addressBook, metadata];

export const statisticsEndpoints: readonly AnyEndpoint<V3Context>[] = [topAccountsByBalance];
