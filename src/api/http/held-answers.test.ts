import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { HeldAnswers } from '#api/http/held-answers.js';
import { FakeClock } from '#test/support/fake-clock.js';

const MIB = 2 ** 20;

function world() {
  const clock = new FakeClock();
  const closed: string[] = [];
  const held = new HeldAnswers({ maxHeldBytes: 4 * MIB, stallMs: 10_000 }, clock, (socket) => {
    closed.push(String(socket));
  });
  const response = (name: string): ServerResponse => {
    const emitter = new EventEmitter() as unknown as Record<string, unknown>;
    return Object.assign(emitter, { closed: false, socket: name as unknown as Socket }) as unknown as ServerResponse;
  };
  return { clock, closed, held, response };
}

it('large answers count until they are taken, those that several clients get once', () => {
  const { held, response } = world();
  const [one, two, three, small] = ['one', 'two', 'three', 'small'].map(response);
  const shared = new Uint8Array(MIB);
  held.add(shared, one!);
  held.add(shared, two!);
  held.add('x'.repeat(MIB), three!);
  held.add('x'.repeat(1_000), small!);
  expect(held.bytes).toBe(2 * MIB);
  one!.emit('close');
  expect(held.bytes).toBe(2 * MIB);
  two!.emit('close');
  three!.emit('close');
  expect(held.bytes).toBe(0);
});

it('when there is no room, clients that have not taken theirs for longest make it, and not those that just got theirs', () => {
  const { clock, closed, held, response } = world();
  for (const name of ['first', 'second', 'third']) {
    held.add(new Uint8Array(MIB), response(name));
    clock.advance(2_000);
  }
  held.add(new Uint8Array(2 * MIB), response('fourth'));
  expect([held.isFull, held.makeRoom(), closed]).toEqual([true, false, []]);
  clock.advance(6_000);
  expect([held.makeRoom(), closed]).toEqual([true, ['first', 'second']]);
  expect(held.bytes).toBe(3 * MIB);
  clock.advance(60_000);
  expect([held.makeRoom(), closed.length]).toEqual([true, 2]);
});

it('an answer whose connection was closed for room is not counted twice when it ends', () => {
  const { clock, held, response } = world();
  const slow = response('slow');
  held.add(new Uint8Array(5 * MIB), slow);
  clock.advance(10_000);
  expect([held.makeRoom(), held.bytes]).toEqual([true, 0]);
  slow.emit('close');
  expect(held.bytes).toBe(0);
});
