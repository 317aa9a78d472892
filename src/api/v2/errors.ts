import { defineErrors } from '#kernel/errors/define-errors.js';

/** Errors of the methods of v2 themselves; those of reads and of contracts pass through as they are. */
export const v2Errors = defineErrors('v2', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists the forms that it may have.',
  },
  'parameter-combination': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Give the parameters together, or one of them, as the sentence says.',
  },
});
