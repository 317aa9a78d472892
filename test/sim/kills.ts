import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '#test/fuzz/random.js';
import { testServerUrl } from '#test/support/test-database.js';
import { DatabaseTap, type Moment } from './database-tap.js';
import { differences, emptyIndex, type IndexUnderWay } from './index-ground.js';
import { IndexerProcess, type Program } from './indexer-process.js';
import type { RecordedNetwork } from './recorded-network.js';

export interface KillOptions {
  readonly network: RecordedNetwork;
  /** `fill`: `tern index` up to the last block; `follow`: `tern serve`, while the head moves. */
  readonly work: 'fill' | 'follow';
  readonly kills: number;
  readonly seed: string;
  readonly program: Program;
  readonly say: (line: string) => void;
}

export interface KillReport {
  readonly kills: number;
  /** How often the index was begun again, as it was whole. */
  readonly lives: number;
  /** How many kills were when. */
  readonly moments: ReadonlyMap<string, number>;
  /** How many of them were in each tenth of the work. */
  readonly tenths: readonly number[];
  readonly seconds: number;
  /** What is not as in the run that nothing interrupted. */
  readonly differences: readonly string[];
}

const BLOCKS_PER_SECOND = 20;
const POLL_MS = 25;
/** A process gets as far as this before it is killed: each does a part of the work. */
const MOST_COMMITS = 8;
/** A moment that does not come so soon after the work began is not waited for. */
const MOMENT_MS = 10_000;
const PATIENCE_MS = 180_000;

/**
 * Kills an indexer again and again, at moments that are spread over all that it asks of the database and over time, and
 * starts it again each time; holds the database against that of a run which nothing interrupted.
 */
export async function killAgainAndAgain(options: KillOptions): Promise<KillReport> {
  const tap = await DatabaseTap.listen(await testServerUrl());
  const kept = await emptyIndex(options.network);
  try {
    return await new Campaign(options, tap).run(kept);
  } finally {
    await tap.close();
    await kept.close();
  }
}

class Campaign {
  readonly #options: KillOptions;
  readonly #tap: DatabaseTap;
  readonly #random: Random;
  readonly #moments = new Map<string, number>();
  readonly #tenths = Array.from({ length: 10 }, () => 0);
  #kills = 0;

  constructor(options: KillOptions, tap: DatabaseTap) {
    this.#options = options;
    this.#tap = tap;
    this.#random = new Random(options.seed);
  }

  async run(reference: IndexUnderWay): Promise<KillReport> {
    const { say, kills, work, network } = this.#options;
    const startedAt = performance.now();
    await this.#live(reference, 0);
    say(`${work}: not interrupted, ${seconds(startedAt)} s`);
    const found: string[] = [];
    let lives = 0;
    for (; this.#kills < kills; lives++) {
      const index = await emptyIndex(network);
      try {
        await this.#live(index, kills - this.#kills);
        const differing = await differences(reference.client, index.client);
        say(
          `${work}: ${this.#kills} kills, ${seconds(startedAt)} s, ${differing.length === 0 ? 'same rows' : differing.join('\n')}`,
        );
        found.push(...differing);
      } finally {
        await index.close();
      }
    }
    return {
      kills: this.#kills,
      lives,
      moments: this.#moments,
      tenths: this.#tenths,
      seconds: seconds(startedAt),
      differences: found,
    };
  }

  /** From an empty database until the index is whole. */
  async #live(index: IndexUnderWay, mostKills: number): Promise<void> {
    const { network, work } = this.#options;
    if (work === 'follow') {
      await network.restart(1);
      network.follow(BLOCKS_PER_SECOND);
    }
    for (let left = mostKills; ; left--) {
      const process = this.#start(index);
      try {
        if (left > 0 && (await this.#killAtRandom(process, index))) {
          const done = await index.rounds();
          this.#tenths[Math.min(Math.floor((done / network.last) * 10), 9)]!++;
          continue;
        }
        await this.#untilWhole(process, index);
        return;
      } finally {
        this.#tap.unwatch();
        await process.kill();
      }
    }
  }

  #start({ url, data }: IndexUnderWay): IndexerProcess {
    const { network, work, program } = this.#options;
    this.#tap.begin();
    return new IndexerProcess(program, {
      command: work === 'fill' ? 'index' : 'serve',
      ...{ config: network.config, databaseUrl: this.#tap.urlOf(url), data },
      workers: 1 + this.#random.below(3),
    });
  }

  /** @returns false when the index was whole before it came to that */
  async #killAtRandom(process: IndexerProcess, index: IndexUnderWay): Promise<boolean> {
    const stop = new AbortController();
    const isDone = this.#untilWhole(process, index, stop.signal).then(() => false);
    const moment = this.#random.below(4) === 0 ? null : this.#randomMoment();
    const killed =
      moment === null
        ? this.#killByTime(process, this.#random.below(1200), stop.signal)
        : Promise.race([this.#killAt(process, moment), this.#killByTime(process, MOMENT_MS, stop.signal)]);
    try {
      return await Promise.race([isDone, killed]);
    } finally {
      stop.abort();
      await isDone.catch(() => {});
    }
  }

  #randomMoment(): Moment {
    const known = [...this.#tap.known].sort(([a], [b]) => (a < b ? -1 : 1));
    const [label, commits] = known[this.#random.below(known.length)]!;
    return {
      label,
      commits: this.#random.below(Math.min(commits, MOST_COMMITS) + 1),
      heard: this.#random.below(2) === 1,
    };
  }

  #killAt(process: IndexerProcess, moment: Moment): Promise<boolean> {
    return new Promise((resolve) => {
      this.#tap.watch(moment, () => {
        process.send('SIGKILL');
        this.#count(`${moment.label}, ${moment.heard ? 'not answered' : 'not heard'}`);
        resolve(true);
      });
    });
  }

  /** Now and then while it starts, else while it works. */
  async #killByTime(process: IndexerProcess, afterMs: number, signal: AbortSignal): Promise<boolean> {
    const isWorking = this.#random.below(5) > 0;
    while (isWorking && !process.leads && !signal.aborted) await delay(POLL_MS);
    await delay(afterMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return false;
    const [underWay = 'nothing asked'] = this.#tap.underWay;
    process.send('SIGKILL');
    this.#count(`by time: ${process.leads ? underWay : 'starting'}`);
    return true;
  }

  async #untilWhole(process: IndexerProcess, index: IndexUnderWay, signal?: AbortSignal): Promise<void> {
    const isStopped = (): boolean => signal?.aborted === true;
    for (const until = Date.now() + PATIENCE_MS; !isStopped(); await delay(POLL_MS)) {
      // A process that fills ends by itself, when it has looked whether anything is missing.
      const { hasEnded } = process;
      const isDone = this.#options.work === 'fill' ? hasEnded : true;
      if (isDone && (await index.isWhole())) return;
      if (isStopped()) return;
      if (hasEnded || Date.now() > until) throw new Error(`the index does not become whole: ${process.log}`);
    }
  }

  #count(moment: string): void {
    this.#kills++;
    this.#moments.set(moment, (this.#moments.get(moment) ?? 0) + 1);
  }
}

function seconds(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 100) / 10;
}
