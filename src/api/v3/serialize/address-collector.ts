import { rawAddress } from '#api/v3/serialize/texts.js';
import type { Address } from '#formats/address/address.js';

/** The addresses that an answer names, each once. */
export class AddressCollector {
  readonly #byRaw = new Map<string, Address>();

  /** By their raw form, hexadecimal digits in upper case. */
  get byRaw(): ReadonlyMap<string, Address> {
    return this.#byRaw;
  }

  /** @returns the raw form, as JSON */
  add(address: Address): string {
    const raw = rawAddress(address);
    this.#byRaw.set(raw, address);
    return `"${raw}"`;
  }
}
