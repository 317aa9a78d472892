import type { TernError } from '#kernel/tern-error.js';
import type { Random } from './random.js';

/**
 * One decoder under fire. A file `src/**\/NAME.fuzz.ts` exports one as `fuzzTarget`, or several as `fuzzTargets`.
 * The runner gives it inputs for some time and reports as failures: an error that is no TernError, a TernError that is
 * not allowed, a call that takes longer than its input justifies, one that takes more memory than its input justifies,
 * and one that does not return.
 */
export interface FuzzTarget {
  /** Unique; kebab-case. */
  readonly name: string;
  /** Makes one input. Everything random comes from `random`, so that seed and iteration give the input again. */
  make(random: Random): Uint8Array;
  /** Feeds the decoder, synchronously. Throws what the decoder throws, or whatever it likes when a property fails. */
  run(input: Uint8Array): void;
  /** Whether this error is a proper answer to a bad input; usually a look at its code. */
  allowed(error: TernError): boolean;
}
