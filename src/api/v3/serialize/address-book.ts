import type { V3Context } from '#api/v3/context.js';
import { type Dialect, dialectOf } from '#api/v3/serialize/dialect.js';
import { WALLET_CODES } from '#domain/contracts/wallet-codes.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** Code hashes by {@link Address.toRaw}, of accounts that have code. */
export type CodeHashes = ReadonlyMap<string, Uint8Array>;

/**
 * `address_book` of an answer as JSON: the user-friendly form of each address, by one read of the index; `{}` when the request
 * does without.
 *
 * @param addresses by their raw form, as the keys are to be written
 * @param known code hashes of all of them, where these are known: nothing is read then
 */
export async function addressBookText(
  addresses: ReadonlyMap<string, Address>,
  context: V3Context,
  known?: CodeHashes,
): Promise<string> {
  if (context.switches.noAddressBook) return '{}';
  return addressBookRows(addresses, context, known);
}

/** As {@link addressBookText}, also for requests that do without. */
export async function addressBookRows(
  addresses: ReadonlyMap<string, Address>,
  context: V3Context,
  known?: CodeHashes,
): Promise<string> {
  if (addresses.size === 0) return '{}';
  const { network, query, profile } = context;
  const codes = known ?? (await network.index.codeHashes([...new Set(addresses.values())], query));
  const dialect = dialectOf(profile);
  let text = '';
  for (const [key, address] of addresses) {
    const row = rowText(friendly(address, codes, network.isTestnet), dialect);
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${row}`;
  }
  return `{${text}}`;
}

/** A row; interfaces and domains are not known yet. @param form null: not an address, or one without such a form */
export function rowText(form: string | null, dialect: Dialect): string {
  const members =
    dialect.nullable('user_friendly', form === null ? null : `"${form}"`) +
    dialect.nullable('domain', null) +
    ',"interfaces":[]';
  return `{${members.slice(1)}}`;
}

/**
 * Non-bounceable for wallets and for accounts without code, which could not send coins back that came with a mistake;
 * bounceable for all others. Null: the workchain does not fit that form.
 */
function friendly(address: Address, codes: CodeHashes, testnet: boolean): string | null {
  const { workchain } = address;
  if ((workchain << 24) >> 24 !== workchain) return null;
  const code = codes.get(address.toRaw());
  const bounceable = code !== undefined && !WALLET_CODES.has(toHex(code));
  return address.toFriendly({ bounceable, testnet });
}
