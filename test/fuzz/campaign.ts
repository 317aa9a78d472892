import { Worker } from 'node:worker_threads';
import { emptyTally, makeInput, type Tally } from './exercise.js';
import type { FoundTarget } from './find-targets.js';
import type { FuzzJob } from './worker.js';

export interface CampaignOptions {
  readonly seed: string;
  /** For this one target. */
  readonly seconds: number;
  readonly workers: number;
  /** Run only this iteration. */
  readonly at: number | null;
  /** A call that has not returned after this many seconds never will. */
  readonly hangSeconds: number;
}

const heapLimitMb = 512;

/** Fuzzes targets one after the other. Its workers stay for the next target, which they load in part already. */
export class Campaign {
  readonly #lanes: (Worker | null)[] = [];

  /** Fuzzes one target with several workers at once and adds up what they found. */
  async fuzz(found: FoundTarget, options: CampaignOptions): Promise<Tally> {
    const count = options.at === null ? options.workers : 1;
    const tallies = await Promise.all(
      Array.from({ length: count }, (_, index) => this.#runLane(found, options, index, count)),
    );
    return tallies.reduce(addTallies, emptyTally());
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((worker) => worker?.terminate()));
  }

  #runLane(found: FoundTarget, options: CampaignOptions, index: number, step: number): Promise<Tally> {
    const { file, target } = found;
    const current = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    const job: FuzzJob = {
      file,
      target: target.name,
      seed: options.seed,
      first: options.at ?? index,
      step,
      seconds: options.seconds,
      most: options.at === null ? null : 1,
      current,
    };
    const worker = this.#lanes[index] ?? startWorker();
    this.#lanes[index] = worker;

    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearInterval(watch);
        worker.off('message', onTally).off('error', onError);
        settle();
      };
      const lost = (kind: string, problem: string) => {
        const iteration = Atomics.load(current, 0);
        const input = makeInput(target, options.seed, iteration);
        const failure = { target: target.name, iteration, input, kind, problem };
        this.#lanes[index] = null;
        finish(() => resolve({ ...emptyTally(), iterations: 1, failures: [failure] }));
      };

      let seen = -1;
      let since = Date.now();
      const watch = setInterval(() => {
        const iteration = Atomics.load(current, 0);
        if (iteration !== seen) {
          seen = iteration;
          since = Date.now();
        } else if (iteration >= 0 && Date.now() - since > options.hangSeconds * 1000) {
          lost('hang', `did not return within ${options.hangSeconds} seconds`);
          void worker.terminate();
        }
      }, 250);

      const onTally = (tally: Tally) => finish(() => resolve(tally));
      const onError = (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') lost('memory', `filled a heap of ${heapLimitMb} MiB`);
        else finish(() => reject(error));
      };
      worker.on('message', onTally).on('error', onError);
      worker.postMessage(job);
    });
  }
}

function startWorker(): Worker {
  return new Worker(new URL('./worker-entry.mjs', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb },
  });
}

function addTallies(a: Tally, b: Tally): Tally {
  const errors = { ...a.errors };
  for (const [code, count] of Object.entries(b.errors)) errors[code] = (errors[code] ?? 0) + count;
  const known = new Set(a.failures.map(({ kind }) => kind));
  return {
    iterations: a.iterations + b.iterations,
    accepted: a.accepted + b.accepted,
    errors,
    slowest: b.slowest.ms > a.slowest.ms ? b.slowest : a.slowest,
    failures: [...a.failures, ...b.failures.filter(({ kind }) => !known.has(kind))],
  };
}
