import type { V3Context } from '#api/v3/context.js';
import { type Dialect, dialectOf } from '#api/v3/serialize/dialect.js';
import { interfacesOfAddress } from '#api/v3/serialize/interfaces.js';
import { WALLET_CODES } from '#domain/contracts/wallet-codes.js';
import type { AddressAccount, AddressFacts } from '#drivers/store/read/address-facts.js';
import type { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes/bytes.js';

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
  const dialect = dialectOf(profile);
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
export function emptyRowText(dialect: Dialect): string {
  return rowText(null, null, '[]', dialect);
}

/** @param form null: not an address, or one without such a form @param interfaces JSON text */
function rowText(form: string | null, domain: string | null, interfaces: string | null, dialect: Dialect): string {
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
