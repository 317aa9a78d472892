import { defineErrors } from '#kernel/tern-error.js';

/** Errors of pending traces. */
export const pendingErrors = defineErrors('pending', {
  option: {
    class: 'caller',
    message: (d: { name: string; found: number; min: number; max: number }) =>
      `the option ${d.name} is ${d.found}; expected: ${d.min} to ${d.max}`,
    remedy: 'Use a value in the allowed range.',
  },
});
