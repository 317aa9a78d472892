import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';

/** What everything in a service needs from outside. */
export interface Surroundings {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** [0, 1), need not be secret. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
}
