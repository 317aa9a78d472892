import type { HedgeBudget } from '#drivers/lite/hedge-budget.js';
import type { LitePoolModules, PoolSettings } from '#drivers/lite/options.js';
import type { LiteServer } from '#drivers/lite/server.js';

/** What the requests of a pool have in common. */
export interface PoolContext {
  readonly servers: readonly LiteServer[];
  readonly settings: PoolSettings;
  readonly modules: LitePoolModules;
  readonly hedges: HedgeBudget;
  /** What lag is measured by. */
  readonly referenceSeqno: number;
  readonly isClosed: boolean;
  /** Called whenever a server is of more or of less use than before, and when the pool is closed. */
  readonly watchers: Set<() => void>;
}
