import { FairQueue, type Turn } from '#drivers/tvm/fair-queue.js';
import type { Clock } from '#kernel/clock.js';
import { type Deadline, withDeadline } from '#kernel/deadline.js';

interface Waiting extends Turn {
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

const MOST_WAITING = { most: 1_024, mostOfClient: 128, mostOfContract: 32 };

/** Lets a bounded number of works run at once; clients, and contracts of a client, take turns. */
export class FairGate {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #full: (waiting: number) => Error;
  readonly #queue = new FairQueue<Waiting>(MOST_WAITING);
  #running = 0;

  /** @param full the error of a work for which the queue has no room */
  constructor(most: number, clock: Clock, full: (waiting: number) => Error) {
    this.#most = most;
    this.#clock = clock;
    this.#full = full;
  }

  /** @throws as `work`; `full`; the errors of the deadline */
  async run<T>({ client, contract }: Turn, deadline: Deadline, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await this.#wait({ client, contract }, deadline);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const next = this.#queue.take();
    if (next === undefined) this.#running--;
    else next.enter();
  }

  async #wait(turn: Turn, deadline: Deadline): Promise<void> {
    let waiting: Waiting | undefined;
    let isIn = false;
    const turned = new Promise<void>((resolve, refuse) => {
      const enter = (): void => {
        isIn = true;
        resolve();
      };
      waiting = { ...turn, enter, refuse };
      this.#queue.add(waiting)?.refuse(this.#full(this.#queue.size));
    });
    try {
      await withDeadline(turned, deadline, this.#clock);
    } catch (error) {
      this.#queue.remove(waiting!);
      if (isIn) this.#leave();
      throw error;
    }
  }
}
