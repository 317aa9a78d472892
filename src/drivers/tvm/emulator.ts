import type { EmulatorExports } from '@ton/sandbox/dist/executor/emulator-emscripten.js';
import instantiate from '@ton/sandbox/dist/executor/emulator-emscripten.js';
import { tvmErrors } from '#drivers/tvm/errors.js';
import type { SharedBoc } from '#drivers/tvm/shared-bocs.js';

/** The functions that the emulator calls in JavaScript: minified keys, but functions with their names. */
type Import = (...args: number[]) => unknown;

/** @param wrap gives what an import is replaced with, if anything */
function wrapped(imports: WebAssembly.Imports, wrap: (name: string, call: Import) => unknown): WebAssembly.Imports {
  const own: Record<string, unknown> = {};
  for (const [key, call] of Object.entries(imports.a!)) {
    // Another wrapper recognises it by its name.
    const found = wrap((call as Import).name, call as Import);
    own[key] = found === undefined ? call : Object.defineProperty(found, 'name', { value: (call as Import).name });
  }
  return { ...imports, a: own };
}

/**
 * Imports that the emulator calls all the time: the clock once for each instruction of the VM, the other one, which calls a C++
 * function that may throw, also where it reads and writes stacks.
 */
const INTERRUPTIBLE: Readonly<Record<string, (call: never, look: () => void) => unknown>> = {
  _clock_time_get:
    (call: (id: number, precision: bigint, at: number) => number, look) =>
    (id: number, precision: bigint, at: number) => {
      look();
      return call(id, precision, at);
    },
  invoke_vii: (call: (index: number, a: number, b: number) => void, look) => (index: number, a: number, b: number) => {
    look();
    call(index, a, b);
  },
};

/** So many of these calls are made between two looks at whether the run shall end: some tenths of a millisecond. */
const CALLS_PER_LOOK = 128;

/**
 * Makes a run end by an exception of JavaScript, which no code of C++ catches.
 *
 * @param onEnd called before a run ends
 */
function interruptible(
  imports: WebAssembly.Imports,
  isCalledOff: () => boolean,
  onEnd: () => void,
): WebAssembly.Imports {
  let calls = 0;
  const look = (): void => {
    calls++;
    if (calls % CALLS_PER_LOOK !== 0 || !isCalledOff()) return;
    onEnd();
    throw tvmErrors.aborted({});
  };
  return wrapped(imports, (name, call) => INTERRUPTIBLE[name]?.(call as never, look));
}

/** How C++ names the type of the exception that `combine_with` of a dictionary throws where values cannot be combined. */
const COMBINE_ERROR = 'N2vm12CombineErrorE';
/** Index of `combine_with` in the table of functions, specific to this package version. */
const COMBINE_WITH = 2724;

/**
 * Catches an exception that the emulator forgets to catch: an account with extra currencies sends more of one than it has. The
 * difference of the dictionaries does not exist then, which the caller of `combine_with` learns from its result, as in nodes:
 * the action is skipped or fails with result code 38.
 *
 * @param memory of the instance; it is not known before the instance is made
 */
function catchingCombineErrors(imports: WebAssembly.Imports, memory: () => WebAssembly.Memory): WebAssembly.Imports {
  const { ___cxa_begin_catch: beginCatch, ___cxa_end_catch: endCatch } = Object.fromEntries(
    Object.values(imports.a!).map((call) => [(call as Import).name, call as Import]),
  );
  let pending: number | null = null;
  return wrapped(imports, (name, call) => {
    if (name === '___cxa_throw') {
      return (exception: number, type: number, destructor: number) => {
        pending = typeName(memory(), type) === COMBINE_ERROR ? exception : null;
        return call(exception, type, destructor);
      };
    }
    if (name !== 'invoke_iiiii') return undefined;
    return (index: number, a: number, b: number, c: number, d: number) => {
      const result = call(index, a, b, c, d);
      if (pending === null || result !== undefined || index !== COMBINE_WITH) return result;
      beginCatch?.(pending);
      endCatch?.();
      pending = null;
      return 0;
    };
  });
}

/** The name in a `std::type_info`: its second word points to it. */
function typeName({ buffer }: WebAssembly.Memory, type: number): string {
  const heap = Buffer.from(buffer);
  const at = heap.readUInt32LE(type + 4);
  return heap.toString('latin1', at, heap.indexOf(0, at));
}

/** Arguments of `_emulate_with_emulator`; cells are BoCs in base64. */
export interface EmulateArguments {
  readonly config: SharedBoc;
  /** Log verbosity, 0 to 5. */
  readonly verbosity: number;
  /** Library dictionary; null for none. */
  readonly libraries: SharedBoc | null;
  /** A `VmStackValue`; null for none. */
  readonly prevBlocksInfo: string | null;
  readonly account: string;
  /** Empty for a tick or tock transaction. */
  readonly message: string;
  /** Further parameters, as named by the emulator. */
  readonly params: Readonly<Record<string, string | number | boolean>>;
}

/** A transaction emulator in WASM memory, created for one configuration. */
interface TransactionEmulator {
  readonly pointer: number;
  /** The values set last: the emulator keeps them until they are replaced, so only changes are passed. */
  libraries: string | null;
  prevBlocksInfo: string | null;
}

/** The dictionary `{0: empty cell}`, because an empty one cannot be passed: no cell has hash 0. */
export const NO_LIBRARIES = 'te6ccgEBAgEABwABA9AIAQAA';

/** `vm_stk_null` as a `VmStackValue`: no previous blocks. */
const NO_PREV_BLOCKS = 'te6ccgEBAQEAAwAAAgA=';

/** Minified names of WASM exports, specific to this package version. */
const MEMORY = 'Da';
const SET_STACK_POINTER = 'Ra';
const GET_STACK_POINTER = 'Ta';
interface RawExports {
  readonly [MEMORY]: WebAssembly.Memory;
  readonly [SET_STACK_POINTER]: (pointer: number) => void;
  readonly [GET_STACK_POINTER]: () => number;
}

const STACK_BYTES = 8 * 2 ** 20;

/**
 * The binary is linked with a stack of 64 KiB directly above its static data and without overflow check: recursion over a
 * list of 350 values overwrites that data. Therefore the stack is moved to a larger allocation.
 */
function enlargeStack(exports: EmulatorExports, raw: RawExports): void {
  const top = (exports._malloc(STACK_BYTES) + STACK_BYTES) & ~15;
  raw[SET_STACK_POINTER]?.(top);
  if (!(raw[MEMORY] instanceof WebAssembly.Memory) || raw[GET_STACK_POINTER]?.() !== top) {
    throw tvmErrors['not-started']({ problem: 'its WASM binary is not the one expected' });
  }
}

/** Limits of an emulator. */
export interface EmulatorLimits {
  /** Maximum number of cached configurations, and of transaction emulators. */
  readonly maxConfigs: number;
  /** Maximum size of its memory. */
  readonly maxBytes: number;
  /** Whether the call under way shall end; it is asked very often. */
  readonly isCalledOff?: () => boolean;
}

const PAGE_BYTES = 65_536;

/** The loader grows the memory by its method `grow`, and reports a failure to the allocator of the emulator. */
function limitMemory(memory: WebAssembly.Memory, maxBytes: number, onGrow: (isRefused: boolean) => void): void {
  const grow = memory.grow.bind(memory);
  Object.defineProperty(memory, 'grow', {
    value: (pages: number) => {
      const isRefused = memory.buffer.byteLength + pages * PAGE_BYTES > maxBytes;
      onGrow(isRefused);
      if (!isRefused) return grow(pages);
      throw tvmErrors['out-of-memory']({ limitBytes: maxBytes });
    },
  });
}

/**
 * A thin synchronous binding to one instance of the WASM emulator. It caches a few configurations in WASM memory (LRU).
 * An instance must not be used after a call has thrown.
 */
export class Emulator {
  readonly #exports: EmulatorExports;
  readonly #memory: WebAssembly.Memory;
  readonly #maxConfigs: number;
  /** In order of use. */
  readonly #configs = new Map<string, number>();
  readonly #emulators = new Map<string, TransactionEmulator>();
  #isOutOfMemory = false;
  readonly #state: { isInterrupted: boolean };

  private constructor(
    exports: EmulatorExports,
    memory: WebAssembly.Memory,
    { maxConfigs, maxBytes }: EmulatorLimits,
    state: { isInterrupted: boolean },
  ) {
    this.#state = state;
    this.#exports = exports;
    this.#memory = memory;
    this.#maxConfigs = maxConfigs;
    limitMemory(memory, maxBytes, (isRefused) => {
      this.#isOutOfMemory = isRefused;
    });
  }

  static async instantiate(module: WebAssembly.Module, limits: EmulatorLimits): Promise<Emulator> {
    let raw = {} as RawExports;
    const state = { isInterrupted: false };
    const { isCalledOff } = limits;
    const exports = await instantiate({
      instantiateWasm(imports, done) {
        const catching = catchingCombineErrors(imports, () => raw[MEMORY]);
        const given =
          isCalledOff === undefined
            ? catching
            : interruptible(catching, isCalledOff, () => {
                state.isInterrupted = true;
              });
        const instance = new WebAssembly.Instance(module, given);
        raw = instance.exports as unknown as RawExports;
        done(instance, module);
      },
      print() {},
      printErr() {},
    });
    enlargeStack(exports, raw);
    return new Emulator(exports, raw[MEMORY], limits, state);
  }

  /** Whether it wanted more memory than it may have. */
  get isOutOfMemory(): boolean {
    return this.#isOutOfMemory;
  }

  /** Whether a call was ended because it was called off. */
  get isInterrupted(): boolean {
    return this.#state.isInterrupted;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** JSON with commit and date of the C++ sources. The text is owned by the emulator. */
  version(): string {
    return this.#read(this.#exports._version());
  }

  /** @returns JSON: `{output, logs}` truncated before `logs`, or `{fail, message}`; one byte per character */
  runGetMethod(params: string, stack: string, config: SharedBoc): string {
    const configPointer = this.#config(config);
    return this.#call([params, stack], ([paramsPointer, stackPointer]) =>
      this.#exports._run_get_method(paramsPointer!, stackPointer!, configPointer),
    );
  }

  /** @returns as {@link Emulator.runGetMethod}; null when the configuration is invalid */
  emulate(what: EmulateArguments): string | null {
    const emulator = this.#emulator(what.config, what.verbosity);
    if (emulator === null) return null;
    const { libraries, prevBlocksInfo } = what;
    const more =
      prevBlocksInfo === emulator.prevBlocksInfo ? {} : { prev_blocks_info: prevBlocksInfo ?? NO_PREV_BLOCKS };
    const texts: (string | SharedArrayBuffer)[] = [
      what.account,
      what.message,
      JSON.stringify({ ...what.params, ...more }),
    ];
    const librariesKey = libraries?.key ?? null;
    if (librariesKey !== emulator.libraries) texts.push(libraries?.text ?? NO_LIBRARIES);
    const output = this.#call(texts, ([account, message, params, libs]) =>
      this.#exports._emulate_with_emulator(emulator.pointer, libs ?? 0, account!, message!, params!),
    );
    emulator.libraries = librariesKey;
    emulator.prevBlocksInfo = prevBlocksInfo;
    // On invalid parameters the transaction emulator destroys itself.
    if (output.startsWith('{"fail"')) this.#emulators.delete(emulatorKey(what.config, what.verbosity));
    return output;
  }

  #call(texts: readonly (string | SharedArrayBuffer)[], run: (pointers: readonly number[]) => number): string {
    const pointers = texts.map((text) => this.#write(text));
    const result = run(pointers);
    const output = this.#read(result);
    this.#exports._free(result);
    for (const pointer of pointers) this.#exports._free(pointer);
    return output;
  }

  #config({ key, text }: SharedBoc): number {
    const known = this.#configs.get(key);
    if (known !== undefined) {
      this.#configs.delete(key);
      this.#configs.set(key, known);
      return known;
    }
    for (const [oldest, pointer] of this.#configs) {
      if (this.#configs.size < this.#maxConfigs) break;
      this.#configs.delete(oldest);
      this.#exports._free(pointer);
    }
    const pointer = this.#write(text);
    this.#configs.set(key, pointer);
    return pointer;
  }

  #emulator(config: SharedBoc, verbosity: number): TransactionEmulator | null {
    const key = emulatorKey(config, verbosity);
    const known = this.#emulators.get(key);
    if (known !== undefined) {
      this.#emulators.delete(key);
      this.#emulators.set(key, known);
      return known;
    }
    for (const [oldest, { pointer }] of this.#emulators) {
      if (this.#emulators.size < this.#maxConfigs) break;
      this.#emulators.delete(oldest);
      this.#exports._destroy_emulator(pointer);
    }
    const pointer = this.#exports._create_emulator(this.#config(config), verbosity);
    if (pointer === 0) return null;
    const emulator = { pointer, libraries: null, prevBlocksInfo: null };
    this.#emulators.set(key, emulator);
    return emulator;
  }

  #allocate(bytes: number): number {
    const pointer = this.#exports._malloc(bytes);
    if (pointer === 0) throw tvmErrors.crashed({ problem: `no memory for ${bytes} bytes` });
    return pointer;
  }

  #write(text: string | SharedArrayBuffer): number {
    const length = typeof text === 'string' ? text.length : text.byteLength;
    const pointer = this.#allocate(length + 1);
    const heap = this.#heap();
    if (typeof text === 'string') heap.latin1Write(text, pointer, length);
    else heap.set(new Uint8Array(text), pointer);
    heap[pointer + length] = 0;
    return pointer;
  }

  /** The text at a pointer; of a result only the part before `logs`, which repeats a part of `output`. */
  #read(pointer: number): string {
    const heap = this.#heap();
    const end = heap.indexOf(0, pointer);
    // Quotes inside JSON strings are escaped, so this sequence cannot occur in one.
    const logs = heap.subarray(pointer, end).indexOf('},"logs":"', 0, 'latin1');
    return logs === -1
      ? heap.toString('latin1', pointer, end)
      : `${heap.toString('latin1', pointer, pointer + logs)}}}`;
  }

  /** Created for each access, because the buffer changes when the memory grows. */
  #heap(): Buffer & { latin1Write(text: string, offset: number, length: number): number } {
    return Buffer.from(this.#memory.buffer) as Buffer & { latin1Write(t: string, o: number, l: number): number };
  }
}

function emulatorKey(config: SharedBoc, verbosity: number): string {
  return `${verbosity}:${config.key}`;
}
