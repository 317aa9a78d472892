import { Type } from '@sinclair/typebox';
import {
  answerObject,
  booleanField,
  interfacesField,
  mapField,
  nullableField,
  optionalField,
  type ProfileFormat,
  profileFormat,
  textField,
  upperCaseRaw,
} from '#api/v3/answer-type.js';
import type { V3Context } from '#api/v3/context.js';
import { interfaceNamesOf } from '#domain/contracts/code-methods.js';
import { type MetadataOverride, tokenMetadata } from '#domain/contracts/token-metadata.js';
import { WALLET_CODES } from '#domain/contracts/wallet.js';
import type { AddressAccount, AddressFacts, AddressTokens, TokenFacts } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';

export const AddressBookRowJson = answerObject(
  'AddressBookRow',
  {
    user_friendly: nullableField(
      textField(
        'User-friendly form: non-bounceable for wallets and accounts without code, bounceable for other contracts.',
      ),
    ),
    domain: nullableField(
      textField('The shortest of the `.ton` and `.t.me` domains that the account owns and that lead to it.'),
    ),
    interfaces: nullableField(interfacesField),
  },
  'How to show an account.',
);

export const AddressBookJson = mapField(AddressBookRowJson, {
  $id: 'AddressBook',
  description: 'How to show the accounts of the answer, by raw address. Empty with `X-No-Address-Book`.',
});

const TokenInfo = answerObject('TokenInfo', {
  type: optionalField(textField('`jetton_masters`, `jetton_wallets`, `nft_collections` or `nft_items`.')),
  valid: optionalField(booleanField('There is what such a token must have: a symbol, a name, a domain.')),
  name: optionalField(textField('Name.')),
  symbol: optionalField(textField('Symbol.')),
  description: optionalField(textField('Description.')),
  image: optionalField(textField('Link to an image.')),
  nft_index: optionalField(textField('Index in the collection: a decimal number as text.')),
  is_nsfw: optionalField(booleanField('Whoever runs the service says that it is not for everybody’s eyes.')),
  is_scam: optionalField(booleanField('Whoever runs the service says that it is a fraud.')),
  extra: optionalField(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'All the rest, such as `uri`, `decimals`, `attributes`; of a jetton wallet `balance`, `owner` and `jetton`.',
      },
    ),
  ),
});

const AddressMetadata = answerObject('AddressMetadata', {
  is_indexed: booleanField('False: what its link leads to is still to be read, and nothing more is told.'),
  token_info: Type.Array(TokenInfo),
});

export const MetadataJson = mapField(AddressMetadata, {
  $id: 'Metadata',
  description:
    'What tokens among the accounts say of themselves, by raw address; of jetton wallets also what their jettons say. Empty with ' +
    '`X-No-Metadata`.',
});

/**
 * Rows of an address book as JSON: how to show accounts, and what they are known to be.
 *
 * @param addresses by the keys that are to be written
 */
export function addressBookText(
  addresses: ReadonlyMap<string, Address>,
  { accounts, domains }: AddressFacts,
  { network, profile }: V3Context,
): string {
  const dialect = profileFormat(profile);
  let text = '';
  for (const [key, address] of addresses) {
    const raw = address.toRaw();
    const account = accounts.get(raw);
    const form = friendly(address, account, network.isTestnet);
    const row = rowText(form, domains.get(raw) ?? null, interfacesOfAddress(account), dialect);
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${row}`;
  }
  return `{${text}}`;
}

/** The row of a text that is no address. */
export function emptyRowText(dialect: ProfileFormat): string {
  return rowText(null, null, '[]', dialect);
}

/** @param form null: not an address, or one without such a form @param interfaces JSON text */
function rowText(
  form: string | null,
  domain: string | null,
  interfaces: string | null,
  dialect: ProfileFormat,
): string {
  const members =
    dialect.nullable('user_friendly', form === null ? null : `"${form}"`) +
    dialect.nullable('domain', domain === null ? null : JSON.stringify(domain)) +
    dialect.nullable('interfaces', interfaces);
  return `{${members.slice(1)}}`;
}

/**
 * Non-bounceable for wallets and for accounts without code, which could not send coins back that came with a mistake;
 * bounceable for all others. Null: the workchain does not fit that form.
 */
function friendly(address: Address, account: AddressAccount | undefined, testnet: boolean): string | null {
  const { workchain } = address;
  if ((workchain << 24) >> 24 !== workchain) return null;
  const code = account?.code_hash ?? null;
  const bounceable = code !== null && !WALLET_CODES.has(toHex(code));
  return address.toFriendly({ bounceable, testnet });
}

interface CachedInterfaces {
  readonly methods: readonly number[] | null;
  readonly text: string | null;
}

/** Memory for texts, in bytes, and what an entry takes beside its text. */
const CACHE_BYTES = 2 * 2 ** 20;
const ENTRY_BYTES = 256;

/** By the hash of the code. */
const interfacesCache = new LruByBytes<CachedInterfaces>(CACHE_BYTES);

/**
 * What kinds of contract an account with code is of, as JSON; null where its get methods are known and of no kind. `[]` is said
 * where they are not known, and no kind has that code.
 */
export function interfacesText(code_hash: Uint8Array, methods: readonly number[] | null): string | null {
  const key = toHex(code_hash);
  const known = interfacesCache.get(key);
  if (known !== undefined && known.methods === methods) return known.text;
  const names = interfaceNamesOf(key, methods);
  const text = names.length === 0 && methods !== null ? null : JSON.stringify(names);
  interfacesCache.set(key, { methods, text }, ENTRY_BYTES + (text?.length ?? 0));
  return text;
}

/** The same in a row of the address book. @param account undefined: it has no state; one without code is of no kind: null */
export function interfacesOfAddress(account: AddressAccount | undefined): string | null {
  if (account === undefined) return '[]';
  return account.code_hash === null ? null : interfacesText(account.code_hash, account.methods);
}

/** `metadata` of an answer as JSON: of those addresses that are tokens, and of the masters of jetton wallets among them. */
export function metadataText(tokens: AddressFacts['tokens']): string {
  const entries: string[] = [];
  for (const entry of tokens.values()) entries.push(`"${upperCaseRaw(entry.address)}":${entryText(entry)}`);
  return `{${entries.join(',')}}`;
}

/** The members of an object of `token_info`, as far as it has them. */
type TokenInfoMembers = Readonly<Record<string, unknown>>;

function entryText({ tokens }: AddressTokens): string {
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

/** Null: what its link leads to is still to be read. */
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
