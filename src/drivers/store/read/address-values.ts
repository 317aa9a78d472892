import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { raw, type Sql, sql, unseen } from '#drivers/store/read/sql.js';
import type { Address } from '#formats/address/address.js';

export function maybeAddress(bytes: Uint8Array | null): Address | null {
  return bytes === null ? null : addressOfBytes(bytes);
}

/** Addresses as they are stored, each once. */
export function distinctAddresses(addresses: readonly Address[]): Uint8Array[] {
  return [...new Map(addresses.map((address) => [address.toRaw(), addressBytes(address)])).values()];
}

/** Rows of a table by their primary key, whatever the planner thinks of the number of addresses. */
export function rowsAt(table: string, addresses: readonly Address[]): Sql {
  return sql`unnest(${unseen(distinctAddresses(addresses), 'bytea[]')}) AS k(address)
    CROSS JOIN LATERAL (SELECT * FROM ${raw(table)} r WHERE r.address = k.address LIMIT 1)`;
}

/** Bytes as a part of a cursor; a first digit 1 keeps zeros. */
export function keyOfBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x1${Buffer.from(bytes).toString('hex')}`);
}

/** The opposite of {@link keyOfBytes}. */
export function bytesOfKey(key: bigint): Uint8Array {
  return Buffer.from(key.toString(16).slice(1), 'hex');
}
