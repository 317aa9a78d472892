import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AbuseTally } from './abuses/abuse.js';
import type { NetworkFacts } from './hostile-network.js';

/** What the process of the attackers is to do. */
export interface AttackOrder {
  readonly url: string;
  /** Of the abuses, all at once. */
  readonly names: readonly string[];
  /** Keys of plan free: one for each abuse, as far as they go. */
  readonly keys: readonly string[];
  readonly facts: NetworkFacts;
  readonly ms: number;
}

/** Attackers in a process of their own, so that they do not disturb the clocks of the honest clients. */
export class Attackers {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'attack-main.ts'));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves when the time is over. */
  async attack(order: AttackOrder): Promise<Readonly<Record<string, AbuseTally>>> {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the process of the attackers ended with ${code}`);
    });
    const tallies = once(this.#child, 'message', { signal }).then(([message]) => message);
    this.#child.send(order);
    try {
      return await Promise.race([tallies, ended]);
    } finally {
      over.abort();
      await Promise.allSettled([tallies, ended]);
    }
  }

  close(): void {
    this.#child.disconnect();
  }
}
