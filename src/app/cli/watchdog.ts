import process from 'node:process';
import { startThread } from '#kernel/worker-thread.js';

/** Places in the memory that both threads share; see watchdog-thread.ts. */
const BEAT = 0;
const ENDING = 1;
const WORDS = 2;

const BEAT_MS = 500;

/** How long the main loop may stand still during a shutdown. */
const STUCK_MS = 30_000;

/** The thread needs the signal handles of Node, which have no public name; their module warns whoever imports it. */
const EXEC_ARGV = ['--expose-internals', '--no-warnings'];

const LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

/** The running watchdog. */
export interface Watchdog {
  /** The process is shutting down: from now on the main loop has to keep running. */
  noteEnding(): void;
  /** Blocks for a moment: the thread, which got the same signal, gives up its handle of it. */
  yieldSignal(): void;
  stop(): void;
}

/** How long the thread may take to give up its handles. */
const YIELD_MS = 1_000;

/**
 * Starts a thread that ends the process when its main loop is stuck during a shutdown: for 30 s after the first signal, or
 * 2 s after the second one. It writes one line to standard error and sends SIGKILL.
 *
 * A main loop that is stuck, in a native call or in a loop of its own, runs no signal handlers. The thread therefore sees
 * signals itself and the main loop by a counter. Not covered: process 1 of a container without init, which the kernel does
 * not let kill itself; a call that hangs in the kernel (state D), which nothing ends.
 */
export function startWatchdog(stuckMs = STUCK_MS): Watchdog {
  const shared = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT);
  const memory = new Int32Array(shared);
  const entry = new URL('./watchdog-thread.js', import.meta.url);
  const thread = startThread(entry, { shared, limitMs: stuckMs }, { resourceLimits: LIMITS, execArgv: EXEC_ARGV });
  // Without the thread only this protection is missing.
  thread.on('error', () => {});
  thread.unref();
  const beating = setInterval(() => Atomics.add(memory, BEAT, 1), BEAT_MS);
  beating.unref();
  return {
    noteEnding: () => void Atomics.store(memory, ENDING, 1),
    yieldSignal: () => void Atomics.wait(memory, ENDING, Atomics.load(memory, ENDING), YIELD_MS),
    stop: () => {
      clearInterval(beating);
      void thread.terminate();
    },
  };
}

/** Ends this process by a signal, as if it had never been caught. @param exitCode where the kernel ignores the signal: of process 1 */
export function endBySignal(signal: NodeJS.Signals, exitCode: number, watchdog: Watchdog): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Still here: the thread has caught it, too.
  watchdog.yieldSignal();
  process.kill(process.pid, signal);
  return process.exit(exitCode);
}
