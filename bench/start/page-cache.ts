import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** What is read at a start, besides Node itself, which runs here and therefore stays in memory. */
export const EVICTED = 'the files of Tern, of its packages and of PostgreSQL, not those of Node and of the system';

/** `dd` has the kernel forget the pages of a file, without copying anything. */
const FORGET = 'for file; do dd if="$file" iflag=nocache count=0 status=none || exit 1; done';
const FILES_AT_ONCE = 500;

/** A start does not read these. */
const NOT_READ = /\.([mc]?ts|map|md)$/;

/**
 * Takes the pages of {@link EVICTED} out of the page cache; the rest of the machine keeps its own.
 * @returns false where that is not possible: not Linux, or a `dd` without `nocache`
 */
export function evictPages(): boolean {
  if (process.platform !== 'linux') return false;
  const files = [join(repository, 'package.json'), ...folders().flatMap(filesOf)];
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const some = files.slice(at, at + FILES_AT_ONCE);
    if (spawnSync('/bin/sh', ['-c', FORGET, 'sh', ...some], { stdio: 'ignore' }).status !== 0) return false;
  }
  return true;
}

function folders(): readonly string[] {
  const own = ['bin', 'data', 'dist', 'migrations', 'scripts'];
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly dev?: boolean }>;
  };
  const packages = Object.entries(lock.packages).flatMap(([path, { dev }]) => (path === '' || dev ? [] : [path]));
  return [...own, ...packages].map((path) => join(repository, path));
}

function filesOf(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && !NOT_READ.test(entry.name));
    return files.map(({ parentPath, name }) => join(parentPath, name));
  } catch {
    // An optional package of another platform.
    return [];
  }
}
