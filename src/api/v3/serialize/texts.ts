import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64 } from '#kernel/bytes/bytes.js';

const WITH_CRC = { crc32c: true } as const;

/** A quoted text in which nothing must be escaped: base64, digits, names of constructors. */
export function quoted(text: string): string {
  return `"${text}"`;
}

/** An integer as a JSON text of its decimal digits. Numbers are written quicker than bigints, and most are no longer. */
export function decimal(value: bigint | number): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? `"${number}"` : `"${value}"`;
}

/** Bytes in standard base64, as JSON. */
export function base64(bytes: Uint8Array): string {
  return `"${toBase64(bytes)}"`;
}

const scratch = Buffer.alloc(32);

/** 32 bytes in standard base64: as {@link base64}, without a buffer for each. */
export function hashBase64(hash: Uint8Array): string {
  scratch.set(hash);
  return scratch.toString('base64');
}

/** As {@link hashBase64}, as JSON. */
export function hashText(hash: Uint8Array): string {
  return `"${hashBase64(hash)}"`;
}

/** The raw form, hexadecimal digits in upper case: `0:ABC…`. */
export function rawAddress(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** As {@link rawAddress}, as JSON. */
export function addressText(address: Address): string {
  return `"${rawAddress(address)}"`;
}

/** A bag of cells with a checksum in base64, as JSON. */
export function bocText(cell: Cell): string {
  return `"${toBase64(serializeBoc(cell, WITH_CRC))}"`;
}

/** Amounts by currency id, as JSON; `{}` for none. */
export function currenciesText(amounts: Iterable<readonly [number, bigint]>): string {
  let text = '';
  for (const [id, amount] of amounts) text += `${text === '' ? '' : ','}"${id}":"${amount}"`;
  return `{${text}}`;
}

/** `[a,b]` */
export function listText(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
