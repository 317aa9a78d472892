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
