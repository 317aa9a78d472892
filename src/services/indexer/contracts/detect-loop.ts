import type { ClientBase } from 'pg';
import type { Database } from '#drivers/store/database.js';
import { countQueued, queueReferrers } from '#drivers/store/write/contract-queue.js';
import { areContractsQueued, queueNextAccounts } from '#drivers/store/write/derivations.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { DetectPace, DetectSums } from '#services/indexer/contracts/detect-protocol.js';
import type { ContractDetector } from '#services/indexer/contracts/detector.js';
import { WALLET_CODE_HASHES } from '#services/indexer/contracts/plain-codes.js';

export interface DetectLoopModules {
  readonly detector: Pick<ContractDetector, 'next'>;
  readonly database: Database;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly unixTime: () => number;
  readonly onLooked: (sums: DetectSums) => void;
  /** How many wait, told from time to time while there is much to do. */
  readonly onQueued: (queued: number) => void;
  /** Nothing is due. `wake` is the number of the last one that came before it was looked; `soon`: what will be due in seconds. */
  readonly onIdle: (wake: number, queued: number, soon: number) => void;
  /** What stands in the way; null: nothing any more. */
  readonly onTrouble: (error: unknown) => void;
}

/** Accounts that are put into the queue at a time, which is done while fewer than so many are due. */
const QUEUE_PAGE = 2000;

/** What may become due by itself is looked for so often, and after a failure. */
const POLL_MS = 1000;
/** So often it is counted how many wait; in a long queue that takes a while. */
const COUNT_MS = 5000;
/** One who waits for a share of the machine works so long at a time at least. */
const MIN_WORK_MS = 20;

/** Looks at contracts as long as any are due, and then waits. */
export class DetectLoop {
  readonly #modules: DetectLoopModules;
  readonly #stop = new AbortController();
  #pace: DetectPace = { newestFirst: false, share: 1 };
  #wake = 0;
  #nap = new AbortController();
  #counted = Number.NEGATIVE_INFINITY;

  constructor(modules: DetectLoopModules) {
    this.#modules = modules;
  }

  setPace(pace: DetectPace): void {
    this.#pace = pace;
    this.#nap.abort();
  }

  wake(number: number): void {
    this.#wake = Math.max(this.#wake, number);
    this.#nap.abort();
  }

  stop(): void {
    this.#stop.abort();
    this.#nap.abort();
  }

  /** Ends when it is stopped. Never rejects. */
  async run(): Promise<void> {
    const { clock, onTrouble } = this.#modules;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#round();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        onTrouble(error);
        await pause(POLL_MS, clock, this.#stop.signal);
      }
    }
  }

  async #round(): Promise<void> {
    const { detector, database, clock, onLooked, onQueued, onIdle } = this.#modules;
    // Who gives up a nap for this has been heard.
    this.#nap = new AbortController();
    const wake = this.#wake;
    const begun = clock.now();
    if (begun - this.#counted >= COUNT_MS) {
      onQueued((await database.withWriter(countQueued)).all);
      this.#counted = begun;
    }
    const sums = await detector.next(this.#pace.newestFirst);
    if (sums !== null) {
      onLooked(sums);
      await this.#leaveToOthers(clock.now() - begun);
      return;
    }
    if (await this.#queueMore()) return;
    const { all, soon } = await database.withWriter(countQueued);
    onIdle(wake, all, soon);
    if (this.#wake === wake) await pause(POLL_MS, clock, this.#nap.signal);
  }

  /** Until others have had their share of the time. */
  async #leaveToOthers(workedMs: number): Promise<void> {
    const { share } = this.#pace;
    if (share >= 1) return;
    await pause(Math.max(workedMs, MIN_WORK_MS) * (1 / share - 1), this.#modules.clock, this.#stop.signal);
  }

  /** @returns whether there may be something to look at */
  async #queueMore(): Promise<boolean> {
    const { database, unixTime } = this.#modules;
    return database.transaction(async (client) => {
      if ((await areContractsQueued(client)) && (await this.#nothingChanged(client))) return false;
      await lockTraces(client);
      if ((await queueReferrers(client, unixTime(), QUEUE_PAGE)) > 0) return true;
      return !(await queueNextAccounts(client, WALLET_CODE_HASHES, unixTime(), QUEUE_PAGE));
    });
  }

  async #nothingChanged(client: ClientBase): Promise<boolean> {
    const { rows } = await client.query('SELECT FROM changed_contracts LIMIT 1');
    return rows.length === 0;
  }
}
