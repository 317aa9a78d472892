import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, readRegularFile, readTextFile, writeFileAtomic } from '#kernel/files.js';
import { isTernError } from '#kernel/tern-error.js';

const away = mkdtempSync(join(tmpdir(), 'tern-files-'));
afterAll(() => rmSync(away, { recursive: true, force: true }));

const file = join(away, 'file');
writeFileSync(file, 'text');
const pipe = join(away, 'pipe');
execFileSync('mkfifo', [pipe]);
const loop = join(away, 'loop');
symlinkSync(loop, loop);
const dangling = join(away, 'dangling');
symlinkSync(join(away, 'nowhere'), dangling);

/** Code, the level at fault, and the reason. */
function refusal(run: () => unknown): unknown {
  try {
    run();
    return null;
  } catch (error) {
    if (!isTernError(error)) throw error;
    return [error.code, error.data.level ?? error.data.file, error.data.problem ?? error.data.found];
  }
}

describe('folders', () => {
  it('are made level by level', () => {
    const folder = join(away, 'a', 'b', 'c');
    makeFolder(folder, 0o700);
    makeFolder(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    makeFolder(relative(process.cwd(), join(away, 'd', 'e')));
    expect(statSync(join(away, 'd', 'e')).isDirectory()).toBe(true);
    symlinkSync(folder, join(away, 'link'));
    makeFolder(join(away, 'link', 'x'));
    expect(statSync(join(folder, 'x')).isDirectory()).toBe(true);
  });

  const long = join(away, 'n'.repeat(300));
  const rows: readonly (readonly [name: string, folder: string, level: string, problem: RegExp])[] = [
    ['a file', file, file, /^it is a file$/],
    ['below a file', join(file, 'x', 'y'), file, /^it is a file$/],
    ['a named pipe', pipe, pipe, /^it is a named pipe$/],
    ['below a device', '/dev/null/x', '/dev/null', /^it is a device$/],
    ['a loop of links', join(loop, 'x'), join(loop, 'x'), /\(ELOOP\)$/],
    ['a link to nothing', join(dangling, 'x'), dangling, /\(EEXIST\)$/],
    ['a name that is too long', join(long, 'x'), join(long, 'x'), /\(ENAMETOOLONG\)$/],
    ...(process.platform === 'linux'
      ? [
          ['/proc', '/proc/tern/localnet/chains', '/proc/tern', /\(ENOENT\)$/] as const,
          ['/sys', '/sys/tern/localnet', '/sys/tern', /\(E(PERM|ACCES|ROFS)\)$/] as const,
        ]
      : []),
  ];
  it.each(rows)('are refused with the level at fault: %s', (_, folder, level, problem) => {
    expect(refusal(() => makeFolder(folder))).toEqual(['files/no-folder', level, expect.stringMatching(problem)]);
  });
});

describe('files', () => {
  it.each([
    [pipe, 'a named pipe'],
    ['/dev/zero', 'a device'],
    [away, 'a folder'],
  ])('other things in their place are refused at once: %s', async (path, found) => {
    expect(refusal(() => readRegularFile(path))).toEqual(['files/not-a-file', path, found]);
    await expect(readTextFile(path)).rejects.toMatchObject({ code: 'files/not-a-file' });
  });

  it('belong to the owner of their folder, no matter which user writes them', async () => {
    const folder = join(away, 'owned');
    makeFolder(folder);
    // Only root can have a folder of somebody else.
    if (process.getuid?.() === 0) chownSync(folder, 12_345, 12_346);
    const { uid, gid } = statSync(folder);
    await writeFileAtomic(join(folder, 'text'), 'text');
    makeFolder(join(folder, 'a', 'b'), 0o700);
    for (const name of ['text', 'a', 'a/b']) {
      const made = statSync(join(folder, name));
      expect([made.uid, made.gid], name).toEqual([uid, gid]);
    }
  });

  it('are not written into a pipe', async () => {
    const target = join(away, 'state');
    execFileSync('mkfifo', [`${target}.new`]);
    await expect(writeFileAtomic(target, 'text')).rejects.toMatchObject({ code: 'ENXIO' });
  });

  it('are read', async () => {
    expect(readRegularFile(file).toString()).toBe('text');
    expect(await readTextFile(file)).toBe('text');
    expect(await readTextFile(join(away, 'none'))).toBeNull();
  });
});
