import { interfacesOf } from '#domain/contracts/interfaces.js';
import type { AddressAccount } from '#drivers/store/read/address-facts.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';

interface Told {
  readonly methods: readonly number[] | null;
  readonly text: string | null;
}

/** Memory for texts, in bytes, and what an entry takes beside its text. */
const CACHE_BYTES = 2 * 2 ** 20;
const ENTRY_BYTES = 256;

/** By the hash of the code. */
const told = new LruByBytes<Told>(CACHE_BYTES);

/**
 * What kinds of contract an account with code is of, as JSON; null where its get methods are known and of no kind. `[]` is said
 * where they are not known, and no kind has that code.
 */
export function interfacesText(code_hash: Uint8Array, methods: readonly number[] | null): string | null {
  const key = toHex(code_hash);
  const known = told.get(key);
  if (known !== undefined && known.methods === methods) return known.text;
  const names = interfacesOf(key, methods);
  const text = names.length === 0 && methods !== null ? null : JSON.stringify(names);
  told.set(key, { methods, text }, ENTRY_BYTES + (text?.length ?? 0));
  return text;
}

/** The same in a row of the address book. @param account undefined: it has no state; one without code is of no kind: null */
export function interfacesOfAddress(account: AddressAccount | undefined): string | null {
  if (account === undefined) return '[]';
  return account.code_hash === null ? null : interfacesText(account.code_hash, account.methods);
}
