import type { Recorded } from '#test/support/recorded-v3.js';

/** An answer of the API. */
export type Json = Recorded;

/** Columns of a table of the reference index, as PostgreSQL prints them; the empty text is NULL. */
export type Columns = Readonly<Record<string, string>>;

export function text(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

export function boolean(value: unknown): string {
  return value === null || value === undefined ? '' : value === true ? 't' : 'f';
}

/** Hexadecimal digits as the signed number that they are. */
export function shardNumber(hex: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hex}`)).toString();
}

/** `{"239": "5"}` */
export function currencies(amounts: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(amounts).map(([id, amount]) => `"${id}": "${amount}"`);
  return `{${pairs.join(', ')}}`;
}
