import { tvmErrors } from '#drivers/tvm/errors.js';

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
export function interruptible(
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
export function catchingCombineErrors(
  imports: WebAssembly.Imports,
  memory: () => WebAssembly.Memory,
): WebAssembly.Imports {
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
