import { setMaxListeners } from 'node:events';

/** Reads that share one signal are this many at most; Node warns of more listeners, as of a leak. */
const MAX_LISTENERS = 1_000;

/**
 * An abort controller whose signal many concurrent operations share. Node takes 11 listeners of a signal for a leak, and a read
 * of 16 shards has more.
 */
export function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(MAX_LISTENERS, controller.signal);
  return controller;
}

/** A signal for many concurrent operations that is aborted with the first of others. */
export function sharedSignalOf(signals: readonly AbortSignal[]): AbortSignal {
  const signal = AbortSignal.any([...signals]);
  setMaxListeners(MAX_LISTENERS, signal);
  return signal;
}
