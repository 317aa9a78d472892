import { expect, it } from 'vitest';
import { compileEmulator } from '#drivers/tvm/emulator-binary.js';
import { checkTvmSettings } from '#drivers/tvm/options.js';
import { TvmThreads } from '#drivers/tvm/tvm-threads.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('a thread that does not give up its job is replaced, by a spare at once', async () => {
  const clock = new FakeClock();
  let free = 0;
  const threads = new TvmThreads(checkTvmSettings({ workers: 1, spares: 1 }), { clock }, () => {
    free++;
  });
  try {
    await threads.start(await compileEmulator());
    await expect.poll(() => threads.counts().spares).toBe(1);
    const thread = threads.take()!;
    expect(threads.take()).toBeUndefined();
    free = 0;
    // A job of which nothing is heard any more.
    threads.interrupt(thread, new Promise(() => {}));
    clock.advance(1_900);
    expect(threads.counts()).toMatchObject({ workers: 1, busy: 1, replaced: 0 });
    clock.advance(200);
    expect(threads.counts()).toMatchObject({ workers: 1, busy: 0, replaced: 1, interrupted: 0 });
    expect(free).toBeGreaterThan(0);
    expect(threads.take()).not.toBe(thread);
    await expect.poll(() => threads.counts().spares).toBe(1);
  } finally {
    await threads.close();
  }
});
