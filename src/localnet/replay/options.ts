import { replayErrors } from '#localnet/replay/errors.js';
import type { Pace } from '#localnet/replay/head-pacer.js';

/** What to replay, and how. */
export interface ReplayOptions {
  /** The last masterchain block to serve, from 1 on; null, the default, for all that were recorded. */
  readonly to: number | null;
  /** How fast the head moves from block 1 to the last one; null, the default: the whole history is there at once. */
  readonly pace: Pace | null;
}

const MAX_RATE = 1_000_000;

/**
 * Reads `real`, `10x` (so many times as fast) or `5` (so many masterchain blocks a second).
 * @throws replay/bad-option
 */
export function parsePace(text: string): Pace {
  if (text === 'real') return { kind: 'times', factor: 1 };
  const match = /^(\d+(?:\.\d+)?)(x?)$/.exec(text);
  const rate = Number(match?.[1]);
  if (match === null || !(rate > 0 && rate <= MAX_RATE)) {
    const accepted = `real, 10x, or a number of blocks a second, above 0 and at most ${MAX_RATE}`;
    throw replayErrors['bad-option']({ option: '--pace', found: `"${text}"`, accepted });
  }
  return match[2] === 'x' ? { kind: 'times', factor: rate } : { kind: 'blocks', perSecond: rate };
}

/** Reads the seqno of a masterchain block. @throws replay/bad-option */
export function parseSeqno(option: string, text: string): number {
  const seqno = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (seqno >= 1 && seqno < 2 ** 32) return seqno;
  throw replayErrors['bad-option']({ option, found: `"${text}"`, accepted: 'a seqno of the masterchain, from 1 on' });
}
