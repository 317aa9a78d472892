import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Meter } from './exercise.js';

setFlagsFromString('--expose-gc');
// Otherwise another thread frees array buffers some time after the collection, perhaps during the next measured call.
setFlagsFromString('--no-concurrent-array-buffer-sweeping');
const collect = runInNewContext('gc') as () => void;

/** Reads this thread's time and memory. */
export const realMeter: Meter = {
  now: () => performance.now(),
  memory: () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  },
  collect,
};
