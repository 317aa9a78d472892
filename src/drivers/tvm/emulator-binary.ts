import { createRequire } from 'node:module';
import { tvmErrors } from '#drivers/tvm/errors.js';

const BINARY = '@ton/sandbox/dist/executor/emulator-emscripten.wasm.js';

/**
 * Compiles the emulator; all threads then use the one module.
 *
 * @throws tvm/not-started when the package is not there, or not as expected
 */
export async function compileEmulator(): Promise<WebAssembly.Module> {
  try {
    const require = createRequire(import.meta.url);
    const path = require.resolve(BINARY);
    const { EmulatorEmscriptenWasm } = require(path) as { EmulatorEmscriptenWasm: string };
    // 7 MB of text, which nobody needs again.
    delete require.cache[path];
    return await WebAssembly.compile(Buffer.from(EmulatorEmscriptenWasm, 'base64'));
  } catch (error) {
    throw tvmErrors['not-started']({ problem: (error as Error).message }, error);
  }
}

/**
 * What the emulator is: that of the TON sources at this commit, as its `version` export says. It has the rules of every
 * global version (parameter 8 of the configuration) up to 13, as tests against a network of version 13 show: all of 2,300
 * get methods and of 11,400 transactions, except that it counts the cells of extra currencies in the fee for returning a
 * message, and that it crashes on an action that sends a broken dictionary of them. Newer versions it does not refuse: it
 * runs them by the rules of 13.
 */
export const EMULATOR = {
  package: '@ton/sandbox',
  package_version: '0.41.0',
  commit: 'f801e1c1a4ddb5abf41033f51a7c74ab72dfdc07',
  date: '2025-12-05',
  global_version: 13,
} as const;

/** Whether the emulator has the rules of a network with this global version. If not, its results may be wrong. */
export function emulatorKnows(globalVersion: number): boolean {
  return globalVersion <= EMULATOR.global_version;
}
