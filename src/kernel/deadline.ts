import type { Clock } from '#kernel/clock.js';

/** How long somebody is ready to wait. */
export interface Deadline {
  /** A moment of the clock; infinite for no end. */
  readonly until: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes the error for the end of the time. */
  readonly expired: () => Error;
  /** Makes the error for the signal. */
  readonly aborted: (reason: unknown) => Error;
}

/** The result of `promise` if it comes in time. What `promise` does afterwards has no effect, nor is it stopped. */
export function withDeadline<Value>(promise: Promise<Value>, patience: Deadline, clock: Clock): Promise<Value> {
  const { until, signal, expired, aborted } = patience;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      release();
      reject(aborted(signal?.reason));
    };
    if (signal?.aborted) {
      promise.catch(() => {});
      reject(aborted(signal.reason));
      return;
    }
    const cancel =
      until === Number.POSITIVE_INFINITY
        ? () => {}
        : clock.schedule(Math.max(0, until - clock.now()), () => {
            release();
            reject(expired());
          });
    const release = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort);
    promise.then(
      (value) => {
        release();
        resolve(value);
      },
      (error) => {
        release();
        reject(error);
      },
    );
  });
}
