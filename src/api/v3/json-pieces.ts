import type { SerializedJson } from '#api/http/endpoint.js';
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

/** From so many characters on JSON is joined in UTF-8: it is sent as it is then, and no string is made of all its parts. */
const IN_UTF8_FROM = 1_024;

/** JSON of which parts are kept in UTF-8: its parts in their order, to be joined once. */
export class JsonPieces {
  readonly #pieces: SerializedJson[] = [];
  #length = 0;
  #hasBytes = false;

  /** Characters or bytes, as the parts have them. */
  get length(): number {
    return this.#length;
  }

  add(...pieces: readonly SerializedJson[]): void {
    for (const piece of pieces) {
      this.#pieces.push(piece);
      this.#length += piece.length;
      if (typeof piece !== 'string') this.#hasBytes = true;
    }
  }

  /** All parts in UTF-8, in memory of their own. */
  inUtf8(): Uint8Array {
    let length = 0;
    for (const piece of this.#pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
    const out = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') at += out.write(piece, at);
      else {
        out.set(piece, at);
        at += piece.length;
      }
    }
    return out;
  }

  /**
   * All parts, and behind them the end.
   *
   * @returns `from`: where the end begins, in characters of a string or else in bytes
   */
  joinWith(end: string): { readonly json: SerializedJson; readonly from: number } {
    if (!this.#hasBytes && this.#length < IN_UTF8_FROM) {
      const head = this.#pieces.join('');
      return { json: head + end, from: head.length };
    }
    this.add(end);
    const json = this.inUtf8();
    return { json, from: json.length - Buffer.byteLength(end) };
  }
}

export function jsonPieces(...first: readonly SerializedJson[]): JsonPieces {
  const pieces = new JsonPieces();
  pieces.add(...first);
  return pieces;
}

/** In UTF-8, in memory of its own. */
export function jsonInUtf8(json: string): Uint8Array {
  const out = Buffer.allocUnsafeSlow(Buffer.byteLength(json));
  out.write(json);
  return out;
}
