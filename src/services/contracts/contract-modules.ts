import type { LiteSource } from '#drivers/lite/lite-source.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';

/** What the service of contracts works with. */
export interface ContractModules {
  readonly chain: ChainReads;
  readonly tvm: Pick<TvmPool, 'runGetMethod' | 'emulateTransaction'>;
  /** For what is asked besides the reads of `chain`: get methods that nodes run, and proofs of previous blocks. */
  readonly askNode: LiteSource;
  readonly clock: Clock;
  readonly logger: Logger;
}
