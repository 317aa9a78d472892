import { parseBocAhead } from '#formats/cells/boc-parse.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import { WorkSlices } from '#kernel/work-slices.js';

/** Smaller bags are hashed in less than a slice. */
const LARGE_BYTES = 128 * 1024;

const FOR_EVER = new AbortController().signal;

/**
 * Hashes a large bag of cells in slices, between which other requests get their turn; a state of 65,536 cells, the most that an
 * account has, takes 100 ms. What is wrong with it is left to the verification.
 *
 * @returns undefined when the bag is not large
 */
export function hashAhead(bytes: Uint8Array): Promise<void> | undefined {
  return bytes.length < LARGE_BYTES ? undefined : hashInSlices(bytes);
}

async function hashInSlices(bytes: Uint8Array): Promise<void> {
  const slices = new WorkSlices(systemClock, FOR_EVER);
  try {
    slices.begin();
    const { table } = parseBocAhead(bytes);
    // References are to later cells only.
    for (let cell = table.count - 1; cell >= 0; cell--) {
      table.hashOffset(cell);
      if (slices.isOver) await slices.next();
    }
  } catch (error) {
    if (!isTernError(error)) throw error;
  }
}
