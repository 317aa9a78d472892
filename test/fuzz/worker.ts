import { parentPort } from 'node:worker_threads';
import { emptyTally, exercise } from './exercise.js';
import { targetsOf } from './find-targets.js';
import { realMeter } from './real-meter.js';

/** What a worker is asked for; it answers with the tally. */
export interface FuzzJob {
  readonly file: string;
  readonly target: string;
  readonly seed: string;
  readonly first: number;
  readonly step: number;
  readonly seconds: number;
  /** Iterations after which to stop, whatever the time; null for no such limit. */
  readonly most: number | null;
  /** One element: the iteration that is running. Tells the parent which input it was when a call does not return. */
  readonly current: Int32Array;
}

parentPort?.on('message', async (job: FuzzJob) => {
  const target = (await targetsOf(job.file)).find(({ name }) => name === job.target);
  const tally = emptyTally();
  if (target !== undefined) {
    Atomics.store(job.current, 0, job.first);
    const end = performance.now() + job.seconds * 1000;
    for (let i = job.first; performance.now() < end && tally.iterations !== job.most; i += job.step) {
      Atomics.store(job.current, 0, i);
      exercise(target, job.seed, i, tally, realMeter);
    }
  }
  parentPort?.postMessage(tally);
});
