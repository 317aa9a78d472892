import { type JsonText, jsonText } from '#api/http/json-text.js';
import type { V3Context } from '#api/v3/context.js';
import { rowsOf } from '#api/v3/page.js';
import { AddressCollector } from '#api/v3/serialize/address-collector.js';
import { type Dialect, dialectOf } from '#api/v3/serialize/dialect.js';
import { pageAddressesText } from '#api/v3/serialize/page-addresses.js';
import { listText } from '#api/v3/serialize/texts.js';
import type { Listed } from '#drivers/store/read/index-reads.js';

/** The rows of a page under their name, and what is known of the accounts that they name: with `metadata`, as tokens, too. */
export async function answerList<Row>(
  name: string,
  listed: Listed<Row>,
  text: (row: Row, dialect: Dialect, addresses: AddressCollector) => string,
  context: V3Context,
  { metadata = true }: { readonly metadata?: boolean } = {},
): Promise<JsonText> {
  const dialect = dialectOf(context.profile);
  const addresses = new AddressCollector();
  const texts = rowsOf(listed, context).map((row) => text(row, dialect, addresses));
  return jsonText(`{"${name}":${listText(texts)},${await pageAddressesText(addresses, context, { metadata })}}`);
}
