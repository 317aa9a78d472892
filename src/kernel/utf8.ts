import { isUtf8 } from 'node:buffer';

/** Text of UTF-8 bytes, a byte order mark included; null when they are no UTF-8. Faster than a strict `TextDecoder`, which browsers have as well. */
export function utf8Text(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
