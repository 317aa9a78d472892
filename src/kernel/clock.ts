/** Cancels a scheduled call; does nothing once it has run. */
export type CancelSchedule = () => void;

/** Source of time, injected so that tests can control it. */
export interface Clock {
  /** Milliseconds since an arbitrary fixed moment; monotonic. */
  now(): number;
  /** Calls `run` once, `delayMs` from now, unless it is cancelled. */
  schedule(delayMs: number, run: () => void): CancelSchedule;
}

/** `setTimeout` fires immediately when the delay exceeds 31 bits. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The monotonic clock of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_DELAY));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs` milliseconds, or as soon as the signal is aborted. Never rejects. */
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
