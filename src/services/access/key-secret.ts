import { hash } from 'node:crypto';
import { toBase64Url } from '#kernel/bytes/bytes.js';

const PREFIX = 'tern_';
const SECRET_BYTES = 32;
const LENGTH = PREFIX.length + 43;

/** Secret random bytes. */
export type RandomBytes = (size: number) => Uint8Array;

/** A new API key: `tern_` and 256 random bits in base64url, 48 characters. It is shown once and kept nowhere. */
export function newApiKey(randomBytes: RandomBytes): string {
  return PREFIX + toBase64Url(randomBytes(SECRET_BYTES));
}

/** The id of a new key: `key_` and 10 hexadecimal digits. It is no secret. */
export function newKeyId(randomBytes: RandomBytes): string {
  return `key_${Buffer.from(randomBytes(5)).toString('hex')}`;
}

/**
 * Whether a text could be a key at all. It looks at the length first, so that a text of any size costs nothing; only what
 * passes is hashed.
 */
export function looksLikeApiKey(text: string): boolean {
  return text.length === LENGTH && text.startsWith(PREFIX) && /^[\w-]+$/.test(text);
}

/**
 * What is stored of a key: its SHA-256. Slow hashes and peppers protect secrets that people choose and that can be guessed;
 * among 2^256 keys nobody finds the one of a hash, and a table of them cannot be made.
 */
export function hashApiKey(key: string): Uint8Array {
  return hash('sha256', key, 'buffer');
}
