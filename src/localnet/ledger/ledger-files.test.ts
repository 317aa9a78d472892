import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { startThread } from '#kernel/worker-thread.js';
import { lockFolder, removeThreadLock, writeWhole } from '#localnet/ledger/ledger-files.js';
import { errorOf } from '#test/support/error-code.js';
import { onFullDisk } from '#test/support/full-disk.js';

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

describe('a file that is written whole', () => {
  it('leaves the one before, and no draft, when it cannot be written', () => {
    const folder = join(away, 'whole');
    const file = join(folder, 'file');
    mkdirSync(join(folder, 'other'), { recursive: true });
    writeWhole(file, 'first');
    expect(errorOf(() => onFullDisk({ room: 3 }, () => writeWhole(file, 'second'))).code).toBe('ledger/unwritable');
    // A folder is in its place, which the whole draft cannot take.
    expect(errorOf(() => writeWhole(join(folder, 'other'), 'second')).code).toBe('ledger/unwritable');
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['first', ['file', 'other']]);
  });

  it('says why its draft cannot be begun', () => {
    const file = join(away, 'begun');
    mkdirSync(`${file}.draft`);
    expect(errorOf(() => writeWhole(file, 'text')).message).toContain('EISDIR');
  });
});
