import type { Clock } from '#kernel/clock.js';

/** Until when to wait, and the errors for giving up. */
export interface Deadline {
  /** Clock time in milliseconds; `Infinity` for no limit. */
  readonly until: number;
  readonly signal?: AbortSignal | undefined;
  /** Creates the error for an expired deadline. */
  readonly expired: () => Error;
  /** Creates the error for an aborted signal. */
  readonly aborted: (reason: unknown) => Error;
}

/** Settles as `promise` does, or rejects when the deadline expires or its signal is aborted. Does not cancel the promise. */
export function withDeadline<Value>(promise: Promise<Value>, deadline: Deadline, clock: Clock): Promise<Value> {
  const { until, signal, expired, aborted } = deadline;
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
