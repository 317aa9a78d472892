import { toHex } from '#kernel/bytes.js';

/** The header of an answer to a message that was sent: where its way to final transactions can be followed. */
export const FOLLOW_HEADER = 'X-Tern-Follow';

/** The path of the route that follows messages, without the hash. */
export const FOLLOW_PATH = '/api/v3/follow';

/** @param hash normalised hash of the message (TEP-467) */
export function followUrl(hash: Uint8Array): string {
  return `${FOLLOW_PATH}/${toHex(hash)}`;
}
