import type { ClientBase } from 'pg';
import type { Database } from '#drivers/store/database.js';
import { countQueued, queueReferrers } from '#drivers/store/write/contract-queue.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import type { DetectPace, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import type { ContractDetector } from '#services/indexer/contracts/detector.js';
import type { PastContractReader } from '#services/indexer/contracts/past-contracts.js';
import { contracts } from '#services/indexer/derivations/accounts.js';
import { deriveNextAccounts, isDerived } from '#services/indexer/derivations/derivation-progress.js';
import { WakeLoop, type WakeLoopModules } from '#services/indexer/wake-loop.js';

export interface DetectLoopModules extends WakeLoopModules {
  readonly detector: Pick<ContractDetector, 'next'>;
  readonly past: Pick<PastContractReader, 'next'>;
  readonly database: Database;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly onDetected: (sums: DetectSums) => void;
  /** Called periodically with the queue length. */
  readonly onQueued: (queued: number) => void;
  /** No account is due. `wake`: number of the last wake received before the check; `soon`: accounts that will be due within seconds. */
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
}

/** Accounts queued per page of a rederivation. */
const QUEUE_PAGE = 2000;

/** Interval of counting the queue, which is slow for a long queue. */
const COUNT_MS = 5000;
/** Minimum assumed work time when leaving time to others. */
const MIN_WORK_MS = 20;

/** Detects contracts while any are due, and then waits. */
export class DetectLoop extends WakeLoop<DetectPace> {
  readonly #modules: DetectLoopModules;
  #counted = Number.NEGATIVE_INFINITY;

  constructor(modules: DetectLoopModules) {
    super({ newestFirst: false, share: 1 }, modules);
    this.#modules = modules;
  }

  protected async step(): Promise<boolean> {
    const { detector, past, database, clock, onDetected, onQueued } = this.#modules;
    const startedAt = clock.now();
    if (startedAt - this.#counted >= COUNT_MS) {
      onQueued((await database.withWriter(countQueued)).all);
      this.#counted = startedAt;
    }
    const sums = (await detector.next(this.pace.newestFirst)) ?? (await past.next());
    if (sums === null) return this.#queueMore();
    onDetected(sums);
    const { share } = this.pace;
    if (share < 1) await this.rest(Math.max(clock.now() - startedAt, MIN_WORK_MS) * (1 / share - 1));
    return true;
  }

  protected async idle(wake: number): Promise<void> {
    const { database, onIdle } = this.#modules;
    const { all, soon } = await database.withWriter(countQueued);
    onIdle(wake, all, soon);
  }

  /** @returns whether there may be accounts to detect */
  async #queueMore(): Promise<boolean> {
    const { database, unixTime } = this.#modules;
    return database.transaction(async (client) => {
      if ((await isDerived(client, contracts)) && (await this.#nothingChanged(client))) return false;
      await lockTraces(client);
      if ((await queueReferrers(client, unixTime(), QUEUE_PAGE)) > 0) return true;
      return deriveNextAccounts(client, contracts, unixTime());
    });
  }

  async #nothingChanged(client: ClientBase): Promise<boolean> {
    const { rows } = await client.query('SELECT FROM changed_contracts LIMIT 1');
    return rows.length === 0;
  }
}
