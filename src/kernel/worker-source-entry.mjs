// Where the sources run, not the build: a worker thread does not inherit the TypeScript loader of the process. It runs what
// is compiled of the sources, as `bin/tern.js` does, which starts faster; where that cannot be written it loads TypeScript.
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { compile } from '../../scripts/compile.mjs';

const root = new URL('../../', import.meta.url);
const sources = new URL('src/', root).href;
const { entry } = workerData;
if (entry.startsWith(sources) && (await compile(fileURLToPath(root)))) {
  await import(new URL(`dist/${entry.slice(sources.length)}`, root).href);
} else {
  const { register } = await import('tsx/esm/api');
  register();
  await import(entry);
}
