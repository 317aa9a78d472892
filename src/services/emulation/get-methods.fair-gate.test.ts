import { expect, it } from 'vitest';
import { contractsErrors } from '#services/emulation/errors.js';
import { FairGate } from '#services/emulation/get-methods.js';
import { FakeClock } from '#test/support/fake-clock.js';

const clock = new FakeClock();
const expired = () => new RangeError('expired');
const until = (at: number) => ({ until: at, expired, aborted: expired });
const NEVER = until(Number.POSITIVE_INFINITY);

/** A gate, and works that end on demand. */
function gate(most: number) {
  const fair = new FairGate(most, clock, (waiting) => contractsErrors['node-overloaded']({ waiting }));
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string, deadline = NEVER) =>
    fair.run({ client: name[0]!, contract: name[1]! }, deadline, () => {
      order.push(name);
      return new Promise<void>((end) => void ends.set(name, end));
    });
  return { order, ends, enter };
}

it('lets clients take turns', async () => {
  const { order, ends, enter } = gate(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => enter(name));
  for (let i = 0; i < all.length; i++) {
    await expect.poll(() => order.length).toBe(i + 1);
    ends.get(order[i]!)!();
  }
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
});

it('gives up who waits too long, and is bounded for a client', async () => {
  const { order, ends, enter } = gate(1);
  const first = enter('a1');
  const late = enter('b1', until(clock.now() + 10));
  const many = Array.from({ length: 33 }, () => enter('c1'));
  await expect(many[32]).rejects.toMatchObject({ code: contractsErrors['node-overloaded'].code });
  clock.advance(10);
  await expect(late).rejects.toThrow('expired');
  ends.get('a1')!();
  await first;
  await expect.poll(() => order).toEqual(['a1', 'c1']);
});
