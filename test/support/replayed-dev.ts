import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { TernProcess } from '#test/support/tern-process.js';

/** `tern dev` of the recorded chain in `vectors/dev-chain`, and where it listens. */
export interface ReplayedDev {
  readonly dev: TernProcess;
  readonly url: string;
  /** How long it took to start. */
  readonly startMs: number;
}

export const REPLAY_DEV_CHAIN = ['--replay', join(import.meta.dirname, '../../vectors/dev-chain')];

/** Starts it on a free port; resolves when it has printed its page. */
export async function startReplayedDev(
  data: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<ReplayedDev> {
  const startedAt = Date.now();
  const dev = await TernProcess.start(
    ['dev', '--data', data, ...REPLAY_DEV_CHAIN, ...args],
    ({ out }) => out.endsWith('Press Ctrl-C to stop.\n'),
    { TERN_PORT: '0', ...environment },
  );
  return { dev, url: /health +(http:\/\/\S+)\/readyz/.exec(dev.out)![1]!, startMs: Date.now() - startedAt };
}

/** Ends it: within 5 s, or on a machine that has other things to do in less time than the start took. */
export async function endSoon({ dev, startMs }: ReplayedDev, signal: NodeJS.Signals): Promise<void> {
  const since = Date.now();
  expect(await dev.end(signal)).toEqual({ code: 0, signal: null });
  expect(Date.now() - since).toBeLessThan(Math.max(5_000, startMs));
}

/** Waits until the whole chain is in the index. */
export async function untilIndexed(url: string): Promise<void> {
  for (const end = Date.now() + 240_000; ; await delay(100)) {
    const { networks } = JSON.parse(await (await fetch(`${url}/readyz`)).text());
    const { head_seqno, details } = networks.dev;
    const { index_head_seqno, index_missing_blocks, index_fill_missing_blocks } = details;
    if (index_head_seqno === head_seqno && index_missing_blocks + index_fill_missing_blocks === 0) return;
    if (Date.now() > end) throw new Error(`not indexed: ${JSON.stringify(networks)}`);
  }
}
