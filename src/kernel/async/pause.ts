import type { Clock } from '#kernel/clock/clock.js';

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
