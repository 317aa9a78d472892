import type { Registry } from 'prom-client';
import type { HttpNetwork } from '#api/http/http-api.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { Access } from '#services/access/access.js';

/** What the server needs from outside. */
export interface HttpModules {
  readonly access: Access;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly unixTimeMs: () => number;
  /** Makes request ids; need not be secret. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly logger: Logger;
  /** Where the metrics of HTTP are counted; `/metrics` prints everything in it. */
  readonly metrics: Registry;
  /** At least one; the first is for requests whose host name selects no other. */
  readonly networks: readonly HttpNetwork[];
}
