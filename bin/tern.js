#!/usr/bin/env node
// The `tern` command. In a checkout it bundles the sources when they have changed; a published package is bundled already.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../src/app/cli/main.ts', import.meta.url));

const published = new URL('../dist/program/tern/main.js', import.meta.url).href;

const [first, ...more] = process.argv.slice(2);

if (more.length === 0 && (first === '--version' || first === '-V')) {
  // Nothing else is loaded for it.
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  process.stdout.write(`${JSON.parse(manifest).version}\n`);
} else if (!existsSync(source)) {
  await import(published);
} else {
  const { setUp } = await import('../scripts/setup.mjs');
  if (!setUp()) {
    process.exitCode = 1;
  } else {
    const { startWebBuild } = await import('../scripts/build-web.mjs');
    startWebBuild(process.argv[2]);
    const { bundle, bundledFile } = await import('../scripts/bundle.mjs');
    const folder = await bundle(fileURLToPath(new URL('..', import.meta.url)));
    if (folder === null) {
      runSource();
    } else {
      keepCompiledCode();
      await import(/** @type {string} */ (bundledFile(folder, source)));
    }
  }
}

/** From Node 22.1 on, what V8 has compiled is kept for the next start. Threads find the folder in the environment. */
function keepCompiledCode() {
  const { enableCompileCache } = /** @type {{ enableCompileCache?: (folder: string) => unknown }} */ (
    /** @type {unknown} */ (module)
  );
  if (enableCompileCache === undefined) return;
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/v8', import.meta.url));
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

/**
 * Where a bundle cannot be written, as in a checkout of somebody else: starts Node again with TypeScript loaded, since the
 * `source` condition cannot be switched on in a running process.
 */
function runSource() {
  const loader = ['--conditions=source', '--import', import.meta.resolve('tsx')];
  const child = spawn(process.execPath, [...process.execArgv, ...loader, source, ...process.argv.slice(2)], {
    // The channel is closed when this process is gone, however it went; then the other one ends as well.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, TSX_TSCONFIG_PATH: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) },
  });

  // A terminal sends its Ctrl-C to both processes; only what was sent to us alone is handed on.
  const fromTerminal = process.stdin.isTTY === true;
  for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !fromTerminal) child.kill(signal);
    });
  }

  child.on('error', (error) => {
    process.stderr.write(`tern: Node could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
