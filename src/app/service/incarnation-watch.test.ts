import { expect, it } from 'vitest';
import { IncarnationWatch } from '#app/service/incarnation-watch.js';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import { FakeClock } from '#test/support/fake-clock.js';

const configOf = (incarnation: string | null) => ({ incarnation }) as GlobalConfig;

function watched() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const opened: (string | null)[] = [];
  const state = { config: configOf('aa') as GlobalConfig | null, problem: null as string | null };
  const watch = new IncarnationWatch('aa', {
    read: async () => state.config ?? Promise.reject(new Error('no such file')),
    replace: async ({ incarnation }) => {
      if (state.problem !== null) throw new Error(state.problem);
      opened.push(incarnation);
    },
    clock,
    logger: { info: (line) => void lines.push(line), warn: (line) => void lines.push(line) },
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { watch, state, opened, lines, pass };
}

it('opens the chain of another incarnation, once; a config that cannot be read is not another one', async () => {
  const { watch, state, opened, pass } = watched();
  watch.start();
  await pass(0);
  state.config = null;
  await pass(2_000);
  state.config = configOf(null);
  await pass(2_000);
  expect(opened).toEqual([]);
  state.config = configOf('bb');
  await pass(2_000);
  await pass(2_000);
  expect(opened).toEqual(['bb']);
  await watch.close();
  state.config = configOf('cc');
  await pass(10_000);
  expect(opened).toEqual(['bb']);
});

it('tries again until the chain can be opened, also when it is the first one again; each problem is logged once', async () => {
  const { watch, state, opened, lines, pass } = watched();
  watch.start();
  await pass(0);
  state.config = configOf('bb');
  state.problem = 'in use';
  await pass(2_000);
  await pass(5_000);
  expect(lines).toHaveLength(2);
  state.config = configOf('aa');
  state.problem = null;
  await pass(5_000);
  await pass(2_000);
  expect(opened).toEqual(['aa']);
  await watch.close();
});
