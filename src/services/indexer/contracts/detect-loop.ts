import type { ClientBase } from 'pg';
import type { Database } from '#drivers/store/database.js';
import { countQueued, queueReferrers } from '#drivers/store/write/contract-queue.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { type Clock, pause } from '#kernel/clock.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import type { DetectPace, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import type { ContractDetector } from '#services/indexer/contracts/detector.js';
import { contracts } from '#services/indexer/derivations/accounts.js';
import { deriveNextAccounts, isDerived } from '#services/indexer/derivations/derivation-progress.js';

export interface DetectLoopModules {
  readonly detector: Pick<ContractDetector, 'next'>;
  readonly database: Database;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly onDetected: (sums: DetectSums) => void;
  /** Called periodically with the queue length. */
  readonly onQueued: (queued: number) => void;
  /** No account is due. `wake`: number of the last wake received before the check; `soon`: accounts that will be due within seconds. */
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
  /** A problem that blocks all detection. */
  readonly onTrouble: (error: unknown) => void;
}

/** Accounts queued per page of a rederivation. */
const QUEUE_PAGE = 2000;

/** Interval of checks for accounts that become due by time, and pause after a failure. */
const POLL_MS = 1000;
/** Interval of counting the queue, which is slow for a long queue. */
const COUNT_MS = 5000;
/** Minimum assumed work time when leaving time to others. */
const MIN_WORK_MS = 20;

/** Detects contracts while any are due, and then waits. */
export class DetectLoop {
  readonly #modules: DetectLoopModules;
  readonly #stop = sharedAbortController();
  #pace: DetectPace = { newestFirst: false, share: 1 };
  #wake = 0;
  #pause = sharedAbortController();
  #counted = Number.NEGATIVE_INFINITY;

  constructor(modules: DetectLoopModules) {
    this.#modules = modules;
  }

  setPace(pace: DetectPace): void {
    this.#pace = pace;
    this.#pause.abort();
  }

  wake(number: number): void {
    this.#wake = Math.max(this.#wake, number);
    this.#pause.abort();
  }

  stop(): void {
    this.#stop.abort();
    this.#pause.abort();
  }

  /** Resolves when stopped. Never rejects. */
  async run(): Promise<void> {
    const { clock, onTrouble } = this.#modules;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#step();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        onTrouble(error);
        await pause(POLL_MS, clock, this.#stop.signal);
      }
    }
  }

  async #step(): Promise<void> {
    const { detector, database, clock, onDetected, onQueued, onIdle } = this.#modules;
    // A wake that aborted the previous pause is covered by this step.
    this.#pause = sharedAbortController();
    const wake = this.#wake;
    const startedAt = clock.now();
    if (startedAt - this.#counted >= COUNT_MS) {
      onQueued((await database.withWriter(countQueued)).all);
      this.#counted = startedAt;
    }
    const sums = await detector.next(this.#pace.newestFirst);
    if (sums !== null) {
      onDetected(sums);
      await this.#leaveToOthers(clock.now() - startedAt);
      return;
    }
    if (await this.#queueMore()) return;
    const { all, soon } = await database.withWriter(countQueued);
    onIdle(wake, all, soon);
    if (this.#wake === wake) await pause(POLL_MS, clock, this.#pause.signal);
  }

  /** Pauses so that detection uses only its share of time. */
  async #leaveToOthers(workedMs: number): Promise<void> {
    const { share } = this.#pace;
    if (share >= 1) return;
    await pause(Math.max(workedMs, MIN_WORK_MS) * (1 / share - 1), this.#modules.clock, this.#stop.signal);
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
