import { defineErrors } from '#kernel/tern-error.js';

/** Errors of a running service. */
export const serviceErrors = defineErrors('service', {
  'index-unavailable': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the index cannot be read now: ${d.problem}`,
    remedy: 'Ask again later; /readyz tells how it stands. What API v2 has needs no index.',
  },
});
