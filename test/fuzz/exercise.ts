import { isTernError, type TernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from './fuzz-target.js';
import { Random } from './random.js';

export interface FuzzFailure {
  readonly target: string;
  readonly iteration: number;
  readonly input: Uint8Array;
  /** One line. */
  readonly problem: string;
  /** Failures with the same kind are told once. */
  readonly kind: string;
}

interface Slowest {
  readonly ms: number;
  readonly bytes: number;
  readonly iteration: number;
}

export interface Tally {
  iterations: number;
  accepted: number;
  errors: Record<string, number>;
  slowest: Slowest;
  failures: FuzzFailure[];
}

/** Where time and memory are read; given so that tests need not depend on the machine. */
export interface Meter {
  /** Milliseconds since some moment. */
  now(): number;
  /** Bytes in use, on the heap and in array buffers. */
  memory(): number;
  /** Gives back what is unused. */
  collect(): void;
}

/** How long a call may take: 50 ms per KiB of input, and never less than 50 ms. */
export function allowedMs(bytes: number): number {
  return 50 * Math.max(1, bytes / 1024);
}

/** How much memory a call may take, garbage included: 16 MiB and 4 KiB per byte of input. */
export function allowedMemory(bytes: number): number {
  return 16 * 2 ** 20 + 4096 * bytes;
}

/** How often a call that was over a bound runs again; the least of all counts, so that the machine's noise does not. */
const repeats = 3;

export function emptyTally(): Tally {
  return { iterations: 0, accepted: 0, errors: {}, slowest: { ms: 0, bytes: 0, iteration: -1 }, failures: [] };
}

/** The input of one iteration; the same for the same seed, target and iteration. */
export function makeInput(target: FuzzTarget, seed: string, iteration: number): Uint8Array {
  return target.make(new Random(`${seed}/${target.name}/${iteration}`));
}

interface Call {
  readonly ms: number;
  readonly memory: number;
  readonly thrown: unknown;
}

function callOnce(target: FuzzTarget, input: Uint8Array, meter: Meter): Call {
  const memory = meter.memory();
  const start = meter.now();
  let thrown: unknown = null;
  try {
    target.run(input);
  } catch (error) {
    thrown = error ?? 'nothing';
  }
  return { ms: meter.now() - start, memory: meter.memory() - memory, thrown };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = error.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return `${error.name}: ${error.message}${place === undefined ? '' : ` ${place.trim()}`}`;
}

function judgeError(target: FuzzTarget, thrown: unknown): { kind: string; problem: string } | null {
  if (!isTernError(thrown)) {
    const kind = thrown instanceof Error ? thrown.name : 'thrown';
    return { kind, problem: `threw what is no TernError: ${describe(thrown)}` };
  }
  if (target.allowed(thrown as TernError)) return null;
  return { kind: thrown.code, problem: `refused with ${thrown.code}, which is not allowed: ${thrown.message}` };
}

/** Runs one iteration of `target` and adds what came of it to `tally`. */
export function exercise(target: FuzzTarget, seed: string, iteration: number, tally: Tally, meter: Meter): void {
  const input = makeInput(target, seed, iteration);
  const fail = (kind: string, problem: string) => {
    if (tally.failures.some((failure) => failure.kind === kind)) return;
    tally.failures.push({ target: target.name, iteration, input, kind, problem });
  };

  const { ms: firstMs, memory: firstMemory, thrown } = callOnce(target, input, meter);
  tally.iterations++;
  if (thrown === null) tally.accepted++;
  else {
    if (isTernError(thrown)) tally.errors[thrown.code] = (tally.errors[thrown.code] ?? 0) + 1;
    const bad = judgeError(target, thrown);
    if (bad !== null) fail(bad.kind, bad.problem);
  }

  let ms = firstMs;
  let memory = firstMemory;
  for (let i = 0; i < repeats; i++) {
    if (ms <= allowedMs(input.length) && memory <= allowedMemory(input.length)) break;
    meter.collect();
    const again = callOnce(target, input, meter);
    ms = Math.min(ms, again.ms);
    memory = Math.min(memory, again.memory);
  }
  if (ms > tally.slowest.ms) tally.slowest = { ms, bytes: input.length, iteration };
  if (ms > allowedMs(input.length)) {
    fail(
      'slow',
      `took ${ms.toFixed(1)} ms for ${input.length} bytes; allowed are ${allowedMs(input.length).toFixed(1)} ms`,
    );
  }
  if (memory > allowedMemory(input.length)) {
    fail(
      'memory',
      `took ${memory} bytes of memory for ${input.length} bytes; allowed are ${allowedMemory(input.length)}`,
    );
  }
}
