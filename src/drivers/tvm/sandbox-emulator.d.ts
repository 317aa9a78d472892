// The two files of @ton/sandbox that Tern uses: the emulator's WASM binary and its emscripten loader.
declare module '@ton/sandbox/dist/executor/emulator-emscripten.js' {
  /** Pointers into WASM memory; strings are NUL-terminated. Returned strings must be passed to `_free`. */
  export interface EmulatorExports {
    _malloc(size: number): number;
    _free(pointer: number): void;
    /** @returns JSON: commit and date of the C++ sources */
    _version(): number;
    /** @returns JSON: `{output, logs}` or `{fail, message}` */
    _run_get_method(params: number, stack: number, config: number): number;
    /** @returns 0 when the configuration is invalid */
    _create_emulator(config: number, verbosity: number): number;
    _destroy_emulator(emulator: number): void;
    /** With 0 for `libs` the libraries of the previous call remain set. @returns as `_run_get_method` */
    _emulate_with_emulator(emulator: number, libs: number, account: number, message: number, params: number): number;
  }

  export interface EmscriptenOptions {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ): void;
    print(text: string): void;
    printErr(text: string): void;
  }

  export default function instantiate(options: EmscriptenOptions): Promise<EmulatorExports>;
}

declare module '@ton/sandbox/dist/executor/emulator-emscripten.wasm.js' {
  /** Base64. */
  export const EmulatorEmscriptenWasm: string;
}
