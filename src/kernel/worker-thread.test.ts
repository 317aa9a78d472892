import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { transfer } from '#kernel/worker-channel.js';
import { logMethods, WorkerThread } from '#kernel/worker-thread.js';
import { type EchoContract, echoErrors, unexpected } from '#test/support/echo-worker.js';

const lines: string[] = [];
const logger = { info: () => {}, warn: (message: string) => void lines.push(message) };
const threads: WorkerThread<EchoContract>[] = [];

function start(options: Partial<EchoContract['start']> = {}): WorkerThread<EchoContract> {
  const thread = new WorkerThread<EchoContract>({
    entry: new URL('../../test/support/echo-worker-main.js', import.meta.url),
    start: { greeting: 'hello', fails: false, ...options },
    host: {
      ...logMethods(logger),
      double: (value) => {
        if (value < 0) throw echoErrors.refused({ what: String(value) });
        return value * 2;
      },
    },
    lost: (problem) => echoErrors.lost({ problem }),
    closed: () => echoErrors.closed({}),
    unexpected,
  });
  threads.push(thread);
  return thread;
}

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
});

describe('a worker thread', () => {
  test('reports that it is ready, and answers calls, also those from before', async () => {
    const thread = start();
    const early = thread.call.echo({ n: 1n, bytes: Uint8Array.of(1) });
    expect(await thread.ready).toBe('hello');
    expect(await early).toEqual({ n: 1n, bytes: Uint8Array.of(1) });
    expect(await Promise.all([1, 2, 3].map((n) => thread.call.echo(n)))).toEqual([1, 2, 3]);
  });

  test('moves buffers instead of copying them', async () => {
    const thread = start();
    const bytes = Uint8Array.of(1, 2, 3);
    const reversed = await thread.call.reversed(transfer(bytes, [bytes.buffer]));
    expect(reversed).toEqual(Uint8Array.of(3, 2, 1));
    expect(bytes.length).toBe(0);
  });

  test('keeps code, class, data and path of errors', async () => {
    const error = await start()
      .call.refuse('this')
      .catch((each: unknown) => each);
    expect(error).toMatchObject({ code: 'echo/refused', class: 'caller', data: { what: 'this' }, path: 'field' });
  });

  test('makes an error of its own of what is none', async () => {
    const error = await start()
      .call.fail()
      .catch((each: unknown) => each);
    expect(error).toMatchObject({ code: 'echo/unexpected' });
    expect(String(error)).toContain('RangeError: out of range');
  });

  test('calls its host', async () => {
    const thread = start();
    expect(await thread.call.doubled(21)).toBe(42);
    await expect(thread.call.doubled(-1)).rejects.toMatchObject({ code: 'echo/refused', data: { what: '-1' } });
  });

  test('forwards its log', async () => {
    const thread = start();
    await thread.call.writeLog();
    expect(lines).toContain('a line');
  });

  test('passes the warnings of Node on, as warnings of this process', async () => {
    const before = process.listeners('warning');
    const warned = new Promise<Error>((resolve) => process.removeAllListeners('warning').once('warning', resolve));
    const thread = start();
    await thread.call.warn();
    expect(await warned).toMatchObject({ name: 'TestWarning', message: 'too many' });
    for (const listener of before) process.on('warning', listener);
  });

  test('fails to start with its own error', async () => {
    const thread = start({ fails: true });
    await expect(thread.ready).rejects.toMatchObject({ code: 'echo/refused' });
    await expect(thread.ended).rejects.toMatchObject({ code: 'echo/refused' });
    await expect(thread.call.echo(1)).rejects.toMatchObject({ code: 'echo/refused' });
  });

  test('rejects its calls when it ends by itself', async () => {
    const thread = start();
    await thread.ready;
    await expect(thread.call.exit(3)).rejects.toMatchObject({
      code: 'echo/lost',
      data: { problem: 'the thread ended with code 3' },
    });
    await expect(thread.ended).rejects.toMatchObject({ code: 'echo/lost' });
    expect(thread.isAlive).toBe(false);
    await expect(thread.call.echo(1)).rejects.toMatchObject({ code: 'echo/lost' });
  });

  test('is terminated in the middle of a loop, with the given error', async () => {
    const thread = start();
    await thread.ready;
    const stuck = thread.call.loop();
    const terminated = thread.terminate(echoErrors.timeout({}));
    await expect(stuck).rejects.toMatchObject({ code: 'echo/timeout' });
    await terminated;
    await thread.ended;
  });

  test('is closed: at once when it is idle, by force when it is not', async () => {
    const idle = start();
    await idle.ready;
    await idle.close(60_000);
    await idle.ended;
    await expect(idle.call.echo(1)).rejects.toMatchObject({ code: 'echo/closed' });
    const busy = start();
    await busy.ready;
    const stuck = busy.call.loop();
    stuck.catch(() => {});
    await busy.close(50);
    await expect(stuck).rejects.toMatchObject({ code: 'echo/closed' });
  });
});
