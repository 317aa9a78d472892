import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { ExternalMessagePool } from '#localnet/node/external-messages.js';
import type { ExternalInOutcome, PendingExternalIn } from '#localnet/producer/block-request.js';
import { errorCode } from '#test/support/error-code.js';
import { FakeClock } from '#test/support/fake-clock.js';

const account = (byte: number) => Address.ofParts(0, new Uint8Array(32).fill(byte));

function message(number: number, dest = account(1)): PendingExternalIn {
  return { message: new Builder().storeUint(number, 32).endCell(), dest };
}

describe('messages that wait', () => {
  it('come out in the order in which they came, until a masterchain block is done with them', () => {
    const pool = new ExternalMessagePool(new FakeClock());
    const [first, second, third] = [message(1), message(2), message(3)];
    const reported: [string, ExternalInOutcome | null][] = [];
    pool.add(first, (outcome) => reported.push(['first', outcome]));
    pool.add(second, (outcome) => reported.push(['second', outcome]));
    pool.add(third);
    expect(pool.messages()).toEqual([first, second, third]);
    const refused = { message: second, kind: 'refused', exit_code: 33, problem: 'no' } as const;
    pool.settle([{ message: first, kind: 'included' }, refused]);
    expect(pool.messages()).toEqual([third]);
    expect(reported).toEqual([
      ['first', { message: first, kind: 'included' }],
      ['second', refused],
    ]);
    expect(pool.has(third)).toBe(true);
    expect(pool.has(message(3))).toBe(true);
    expect(pool.has(first)).toBe(false);
  });

  it('are forgotten after ten minutes', () => {
    const clock = new FakeClock();
    const pool = new ExternalMessagePool(clock);
    const reported: unknown[] = [];
    pool.add(message(1), (outcome) => reported.push(outcome));
    clock.advance(300_000);
    pool.add(message(2));
    clock.advance(300_001);
    expect(pool.messages()).toEqual([message(2)]);
    expect(reported).toEqual([null]);
    expect(pool.size).toBe(1);
  });

  it('are 256 to one account at most', () => {
    const pool = new ExternalMessagePool(new FakeClock());
    for (let number = 0; number < 256; number++) pool.add(message(number));
    expect(errorCode(() => pool.add(message(256)))).toBe('liteserver/too-many-messages');
    pool.add(message(256, account(2)));
    pool.settle([{ message: message(7), kind: 'included' }]);
    pool.add(message(257));
    expect(pool.size).toBe(257);
  });

  it('are 16,384 in all at most, and can all be forgotten', () => {
    const pool = new ExternalMessagePool(new FakeClock());
    for (let number = 0; number < 16_384; number++) pool.add(message(number, account(number % 100)));
    expect(errorCode(() => pool.add(message(20_000, account(200))))).toBe('liteserver/too-many-messages');
    expect(pool.clear()).toBe(16_384);
    expect(pool.messages()).toEqual([]);
    pool.add(message(20_000));
  });
});
