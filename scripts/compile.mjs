// Puts the sources of a checkout into `dist` as JavaScript, file by file: what has changed since the last time, nothing else. It
// runs before every `tern` of a checkout, which then begins in a fraction of the time that the sources themselves would take.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { threadId } from 'node:worker_threads';

/** Says what `dist` was made of: size and time of each source. */
const STAMP = '.sources.json';

/** Of the build: what it imports is in it, whatever conditions the process was started with. */
const PACKAGE = JSON.stringify({ type: 'module', imports: { '#*.js': './*.js' } });

/** @param {string} name */
const isCompiled = (name) => name.endsWith('.ts') && !/\.(test|bench|fuzz|d)\.ts$/.test(name);

/**
 * The sources, by path under `src`, with what tells one version from another.
 * @param {string} folder
 * @returns {Record<string, string>}
 */
function sourcesOf(folder) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!isCompiled(name)) continue;
    const { size, mtimeMs } = statSync(join(folder, name));
    found[name] = `${size}:${mtimeMs}`;
  }
  return found;
}

/**
 * @param {string} file
 * @returns {Record<string, string>}
 */
function stampOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // None, or half of one: everything is compiled.
    return {};
  }
}

/**
 * A file is there whole or not at all, also for another process that does the same.
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function writeWhole(file, content) {
  const draft = `${file}.${process.pid}.${threadId}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

/**
 * Brings `dist` up to the sources.
 * @param {string} root of the checkout
 * @param {string} target where the JavaScript goes
 * @returns {Promise<boolean>} false when `dist` cannot be written to: then the sources have to run themselves
 */
export async function compile(root, target = join(root, 'dist')) {
  const source = join(root, 'src');
  const sources = sourcesOf(source);
  const stamp = stampOf(join(target, STAMP));
  const isThere = (/** @type {string} */ name) =>
    statSync(join(target, builtName(name)), { throwIfNoEntry: false }) !== undefined;
  const changed = Object.keys(sources).filter((name) => sources[name] !== stamp[name] || !isThere(name));
  const gone = Object.keys(stamp).filter((name) => sources[name] === undefined);
  if (changed.length === 0 && gone.length === 0) return true;
  try {
    mkdirSync(target, { recursive: true });
    const { build, stop } = await import('esbuild');
    const { outputFiles } = await build({
      entryPoints: changed.map((name) => join(source, name)),
      outbase: source,
      outdir: target,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      // Not that of the checkout, nor of a folder around it: what matters of it is here.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      write: false,
      logLevel: 'error',
    });
    // Its process would stay as long as ours, and be asked every second whether it is there.
    await stop();
    for (const { path, contents } of outputFiles) {
      mkdirSync(dirname(path), { recursive: true });
      writeWhole(path, contents);
    }
    writeWhole(join(target, 'package.json'), PACKAGE);
    for (const name of gone) rmSync(join(target, builtName(name)), { force: true });
    writeWhole(join(target, STAMP), JSON.stringify(sources));
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return false;
    throw error;
  }
}

/** @param {string} name */
function builtName(name) {
  return name.replace(/\.ts$/, '.js');
}
