import type { V3Context } from '#api/v3/context.js';
import { addressBookText } from '#api/v3/serialize/address-book.js';
import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { metadataText } from '#api/v3/serialize/metadata.js';
import type { AddressFacts, WantedFacts } from '#drivers/store/read/address-facts.js';

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
