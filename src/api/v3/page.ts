import { type JsonText, jsonText } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { addressBookText, metadataText } from '#api/v3/address-book.js';
import { listText, type ProfileFormat, profileFormat, upperCaseRaw } from '#api/v3/answer-type.js';
import type { V3Context } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { DEFAULT_PAGE_ROWS } from '#api/v3/parameters.js';
import type { AddressFacts, Listed, Page, WantedFacts } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';

/** The header that names the cursor of the next page. */
const NEXT_HEADER = 'X-Tern-Next';

interface PageParameters {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
}

/** Which stretch a request asks for. */
export function pageOf(params: PageParameters, { profile }: Pick<V3Context, 'profile'>): Page {
  const { limit = DEFAULT_PAGE_ROWS[profile], offset = 0, sort = 'desc', cursor = null } = params;
  return { limit, offset, sort, cursor };
}

/** A cursor knows where it is. @throws http/bad-parameter */
export function checkPage({ cursor, offset }: PageParameters): void {
  if (cursor === undefined || offset === undefined || offset === 0) return;
  throw httpErrors['bad-parameter']({ parameter: 'offset', problem: 'it cannot be given together with cursor' });
}

/** The rows; says in a header how to go on. */
export function rowsOf<Row>({ rows, next }: Listed<Row>, { header }: Pick<V3Context, 'header'>): readonly Row[] {
  if (next !== null) header(NEXT_HEADER, next);
  return rows;
}

/** The addresses that an answer names, each once. */
export class AddressCollector {
  readonly #byRaw = new Map<string, Address>();

  /** By their raw form, hexadecimal digits in upper case. */
  get byRaw(): ReadonlyMap<string, Address> {
    return this.#byRaw;
  }

  /** @returns the raw form, as JSON */
  add(address: Address): string {
    const raw = upperCaseRaw(address);
    this.#byRaw.set(raw, address);
    return `"${raw}"`;
  }
}

/** Whether the method has `metadata`; default: true. */
interface PageParts {
  readonly metadata?: boolean;
}

const NOTHING: AddressFacts = { accounts: new Map(), domains: new Map(), tokens: new Map() };

/**
 * What an answer says of the accounts that it names: its last members, `"address_book":{…}` and, of those methods that have it,
 * `"metadata":{…}`. The index is read once, and not at all where the request does without both.
 */
export async function pageAddressesText(
  addresses: AddressCollector,
  context: V3Context,
  parts: PageParts = {},
): Promise<string> {
  const { network, query } = context;
  const all = [...addresses.byRaw.values()];
  const wanted = wantedFacts(context, parts);
  const isWanted = all.length > 0 && (wanted.domains || wanted.tokens);
  const facts = isWanted ? await network.index.addressFacts(all, wanted, query) : NOTHING;
  return addressesText(addresses, facts, context, parts);
}

/** What has to be read for {@link addressesText}. */
export function wantedFacts({ switches }: V3Context, { metadata = true }: PageParts = {}): WantedFacts {
  return { domains: !switches.noAddressBook, tokens: metadata && !switches.noMetadata };
}

/** As {@link pageAddressesText}, of facts that were read before. */
export function addressesText(
  addresses: AddressCollector,
  facts: AddressFacts,
  context: V3Context,
  { metadata = true }: PageParts = {},
): string {
  const book = context.switches.noAddressBook ? '{}' : addressBookText(addresses.byRaw, facts, context);
  return `"address_book":${book}${metadata ? `,"metadata":${metadataText(facts.tokens)}` : ''}`;
}

/** The rows of a page under their name, and what is known of the accounts that they name: with `metadata`, as tokens, too. */
export async function answerList<Row>(
  name: string,
  listed: Listed<Row>,
  text: (row: Row, dialect: ProfileFormat, addresses: AddressCollector) => string,
  context: V3Context,
  { metadata = true }: { readonly metadata?: boolean } = {},
): Promise<JsonText> {
  const dialect = profileFormat(context.profile);
  const addresses = new AddressCollector();
  const texts = rowsOf(listed, context).map((row) => text(row, dialect, addresses));
  return jsonText(`{"${name}":${listText(texts)},${await pageAddressesText(addresses, context, { metadata })}}`);
}

/** For a list that turned out empty: there may be nothing, or nothing may be known. @throws v3/masterchain-block-not-found */
export async function requireIndexedMcBlock(mc_seqno: number, { network, query }: V3Context): Promise<void> {
  if (await network.index.hasMcBlock(mc_seqno, query)) return;
  throw v3Errors['masterchain-block-not-found']({ mc_seqno });
}
