import { isTernError, type TernError } from '#kernel/tern-error.js';

/** The typed error that `run` throws; another exception goes through, and no exception is one, too. */
export function errorOf(run: () => unknown): TernError {
  try {
    run();
  } catch (error) {
    if (isTernError(error)) return error;
    throw error;
  }
  throw new TypeError('expected a typed error, but nothing was thrown');
}

/** Its code. */
export function errorCode(run: () => unknown): string {
  return errorOf(run).code;
}
