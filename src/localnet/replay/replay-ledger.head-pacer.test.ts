import { describe, expect, it } from 'vitest';
import { paceHead, type ReplayPace } from '#localnet/replay/replay-ledger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { genesisLedger } from '#test/support/genesis-ledger.js';

function pace(how: ReplayPace) {
  const ledger = genesisLedger(1);
  const clock = new FakeClock(5_000);
  const stop = paceHead(ledger, how, clock);
  return { clock, stop, ledger, head: () => ledger.head!.id.seqno };
}

describe('the head', () => {
  it('moves by so many blocks a second', () => {
    const { clock, head } = pace({ kind: 'blocks', perSecond: 4 });
    const heads = [head()];
    for (let i = 0; i < 5; i++) {
      clock.advance(500);
      heads.push(head());
    }
    expect(heads).toEqual([1, 3, 5, 7, 9, 9]);
    expect(clock.pending).toBe(0);
  });

  it('moves as the times of the blocks say, at once or faster', () => {
    const whole = genesisLedger();
    const seconds = whole.timeOf(9) - whole.timeOf(1);
    const real = pace({ kind: 'times', factor: 1 });
    real.clock.advance((whole.timeOf(3) - whole.timeOf(1)) * 1000 - 1);
    expect(real.head()).toBe(2);
    real.clock.advance(1);
    expect(real.head()).toBe(3);
    const fast = pace({ kind: 'times', factor: 10 });
    fast.clock.advance(seconds * 100);
    expect(fast.head()).toBe(9);
    expect(fast.clock.pending).toBe(0);
  });

  it('is there at once at a high pace, and stops when asked to', () => {
    const quick = pace({ kind: 'blocks', perSecond: 1_000_000 });
    quick.clock.advance(2);
    expect(quick.head()).toBe(9);
    const stopped = pace({ kind: 'blocks', perSecond: 1 });
    stopped.clock.advance(1_000);
    stopped.stop();
    expect(stopped.clock.pending).toBe(0);
    stopped.clock.advance(60_000);
    expect(stopped.head()).toBe(2);
  });
});
