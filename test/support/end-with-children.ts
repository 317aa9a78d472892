import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf } from './process-times.js';

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** Children close databases and networks of their own. */
const CLOSING_MS = 15_000;
const LOOK_MS = 50;

/**
 * When a signal ends this process, the processes that it has started are ended first, so that none is left behind.
 *
 * @param last called when they have ended, for what they used
 */
export function endWithChildren(last: () => void = () => {}): void {
  let isEnding = false;
  const end = async (signal: keyof typeof SIGNALS): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    // What needed them fails now, and is not what ends this process.
    process.on('uncaughtException', () => {});
    // A terminal sends SIGINT to all of them; a second signal would end them before they have closed anything.
    if (signal !== 'SIGINT') for (const child of childrenOf(process.pid)) process.kill(child, 'SIGTERM');
    const until = performance.now() + CLOSING_MS;
    while (childrenOf(process.pid).length > 0 && performance.now() < until) await pause(LOOK_MS);
    for (const child of childrenOf(process.pid)) process.kill(child, 'SIGKILL');
    last();
    process.exit(128 + SIGNALS[signal]);
  };
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.on(signal, () => void end(signal));
}
