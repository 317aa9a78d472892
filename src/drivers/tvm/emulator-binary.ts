import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { tvmErrors } from '#drivers/tvm/errors.js';

const BINARY = '@ton/sandbox/dist/executor/emulator-emscripten.wasm.js';

/**
 * How many bytes of code of a WebAssembly function run before V8 optimizes it. With its default, a fifth of this, V8 soon optimizes the
 * function that registers the instructions of the TVM, which has 250 kB and runs once for each emulator: that takes a second of a
 * processor and 100 MB. What runs often is optimized a few milliseconds later than otherwise.
 */
const TIERING_BUDGET = 9_000_000;

let compiled: Promise<WebAssembly.Module> | null = null;

/**
 * The compiled emulator, which all threads of all pools share. Sets {@link TIERING_BUDGET} for the whole process.
 *
 * @throws tvm/not-started when the package is missing or unexpected
 */
export function compileEmulator(): Promise<WebAssembly.Module> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<WebAssembly.Module> {
  try {
    const require = createRequire(import.meta.url);
    const path = require.resolve(BINARY);
    const { EmulatorEmscriptenWasm } = require(path) as { EmulatorEmscriptenWasm: string };
    // Release 7 MB of text.
    delete require.cache[path];
    setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
    return await WebAssembly.compile(Buffer.from(EmulatorEmscriptenWasm, 'base64'));
  } catch (error) {
    throw tvmErrors['not-started']({ problem: (error as Error).message }, error);
  }
}

/**
 * Version of the emulator: built from the TON sources at this commit, according to its `version` export. It implements all
 * global versions (configuration parameter 8) up to 13. Tests against a network of version 13 confirm this for 2,300 get
 * methods and 11,400 transactions, with one exception: it counts the cells of extra currencies in the fee of a bounced
 * message. It does not refuse newer versions but runs them by the rules of version 13.
 */
export const EMULATOR = {
  package: '@ton/sandbox',
  package_version: '0.41.0',
  commit: 'f801e1c1a4ddb5abf41033f51a7c74ab72dfdc07',
  date: '2025-12-05',
  global_version: 13,
} as const;

/** Whether the emulator implements this global version. If not, its results may be wrong. */
export function emulatorKnows(globalVersion: number): boolean {
  return globalVersion <= EMULATOR.global_version;
}
