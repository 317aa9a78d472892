import type { Address } from '#formats/address/address.js';
import { serializeBocBase64 } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64 } from '#kernel/bytes.js';

/** An integer as a JSON string of its decimal digits. Numbers are formatted faster than bigints, and most values are small. */
export function decimalText(value: bigint | number): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? `"${number}"` : `"${value}"`;
}

/** Bytes in standard base64, as JSON. */
export function base64Text(bytes: Uint8Array): string {
  return `"${toBase64(bytes)}"`;
}

/** The raw form, hexadecimal digits in upper case: `0:ABC…`. */
export function upperCaseRaw(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** As {@link upperCaseRaw}, as JSON. */
export function addressText(address: Address): string {
  return `"${upperCaseRaw(address)}"`;
}

const WITH_CRC = { crc32c: true } as const;

/** A BoC with a checksum in base64. */
export function checkedBocBase64(cell: Cell): string {
  return serializeBocBase64(cell, WITH_CRC);
}

/** Amounts by currency id, as JSON; `{}` for none. */
export function currenciesText(amounts: Iterable<readonly [number, bigint]>): string {
  let text = '';
  for (const [id, amount] of amounts) text += `${text === '' ? '' : ','}"${id}":"${amount}"`;
  return `{${text}}`;
}
