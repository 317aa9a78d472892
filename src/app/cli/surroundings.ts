import { randomBytes } from 'node:crypto';
import type { Surroundings } from '#app/service/surroundings.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import type { Logger } from '#kernel/observe/logger.js';

/** The real time, the real randomness. */
export function realSurroundings(logger: Logger): Surroundings {
  return {
    clock: systemClock,
    unixTimeMs: Date.now,
    random: Math.random,
    randomBytes: (size) => randomBytes(size),
    logger,
  };
}
