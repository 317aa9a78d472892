// Where the sources run, not a bundle: a worker thread does not inherit the TypeScript loader of the process. It runs its file of
// the bundle that `bin/tern.js` makes of the sources, which starts faster; where there is none it loads TypeScript.
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { bundle, bundledFile } from '../../scripts/bundle.mjs';

const root = new URL('../../', import.meta.url);
const { entry } = workerData;
const folder = entry.startsWith(new URL('src/', root).href) ? await bundle(fileURLToPath(root)) : null;
const bundled = folder === null ? null : bundledFile(folder, entry);
if (bundled === null) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import(bundled ?? entry);
