/** Takes a scheduled call back; does nothing once it has run. */
export type CancelSchedule = () => void;

/** The source of time. It is passed in, so that a test can move it. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Calls `run` once, `delayMs` from now, unless it is cancelled. */
  schedule(delayMs: number, run: () => void): CancelSchedule;
}

/** `setTimeout` calls at once when the delay does not fit into 31 bits. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_DELAY));
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many milliseconds, or as soon as the signal is given. Never rejects. */
export function pause(delayMs: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(delayMs, end);
    signal?.addEventListener('abort', end);
  });
}
