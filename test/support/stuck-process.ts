// A process that gets stuck as its argument says: for the tests of the watchdog and of signals.
import { mkdirSync, writeSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { type CliEnvironment, runUntilSignal } from '#app/cli/environment.js';

const [, , mode, folder] = process.argv;

const say = (text: string) => writeSync(1, `${text}\n`);

function spin(): never {
  for (;;);
}

/** As stuck, without using a processor: for tests that take half a minute. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** The watchdog has to watch before anything gets stuck. */
const watching = new Promise<void>((resolve) => {
  process.on('worker', (worker) => void worker.once('message', () => resolve()));
});

await runUntilSignal(
  process.env as CliEnvironment,
  async () => ({
    close: async () => {
      say('closing');
      if (mode === 'shutdown') block();
      await new Promise(() => {});
    },
  }),
  () => {
    // Keeps the process alive.
    setInterval(() => {}, 1_000);
    if (mode === 'native-thread') {
      // On /proc this call of Node never returns, and its thread cannot be terminated.
      new Worker(`require('node:fs').mkdirSync(${JSON.stringify(folder)}, { recursive: true })`, { eval: true });
    }
    const getStuck = () => {
      say(`running ${process.pid}`);
      if (mode === 'before') spin();
      if (mode === 'blocked') block();
      if (mode === 'native') mkdirSync(folder!, { recursive: true });
    };
    // Its thread still needs the main loop for a moment.
    void watching.then(() => setTimeout(getStuck, 1_500));
  },
);
