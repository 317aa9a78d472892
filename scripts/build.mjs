// npm run build [-- folder]: what is published of the sources, in `dist` or another folder: types of the library, the bundle, the explorer.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildWeb } from './build-web.mjs';
import { bundlePackage } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(process.argv[2] ?? join(root, 'dist'));

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
const { status } = spawnSync(
  process.execPath,
  [compiler, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', dist],
  { cwd: root, stdio: 'inherit' },
);
if (status === 0) {
  await bundlePackage(root, dist);
  await buildWeb(join(dist, 'web'));
} else {
  process.exitCode = 1;
}
