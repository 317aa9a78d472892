import { defineErrors } from '#kernel/tern-error.js';

/** Errors of a running service. */
export const serviceErrors = defineErrors('service', {
  'index-unavailable': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the index is unavailable: ${d.problem}`,
    remedy: 'Retry later; see /readyz. API v2 does not need the index.',
  },
});
