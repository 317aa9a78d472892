// A thread that sees signals which a stuck main loop does not: started by watchdog.ts. It imports nothing of Tern, so that it starts fast.
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

/** Places in the memory that both threads share. */
const BEAT = 0;
const ENDING = 1;

const TICK_MS = 1_000;

/** After the second signal: how long the main loop has to end the process itself, in ticks. */
const SECOND_SIGNAL_TICKS = 2;

const STANDARD_ERROR = 2;

/** What the thread is started with. */
interface WatchdogData {
  /** Counter of the main loop, and whether it is shutting down. */
  readonly shared: SharedArrayBuffer;
  /** How long the main loop may stand still during a shutdown, in milliseconds. */
  readonly limitMs: number;
}

/** A signal handle of libuv. Any event loop of a process may have some; Node offers them on the main thread only. */
interface SignalHandle {
  onsignal: (signal: number) => void;
  start(signal: number): number;
  unref(): void;
  close(): void;
}

const { shared, limitMs } = (workerData as { readonly start: WatchdogData }).start;
const memory = new Int32Array(shared);
/** SIGINT, SIGTERM */
const SIGNALS = [2, 15];
let signals = 0;
let lastBeat = -1;
/** Milliseconds since the main loop was last seen to run, counted in ticks: a process that was stopped meanwhile did not stand still. */
let stillMs = 0;
let handles: readonly SignalHandle[] = [];

function onSignal(): void {
  signals++;
  if (signals < 2) return;
  // From now on a signal has its default action, unless the main loop still catches it.
  for (const handle of handles) handle.close();
  handles = [];
  stillMs = 0;
}

setInterval(() => {
  const beat = Atomics.load(memory, BEAT);
  const isEnding = signals > 0 || Atomics.load(memory, ENDING) !== 0;
  if (beat !== lastBeat || !isEnding) {
    stillMs = 0;
    lastBeat = beat;
    return;
  }
  stillMs += TICK_MS;
  if (stillMs < (signals > 1 ? SECOND_SIGNAL_TICKS * TICK_MS : limitMs)) return;
  const why = signals > 1 ? 'after a second signal' : `for ${limitMs / 1_000} s during shutdown`;
  writeSync(STANDARD_ERROR, `tern: the main loop has been stuck ${why}; the process is killed\n`);
  process.kill(process.pid, 'SIGKILL');
}, TICK_MS);

handles = signalHandles();
// From now on the main loop may get stuck.
parentPort?.postMessage('watching');

/**
 * Handles of the signals that end a process, from inside of Node (20 to 26; `process.binding` has them up to 22 only). Where they are
 * missing, only a shutdown that the main loop has begun itself is watched.
 */
function signalHandles(): readonly SignalHandle[] {
  try {
    const { internalBinding } = createRequire(import.meta.url)('internal/test/binding') as {
      internalBinding(name: 'signal_wrap'): { readonly Signal: new () => SignalHandle };
    };
    const { Signal } = internalBinding('signal_wrap');
    return SIGNALS.map((signal) => {
      const handle = new Signal();
      handle.unref();
      handle.onsignal = onSignal;
      handle.start(signal);
      return handle;
    });
  } catch {
    return [];
  }
}
