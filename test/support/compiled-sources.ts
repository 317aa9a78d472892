// Tests load what Node would load. The test runner makes of each name that a module imports a property that is read wherever the
// name is used, which takes code of cells and hashes up to half as long again; so the sources are compiled by themselves before
// the first test, and loaded by Node.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import type { Plugin } from 'vitest/config';
import { isSource, sourcesIn } from '../../scripts/bundle.mjs';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src') + sep;
const COMPILED = join(ROOT, 'node_modules/.cache/tern-tests/compiled');

/** What `#module/file.js` means among the compiled modules. */
const MANIFEST = JSON.stringify({ type: 'module', imports: { '#*.js': './*.js' } });

function compiledName(name: string): string {
  return name.replace(/\.ts$/, '.js');
}

/** Leaves a file alone that has this text: another run may be reading it. */
async function writeIfNew(path: string, text: string): Promise<void> {
  const old = await readFile(path, 'utf8').catch(() => null);
  if (old === text) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Module by module. Each has the URL of its source, by which it finds files beside it and starts its worker threads. */
async function compileSources(): Promise<void> {
  const names = sourcesIn(SOURCES);
  await writeIfNew(join(COMPILED, 'package.json'), MANIFEST);
  const compileModule = async (name: string): Promise<void> => {
    const source = join(SOURCES, name);
    const { code } = await transform(await readFile(source, 'utf8'), {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcemap: 'inline',
      sourcefile: source,
      sourcesContent: false,
      define: {
        'import.meta.url': JSON.stringify(pathToFileURL(source).href),
        'import.meta.dirname': JSON.stringify(dirname(source)),
      },
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    });
    await writeIfNew(join(COMPILED, compiledName(name)), code);
  };
  await Promise.all(names.map(compileModule));
  const wanted = new Set(names.map(compiledName));
  const found = await readdir(COMPILED, { recursive: true });
  // Of sources that are gone: who still imports one shall not find it.
  const former = found.filter((name) => name.endsWith('.js') && !wanted.has(name));
  await Promise.all(former.map((name) => rm(join(COMPILED, name), { force: true })));
}

let compiling: Promise<void> | null = null;

/** Makes tests load the compiled module wherever they, or what they share, import a source. */
export function compiledSources(): Plugin {
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    async configureServer() {
      compiling ??= compileSources();
      await compiling;
    },
    resolveId(id, importer) {
      const isRelative = id.startsWith('.') && importer !== undefined;
      if (!isRelative && !(id.startsWith('#') && !id.startsWith('#test/'))) return null;
      const path = isRelative ? join(dirname(importer), id) : join(SOURCES, id.slice(1));
      const name = path.replace(/\.js$/, '.ts');
      if (!name.startsWith(SOURCES) || !isSource(name)) return null;
      return { id: join(COMPILED, path.slice(SOURCES.length)), external: true };
    },
  };
}
