import { isTernError } from '#kernel/errors/tern-error.js';
import { readPackEntries } from '#localnet/replay/archive-pack.js';

/** As an entry begins. */
const ENTRY_HEAD = [0x8b, 0x1e];
const NAME = /^(block|proof|prooflink)_\((-?\d+),[0-9a-f]{16},\d+\):[0-9A-F]{64}:[0-9A-F]{64}$/;

/**
 * Whether bytes at the end of a pack can be what a program that was killed has left: the entries of one round, or a part
 * of them from their beginning.
 *
 * @returns `null`, or where in the bytes it is something else
 */
export function unfinishedRound(bytes: Uint8Array): { readonly offset: number; readonly problem: string } | null {
  let ended = false;
  try {
    for (const { name, offset } of readPackEntries(bytes, 0, '')) {
      const match = NAME.exec(name);
      if (match === null) return { offset, problem: 'the entry has a name that nothing in a chain has' };
      if (ended) return { offset, problem: 'the index ends more than one round before it' };
      ended = match[1] === 'proof';
    }
  } catch (error) {
    if (!isTernError(error)) throw error;
    const offset = Number(error.data.offset);
    const begins = ENTRY_HEAD.every((byte, i) => (bytes[offset + i] ?? byte) === byte);
    if (error.code !== 'replay/torn-pack' || !begins) return { offset, problem: 'no entry begins here' };
    if (ended) return { offset, problem: 'the index ends more than one round before it' };
  }
  return null;
}
