import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { startThread } from '#kernel/worker-thread.js';
import { lockFolder, removeThreadLock } from '#localnet/ledger/ledger-files.js';

const away = mkdtempSync(join(tmpdir(), 'tern-lock-'));
afterAll(() => rmSync(away, { recursive: true, force: true }));

describe('the lock of a folder', () => {
  it('of a terminated thread is removed by who started it, and of no other thread', async () => {
    const folder = join(away, 'thread');
    const thread = startThread(new URL('../../../test/support/lock-holder.js', import.meta.url), folder);
    const { threadId } = thread;
    await once(thread, 'message');
    const held = expect.objectContaining({ code: 'ledger/in-use' });
    expect(() => lockFolder(folder)).toThrow(held);
    await thread.terminate();
    // This is what ended `tern dev`: the lock named its own process.
    expect(readFileSync(join(folder, 'lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    expect(() => lockFolder(folder)).toThrow(held);
    removeThreadLock(folder, threadId + 1);
    expect(() => lockFolder(folder)).toThrow(held);
    removeThreadLock(folder, threadId);
    lockFolder(folder)();
  });

  it('that was copied with its folder is not held there', () => {
    const folder = join(away, 'original');
    const release = lockFolder(folder);
    const copy = join(away, 'copy');
    cpSync(folder, copy, { recursive: true });
    const moved = join(away, 'moved');
    renameSync(folder, moved);
    expect(() => lockFolder(moved)).toThrow(expect.objectContaining({ code: 'ledger/in-use' }));
    lockFolder(copy)();
    renameSync(moved, folder);
    release();
    lockFolder(folder)();
  });

  it('of another process is not touched', () => {
    const folder = join(away, 'process');
    lockFolder(folder)();
    writeFileSync(join(folder, 'lock'), `${process.ppid} - 1 1.x\n`);
    removeThreadLock(folder, 1);
    expect(() => lockFolder(folder)).toThrow(expect.objectContaining({ code: 'ledger/in-use' }));
  });
});
