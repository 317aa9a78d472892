import { sha256Into } from '#formats/cells/sha256.js';

const utf8 = new TextEncoder();

/** sha256 of a name: the key under which dictionaries of contracts keep what has that name. 32 bytes. */
export function keyOfName(name: string): Uint8Array {
  const bytes = utf8.encode(name);
  const key = new Uint8Array(32);
  sha256Into(bytes, bytes.length, key, 0);
  return key;
}
