import { describe, expect, it } from 'vitest';
import { Semaphore } from '#kernel/semaphore.js';

const tick = () => new Promise(setImmediate);

describe('a semaphore', () => {
  it('gives permits in the order in which they are asked for', async () => {
    const semaphore = new Semaphore(1);
    const order: number[] = [];
    const first = semaphore.tryAcquire();
    expect(semaphore.tryAcquire()).toBeNull();
    const others = [1, 2, 3].map(async (number) => {
      const release = await semaphore.acquire();
      order.push(number);
      release?.();
    });
    expect(semaphore.waiting).toBe(3);
    first?.();
    first?.();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    expect([semaphore.taken, semaphore.waiting]).toEqual([0, 0]);
  });

  it('refuses who comes when too many wait', () => {
    const semaphore = new Semaphore(1, 1);
    expect(semaphore.acquire()).not.toBeNull();
    expect(semaphore.acquire()).not.toBeNull();
    expect(semaphore.acquire()).toBeNull();
  });

  it('lets go of who gives up, without losing a permit', async () => {
    const semaphore = new Semaphore(1);
    const held = semaphore.tryAcquire();
    const controller = new AbortController();
    const given = semaphore.acquire(controller.signal)?.catch((reason: unknown) => reason);
    const patient = semaphore.acquire();
    controller.abort('tired');
    expect(await given).toBe('tired');
    await expect(semaphore.acquire(controller.signal)).rejects.toBe('tired');
    held?.();
    (await patient)?.();
    expect([semaphore.taken, semaphore.waiting]).toEqual([0, 0]);
  });

  it('refuses all that wait on request', async () => {
    const semaphore = new Semaphore(1);
    const held = semaphore.tryAcquire();
    const waiting = [1, 2].map(() => semaphore.acquire()?.catch((reason: unknown) => reason));
    semaphore.refuseWaiting('closed');
    expect(await Promise.all(waiting)).toEqual(['closed', 'closed']);
    held?.();
    await tick();
    expect(semaphore.taken).toBe(0);
  });
});
