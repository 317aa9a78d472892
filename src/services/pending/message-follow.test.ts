import { expect, it } from 'vitest';
import type { Clock } from '#kernel/clock.js';
import { MessageFollow } from '#services/pending/message-follow.js';

it('a message that nobody knows is followed until the time has passed, though the timer fires a moment early', async () => {
  const clock: Clock = {
    now: () => 999,
    schedule: (_, run) => {
      setImmediate(run);
      return () => {};
    },
  };
  const follow = new MessageFollow({
    live: {
      status: () => null,
      watch: () => () => {},
      submit: () => false,
      refused: () => {},
      ofAccounts: () => [],
      find: () => null,
      subscribe: () => () => {},
    },
    index: { traces: async () => ({ rows: [], cursor: null }) as never, transactionsOfTraces: async () => new Map() },
    clock,
  });
  const stages: string[] = [];
  const { signal } = new AbortController();
  for await (const { stage } of follow.follow(new Uint8Array(32), 1_000, signal)) stages.push(stage);
  expect(stages).toEqual(['unknown']);
});
