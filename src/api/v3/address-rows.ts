import { addressBookRow, metadataOf } from '#api/v3/address-book.js';
import type { AddressRow } from '#api/v3/address-row-cache.js';
import { accountDependency } from '#api/v3/answer-keys.js';
import type { V3Context } from '#api/v3/context.js';
import { lookUpNamed } from '#api/v3/coverage.js';
import { upperCaseRaw } from '#api/v3/json-pieces.js';
import type { AddressFacts, WantedFacts } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';

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
