import type { Clock } from '#kernel/clock/clock.js';

/** `setTimeout` calls at once when the delay does not fit into 31 bits. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_DELAY));
    return () => clearTimeout(timer);
  },
};
