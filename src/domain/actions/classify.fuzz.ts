import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { hostileTraceProblem, realTraces } from '#test/support/hostile-traces.js';

/** An input is the seed of a trace: see `hostileTraceProblem`. */
export const fuzzTarget: FuzzTarget = {
  name: 'hostile-traces',
  make: (random) => {
    // Not while the first call is timed.
    realTraces();
    return Uint8Array.from({ length: 4 }, () => random.below(256));
  },
  run: (input) => {
    const seed = new DataView(input.buffer, input.byteOffset, input.length).getUint32(0);
    const problem = hostileTraceProblem(seed);
    if (problem !== null) throw new RangeError(problem);
  },
  allowed: () => false,
};
