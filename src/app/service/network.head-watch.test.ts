import { expect, it } from 'vitest';
import { HeadWatch } from '#app/service/network.js';
import { silentLogger } from '#kernel/logger.js';
import { chainErrors } from '#services/chain/errors.js';
import type { ChainHead } from '#services/chain/trust.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { flush } from '#test/support/lite-pool.js';

/** A watch over a chain whose head the test moves. */
function watched() {
  const clock = new FakeClock();
  const state = { claimed: 0, proofs: 0, problem: null as string | null };
  const head = async (): Promise<ChainHead> => {
    state.proofs++;
    if (state.problem !== null) throw chainErrors.answer({ problem: state.problem, code: 'x' });
    return { block: { seqno: state.claimed }, gen_utime: 1_000 + state.claimed } as ChainHead;
  };
  const source = {
    get headSeqno() {
      return state.claimed;
    },
  };
  const watch = new HeadWatch({ deadlineMs: 1_000 }, { chain: { head }, source, clock, logger: silentLogger });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await flush();
  };
  return { watch, state, pass };
}

it('proves the head at once, and again when a server claims a newer one', async () => {
  const { watch, state, pass } = watched();
  state.claimed = 5;
  expect(watch.head).toBeNull();
  watch.start();
  await pass(0);
  expect(watch.head).toEqual({ seqno: 5, gen_utime: 1_005 });
  await pass(10_000);
  expect(state.proofs).toBe(1);
  state.claimed = 6;
  await pass(1_000);
  expect(watch.head).toEqual({ seqno: 6, gen_utime: 1_006 });
  expect(state.proofs).toBe(2);
  await watch.close();
});

it('says why the head cannot be proven, keeps the last one, and tries again', async () => {
  const { watch, state, pass } = watched();
  state.claimed = 5;
  watch.start();
  await pass(0);
  state.claimed = 6;
  state.problem = 'no such signature';
  await pass(1_000);
  expect(watch.head?.seqno).toBe(5);
  expect(watch.problem).toMatch(/^chain\/answer: .*no such signature/);
  state.problem = null;
  await pass(1_000);
  expect([watch.head?.seqno, watch.problem]).toEqual([6, null]);
  await watch.close();
  state.claimed = 7;
  await pass(10_000);
  expect(watch.head?.seqno).toBe(6);
});
