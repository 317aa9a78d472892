import { type IndexWork, indexState, isOverlap, newestRange } from '#services/indexer/index-work.js';
import { RoundQueue, type SeenRound } from '#services/indexer/round-queue.js';
import type { Round } from '#services/indexer/rounds/round.js';
import type { WritePool } from '#services/indexer/work/write-pool.js';

/** With more masterchain blocks to go than this, they are fetched ahead instead of one by one. */
const BEHIND = 4;

/** As many as this go into one transaction at most: all of them wait for its end. */
const MAX_ROUNDS = 32;

const IN_TURN = async (): Promise<void> => {};

/** Writes the newest rounds, each as soon as it is there; several at once when it is behind. */
export class Follower {
  readonly #work: IndexWork;
  readonly #threads: WritePool;

  constructor(work: IndexWork, threads: WritePool) {
    this.#work = work;
    this.#threads = threads;
  }

  /** @throws indexer/stopped */
  async run(from: number, signal: AbortSignal): Promise<void> {
    const { retries, settings } = this.#work;
    let next = from;
    for (;;) {
      try {
        await this.#stream(next, signal);
      } catch (error) {
        if (!isOverlap(error)) throw error;
      }
      const { rounds } = await retries.run(() => indexState(this.#work), signal);
      next = Math.max((newestRange(rounds)?.to ?? 0) + 1, settings.from === 'now' ? 1 : (settings.from ?? 1));
    }
  }

  async #stream(from: number, outer: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const queue = new RoundQueue(this.#work.settings.batchBytes * 2);
    const close = (): void => queue.close();
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    const fetching = this.#fetch(from, queue, signal);
    fetching.catch(() => stop.abort());
    try {
      for (;;) await this.#write(await queue.take(MAX_ROUNDS, this.#work.settings.batchBytes), signal);
    } finally {
      stop.abort();
      await fetching.catch(() => {});
    }
  }

  async #fetch(from: number, queue: RoundQueue, signal: AbortSignal): Promise<void> {
    const { facts, rounds, clock, retries } = this.#work;
    let next = from;
    const put = async (round: Round, seen: number): Promise<void> => {
      next = round.mc_seqno + 1;
      await queue.put({ round, seen });
    };
    await retries.run(async () => {
      for (;;) {
        const head = (await facts.waitForHead(next, signal)).block.seqno;
        const seen = clock.now();
        if (head - next < BEHIND) await put(await rounds.round(next, signal), seen);
        else for await (const round of rounds.rounds(next, head, signal)) await put(round, seen);
      }
    }, signal);
  }

  async #write(seen: readonly SeenRound[], signal: AbortSignal): Promise<void> {
    const { retries, facts, clock, onWritten } = this.#work;
    const rounds = seen.map(({ round }) => round);
    const write = async () => {
      const zerostates = rounds[0]!.mc_seqno === 1 ? await facts.zerostates(signal) : null;
      return this.#threads.write({ rounds, zerostates }, { alone: true, turn: IN_TURN }, signal);
    };
    const report = await retries.run(write, signal, isOverlap);
    onWritten({ ...report, mode: 'follow', delayMs: clock.now() - seen.at(-1)!.seen });
  }
}
