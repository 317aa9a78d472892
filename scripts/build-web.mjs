// Builds the explorer (web/) into dist/web. `tern dev` and `tern serve` of a checkout start it in the background when the sources
// have changed, so that the APIs do not wait for it; a published package has it built already.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const self = fileURLToPath(import.meta.url);

/** What the page is made of: its own sources, and the codecs of Tern that it uses. */
const SOURCES = ['web', 'src/formats/address', 'src/formats/cells', 'src/kernel'];

/** Beside the page: what it was made of. */
const STAMP = '.sources.json';

/** Commands that serve the page. */
const SERVING = ['dev', 'serve'];

/** Sizes and times of the sources, as one text. */
function stampOfSources() {
  const found = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      if (/\.(test|bench|fuzz)\.tsx?$|\.md$/.test(name)) return [];
      const { size, mtimeMs } = statSync(join(root, folder, name));
      return [`${folder}/${name}:${size}:${mtimeMs}`];
    }),
  );
  return JSON.stringify(found.sort());
}

/** @param {string} folder of the built page */
function stampOf(folder) {
  try {
    return readFileSync(join(folder, STAMP), 'utf8');
  } catch {
    return null;
  }
}

/** Builds the page, and puts it in place of the one before. @param target folder of the page */
export async function buildWeb(target = join(root, 'dist', 'web')) {
  const stamp = stampOfSources();
  const draft = `${target}.${process.pid}`;
  try {
    const { build } = await import('vite');
    await build({
      configFile: join(root, 'web', 'vite.config.ts'),
      build: { outDir: draft, emptyOutDir: true },
      logLevel: 'error',
    });
    writeFileSync(join(draft, STAMP), stamp);
    mkdirSync(target, { recursive: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Whether the built page is that of the sources. */
const isBuilt = () => stampOf(join(root, 'dist', 'web')) === stampOfSources();

/** Builds the page where it is not that of the sources. */
export async function buildChangedWeb() {
  if (!isBuilt()) await buildWeb();
}

/**
 * Starts the build in a process of its own and of low priority if the page is not that of the sources, and does not wait for it.
 * @param {string | undefined} command of the command line
 */
export function startWebBuild(command) {
  if (command === undefined || !SERVING.includes(command)) return;
  if (isBuilt()) return;
  spawn(process.execPath, [self, '--background'], { cwd: root, stdio: 'ignore' })
    .on('error', () => {})
    .unref();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isBackground = process.argv.includes('--background');
  if (isBackground) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    await buildWeb();
  } catch (error) {
    // A checkout that cannot be written to: the server says that the page is not built.
    if (!isBackground) throw error;
    process.exitCode = 1;
  }
}
