import { Type } from '@sinclair/typebox';
import { type AnyEndpoint, commaList, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { accountDependencies, accountDependency } from '#api/v3/answer-keys.js';
import {
  AddressCollector,
  answerType,
  answerValue,
  type InputOf,
  mapSchema,
  nullable,
  text,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { lookUpNamed } from '#api/v3/coverage.js';
import { upperCaseRaw } from '#api/v3/json-pieces.js';
import type { AddressRow } from '#api/v3/kept-texts.js';
import { decodeAccount } from '#api/v3/parameters.js';
import { itemsPrice, ROW_PRICE } from '#api/v3/price.js';
import { interfaceNamesOf } from '#domain/contracts/code-methods.js';
import { type MetadataOverride, tokenMetadata } from '#domain/contracts/token-metadata.js';
import { WALLET_CODES } from '#domain/contracts/wallet.js';
import type {
  AddressAccount,
  AddressFacts,
  AddressTokens,
  TokenFacts,
  WantedFacts,
} from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** Names of contract interfaces, as JSON. */
export const interfaces = answerValue<string>(
  Type.Array(Type.String(), {
    description:
      'Interfaces of the contract: the one that its code hash stands for, else all whose get-methods its code has.',
  }),
  (json) => json,
);

const AddressBookRow = answerType(
  'AddressBookRow',
  {
    user_friendly: nullable(
      word('User-friendly form: non-bounceable for wallets and accounts without code, bounceable for other contracts.'),
    ),
    domain: nullable(text('The shortest `.ton` or `.t.me` domain that the account owns and that resolves to it.')),
    interfaces: nullable(interfaces),
  },
  'How to display an account.',
);

/** Schema of `address_book`. */
export const AddressBookJson = mapSchema(AddressBookRow.schema, {
  $id: 'AddressBook',
  description: 'How to display the accounts of the answer, by raw address. Empty with `X-No-Address-Book`.',
});

/** A row of an address book as JSON. */
function addressBookRow(
  address: Address,
  { accounts, domains }: AddressFacts,
  { network, profile }: V3Context,
): string {
  const raw = address.toRaw();
  const account = accounts.get(raw);
  const row = {
    user_friendly: friendlyForm(address, account, network.isTestnet),
    domain: domains.get(raw) ?? null,
    interfaces: interfacesOfAddress(account),
  };
  return writeAnswerJson(AddressBookRow, row, { profile, addresses: new AddressCollector() });
}

/**
 * Non-bounceable for wallets and for accounts without code, which could not return coins that were sent by mistake;
 * bounceable for all others. Null: the workchain does not fit that form.
 */
function friendlyForm(address: Address, account: AddressAccount | undefined, testnet: boolean): string | null {
  const { workchain } = address;
  if ((workchain << 24) >> 24 !== workchain) return null;
  const code = account?.code_hash ?? null;
  const bounceable = code !== null && !WALLET_CODES.has(toHex(code));
  return address.toFriendly({ bounceable, testnet });
}

interface CachedInterfaces {
  readonly methods: readonly number[] | null;
  readonly json: string | null;
}

/** Memory for the JSON of interfaces, in bytes, and the overhead of an entry. */
const CACHE_BYTES = 2 * 2 ** 20;
const ENTRY_BYTES = 256;

/** By code hash. */
const interfacesCache = new LruByBytes<CachedInterfaces>(CACHE_BYTES);

/**
 * Interfaces of an account with code, as JSON; null where its get-methods are known and match none. `[]` where they are not known
 * and no interface has that code hash.
 */
export function interfacesJson(code_hash: Uint8Array, methods: readonly number[] | null): string | null {
  const key = toHex(code_hash);
  const known = interfacesCache.get(key);
  if (known !== undefined && known.methods === methods) return known.json;
  const names = interfaceNamesOf(key, methods);
  const json = names.length === 0 && methods !== null ? null : JSON.stringify(names);
  interfacesCache.set(key, { methods, json }, ENTRY_BYTES + (json?.length ?? 0));
  return json;
}

/** @param account undefined: it has no state; one without code has no interfaces: null */
function interfacesOfAddress(account: AddressAccount | undefined): string | null {
  if (account === undefined) return '[]';
  return account.code_hash === null ? null : interfacesJson(account.code_hash, account.methods);
}

/** Written by `JSON.stringify`, with the members that a token has, in the order of its own metadata. */
const TokenInfo = Type.Object(
  {
    type: Type.Optional(
      Type.String({ description: '`jetton_masters`, `jetton_wallets`, `nft_collections` or `nft_items`.' }),
    ),
    valid: Type.Optional(
      Type.Boolean({ description: 'It has what such a token must have: a symbol, a name, a domain.' }),
    ),
    name: Type.Optional(Type.String({ description: 'Name.' })),
    symbol: Type.Optional(Type.String({ description: 'Symbol.' })),
    description: Type.Optional(Type.String({ description: 'Description.' })),
    image: Type.Optional(Type.String({ description: 'Link to an image.' })),
    nft_index: Type.Optional(Type.String({ description: 'Index in the collection: a decimal number as text.' })),
    is_nsfw: Type.Optional(
      Type.Boolean({ description: 'The operator of the service marked it as not safe for work.' }),
    ),
    is_scam: Type.Optional(Type.Boolean({ description: 'The operator of the service marked it as a scam.' })),
    extra: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'All other metadata, such as `uri`, `decimals`, `attributes`; of a jetton wallet `balance`, `owner` and `jetton`.',
        },
      ),
    ),
  },
  { $id: 'TokenInfo' },
);

const AddressMetadata = Type.Object(
  {
    is_indexed: Type.Boolean({
      description: 'False: its off-chain metadata was not fetched yet, and the rest is missing.',
    }),
    token_info: Type.Array(TokenInfo),
  },
  { $id: 'AddressMetadata' },
);

/** Schema of `metadata`. */
export const MetadataJson = mapSchema(AddressMetadata, {
  $id: 'Metadata',
  description:
    'Token metadata (TEP-64) of the accounts that are tokens, by raw address; of jetton wallets also that of their jettons. Empty ' +
    'with `X-No-Metadata`.',
});

/** `metadata` of an answer as JSON: of those addresses that are tokens, and of the masters of jetton wallets among them. */
export function metadataText(tokens: AddressFacts['tokens']): string {
  const entries: string[] = [];
  for (const { address, tokens: own } of tokens.values()) entries.push(`"${upperCaseRaw(address)}":${metadataOf(own)}`);
  return `{${entries.join(',')}}`;
}

type TokenInfoMembers = Readonly<Record<string, unknown>>;

/** `metadata` of one address as JSON. */
function metadataOf(tokens: AddressTokens['tokens']): string {
  const infos: TokenInfoMembers[] = [];
  let is_indexed = true;
  for (const token of tokens) {
    const info = infoOf(token);
    if (info === null) is_indexed = false;
    infos.push(info ?? identityOf(token));
  }
  return JSON.stringify({ is_indexed, token_info: infos });
}

function identityOf(token: TokenFacts): TokenInfoMembers {
  return token.kind === 'nft_items' ? { type: token.kind, nft_index: String(token.index) } : { type: token.kind };
}

/** Null: its off-chain metadata was not fetched yet. */
function infoOf(token: TokenFacts): TokenInfoMembers | null {
  if (token.kind === 'jetton_wallets') {
    const { balance, owner, jetton } = token;
    const extra = { balance: String(balance), owner: upperCaseRaw(owner), jetton: upperCaseRaw(jetton) };
    return { valid: true, ...identityOf(token), extra };
  }
  const { kind, content, metadata } = token;
  const override = metadata?.override as MetadataOverride | null | undefined;
  const document = metadata?.document ?? null;
  const isOnChain = override?.content !== undefined || typeof content.uri !== 'string' || content.uri === '';
  if (!isOnChain && document === null && metadata?.failed !== true) return null;
  const { valid, extra, ...rest } = tokenMetadata(kind, content, document, override ?? null);
  return valid ? { valid, ...identityOf(token), ...rest, extra } : { valid, ...identityOf(token) };
}

const TAG = 'Accounts';
const GET = ['GET'] as const;
const STATUSES = [422, 504];

/** Most texts that `addressBook` and `metadata` take. */
const MAX_BOOK = 1_024;

/** Texts that should be accounts; an invalid one does not fail the request for the others. */
const accountTexts = commaList(Type.String({ maxLength: 200 }), {
  description:
    'Accounts, in raw or user-friendly form; several may be given by repeating the parameter or with commas between them.',
  maxItems: MAX_BOOK,
});

const addressBook = v3Endpoint({
  name: 'addressBook',
  verbs: GET,
  tag: TAG,
  summary: 'How to display accounts',
  description:
    'For each given text, the user-friendly form of the account, its domain, and its interfaces. Texts that are no address ' +
    'have a row without them; if none of the texts is an address, the request is refused (422).',
  params: Type.Object({ address: accountTexts }, { additionalProperties: false }),
  result: AddressBookJson,
  schemaName: 'AddressBook',
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.bookEntry),
  // Which domains an account owns is known of all accounts or of none.
  coverage: { needs: ['state'], names: ({ address }) => ({ accounts: [...splitAccounts(address).accounts.values()] }) },
  freshness: 'head',
  depends: ({ address }) => accountDependencies([...splitAccounts(address).accounts.values()]),
  handle: async ({ address: given }, context) => {
    const { accounts, others } = splitAccounts(given);
    const { network, query, profile } = context;
    const wanted = { domains: true, tokens: false };
    const facts = await network.index.addressFacts([...accounts.values()], wanted, query);
    const rows = [...accounts].map(([text, address]) => {
      return `${JSON.stringify(text)}:${addressBookRow(address, facts, context)}`;
    });
    const empty: InputOf<typeof AddressBookRow> = { user_friendly: null, domain: null, interfaces: '[]' };
    const row = writeAnswerJson(AddressBookRow, empty, { profile, addresses: new AddressCollector() });
    const more = others.map((each) => `${JSON.stringify(each)}:${row}`);
    return jsonText(`{${[...rows, ...more].join(',')}}`);
  },
});

const metadata = v3Endpoint({
  name: 'metadata',
  verbs: GET,
  tag: TAG,
  summary: 'Token metadata',
  description:
    'Names, symbols and images of those accounts that are tokens, by raw address; of jetton wallets also those of their jettons.',
  params: Type.Object({ address: accountTexts }, { additionalProperties: false }),
  result: MetadataJson,
  schemaName: 'Metadata',
  statuses: STATUSES,
  price: itemsPrice(ROW_PRICE.bookEntry),
  coverage: { needs: [], names: ({ address }) => ({ contracts: [...splitAccounts(address).accounts.values()] }) },
  freshness: 'head',
  depends: ({ address }) => accountDependencies([...splitAccounts(address).accounts.values()]),
  handle: async ({ address: given }, { network, query, dependsOn }) => {
    const { accounts } = splitAccounts(given);
    const wanted = { domains: false, tokens: true };
    const { tokens } = await network.index.addressFacts([...accounts.values()], wanted, query);
    // The masters of jetton wallets, too.
    for (const { address } of tokens.values()) dependsOn(accountDependency(address));
    for (const { tokens: own } of tokens.values()) {
      for (const token of own) if (token.kind === 'jetton_wallets') dependsOn(accountDependency(token.jetton));
    }
    return jsonText(metadataText(tokens));
  },
});

/** The accounts by their texts, and the texts that are no account. @throws http/bad-parameter when no text is an account */
function splitAccounts(given: readonly string[]) {
  const accounts = new Map<string, Address>();
  const others = new Set<string>();
  for (const each of given) {
    const read = readAccount(each);
    if (read instanceof Address) accounts.set(each, read);
    else others.add(each);
  }
  if (accounts.size > 0) return { accounts, others: [...others] };
  const problem = readAccount(given[0] ?? '') as string;
  throw httpErrors['bad-parameter']({ parameter: 'address', problem });
}

/** The account, or the reason why the text is none. */
function readAccount(given: string): Address | string {
  try {
    return decodeAccount(given);
  } catch (error) {
    if (isTernError(error)) return error.message;
    throw error;
  }
}

export const addressBookEndpoints: readonly AnyEndpoint<V3Context>[] = [addressBook, metadata];

/** Addresses by their raw form: a map, or what parses those that are asked for. */
export type AddressesByRaw = Pick<ReadonlyMap<string, Address>, 'keys' | 'get' | 'size'>;

/** The rows of addresses by their raw form; those that are not kept are read at once. */
export async function readAddressRows(
  addresses: AddressesByRaw,
  wanted: WantedFacts,
  context: V3Context,
): Promise<ReadonlyMap<string, AddressRow>> {
  const { network, profile, query } = context;
  const { addressRows: kept } = network;
  const rows = new Map<string, AddressRow>();
  const missing = new Map<string, Address>();
  for (const raw of addresses.keys()) {
    const row = kept?.get(raw, profile, wanted);
    if (row === undefined) missing.set(raw, addresses.get(raw)!);
    else rows.set(raw, row);
  }
  if (missing.size === 0) return rows;
  const named = wanted.tokens ? { contracts: [...missing.values()] } : { accounts: [...missing.values()] };
  const isWhole = await lookUpNamed(named, context);
  const keep = isWhole ? kept?.beginRead() : undefined;
  const facts = await network.index.addressFacts([...missing.values()], wanted, query);
  for (const [raw, address] of missing) {
    const row = addressRow(raw, address, facts, wanted, context);
    keep?.(raw, profile, wanted, row);
    rows.set(raw, row);
  }
  return rows;
}

function addressRow(
  raw: string,
  address: Address,
  facts: AddressFacts,
  wanted: WantedFacts,
  context: V3Context,
): AddressRow {
  const keys = [accountDependency(address)];
  const masters: [string, string][] = [];
  const own = facts.tokens.get(address.toRaw());
  for (const token of own?.tokens ?? []) {
    if (token.kind !== 'jetton_wallets') continue;
    keys.push(accountDependency(token.jetton));
    const tokens = facts.tokens.get(token.jetton.toRaw())?.tokens.filter(({ kind }) => kind === 'jetton_masters');
    if (tokens !== undefined && tokens.length > 0) masters.push([upperCaseRaw(token.jetton), metadataOf(tokens)]);
  }
  const book = wanted.domains ? `"${raw}":${addressBookRow(address, facts, context)}` : '';
  const account = facts.accounts.get(address.toRaw());
  return { keys, account, book, metadata: own === undefined ? null : metadataOf(own.tokens), masters };
}

/** The members `address_book` and `metadata` of an answer, without braces around both. */
export function addressRowsText(
  raws: Iterable<string>,
  rows: ReadonlyMap<string, AddressRow>,
  { book, metadata }: { readonly book: boolean; readonly metadata: boolean },
): string {
  const all = [...raws];
  const bookText = book ? addressBookText(all, rows) : '';
  if (!metadata) return `"address_book":{${bookText}}`;
  return `"address_book":{${bookText}},"metadata":{${tokenEntries(all, rows).join(',')}}`;
}

/** The entries of `address_book`. */
export function addressBookText(raws: readonly string[], rows: ReadonlyMap<string, AddressRow>): string {
  return raws.flatMap((raw) => rows.get(raw)?.book ?? []).join(',');
}

/** The entries of `metadata`: of those addresses that are tokens, and of the masters of jetton wallets among them. */
export function tokenEntries(raws: readonly string[], rows: ReadonlyMap<string, AddressRow>): readonly string[] {
  const tokens = new Map<string, string>();
  for (const raw of raws) {
    const metadata = rows.get(raw)?.metadata ?? null;
    if (metadata !== null) tokens.set(raw, metadata);
  }
  for (const raw of raws) {
    for (const [master, text] of rows.get(raw)?.masters ?? []) if (!tokens.has(master)) tokens.set(master, text);
  }
  return [...tokens].map(([raw, text]) => `"${raw}":${text}`);
}
