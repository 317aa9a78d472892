import type { V3Context } from '#api/v3/context.js';
import { addressBookText, type CodeHashes } from '#api/v3/serialize/address-book.js';
import type { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { metadataText } from '#api/v3/serialize/metadata.js';

/**
 * What an answer says of the accounts that it names: its last members, `"address_book":{…}` and, of those methods that have it,
 * `"metadata":{…}`.
 *
 * @param known code hashes of all of them, where these are known
 */
export async function pageAddressesText(
  addresses: AddressCollector,
  context: V3Context,
  { metadata = true, known }: { readonly metadata?: boolean; readonly known?: CodeHashes } = {},
): Promise<string> {
  const book = await addressBookText(addresses.byRaw, context, known);
  return `"address_book":${book}${metadata ? `,"metadata":${metadataText()}` : ''}`;
}
