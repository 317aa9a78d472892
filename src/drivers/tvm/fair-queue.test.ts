import { describe, expect, it } from 'vitest';
import { FairQueue, type FairQueueLimits, type Turn } from '#drivers/tvm/fair-queue.js';

const WIDE: FairQueueLimits = { most: 1_000, mostOfClient: 1_000, mostOfContract: 1_000 };

/** `a1.0`: client a, contract 1. */
interface Named extends Turn {
  readonly name: string;
}

function item(name: string): Named {
  return { name, client: name[0]!, contract: name[1]! };
}

function queueOf(names: string, limits: FairQueueLimits = WIDE): FairQueue<Named> {
  const queue = new FairQueue<Named>(limits);
  for (const name of names.split(' ')) queue.add(item(name));
  return queue;
}

const rest = (queue: FairQueue<Named>): string =>
  queue
    .clear()
    .map(({ name }) => name)
    .join(' ');

describe('a fair queue', () => {
  it('lets clients take turns', () => {
    expect(rest(queueOf('a1.0 a1.1 a1.2 a1.3 b1.0 c1.0 b1.1'))).toBe('a1.0 b1.0 c1.0 a1.1 b1.1 a1.2 a1.3');
  });

  it('lets the contracts of a client take turns', () => {
    expect(rest(queueOf('a1.0 a1.1 a1.2 a2.0 a3.0 b1.0'))).toBe('a1.0 b1.0 a2.0 a3.0 a1.1 a1.2');
  });

  it('puts a client that comes again behind those that wait, once', () => {
    const queue = queueOf('a1.0 a1.1 b1.0 b1.1');
    expect(queue.take()?.name).toBe('a1.0');
    queue.add(item('c1.0'));
    expect(rest(queue)).toBe('b1.0 a1.1 c1.0 b1.1');
  });

  it('is bounded for each client and each of its contracts', () => {
    const queue = queueOf('a1.0 a1.1', { most: 10, mostOfClient: 3, mostOfContract: 2 });
    const third = item('a1.2');
    expect(queue.add(third)).toBe(third);
    expect(queue.add(item('a2.0'))).toBeNull();
    const fourth = item('a3.0');
    expect(queue.add(fourth)).toBe(fourth);
    expect(queue.add(item('b1.0'))).toBeNull();
    expect(queue.size).toBe(4);
  });

  it('that is full drops the newest of the client with the most, not the newcomer', () => {
    const queue = queueOf('a1.0 a1.1 a1.2 b1.0', { ...WIDE, most: 4 });
    expect(queue.add(item('c1.0'))?.name).toBe('a1.2');
    const more = item('a2.0');
    expect(queue.add(more)).toBe(more);
    expect(rest(queue)).toBe('a1.0 b1.0 c1.0 a1.1');
    const none = new FairQueue<Named>({ ...WIDE, most: 0 });
    expect(none.add(more)).toBe(more);
  });

  it('gives up an item that is called off', () => {
    const queue = new FairQueue<Named>(WIDE);
    const [a, b] = [item('a1.0'), item('b1.0')];
    queue.add(a);
    queue.add(b);
    expect(queue.remove(a)).toBe(true);
    expect(queue.remove(a)).toBe(false);
    expect([queue.size, queue.clients]).toEqual([1, 1]);
    expect(rest(queue)).toBe('b1.0');
    expect(queue.take()).toBeUndefined();
  });
});
