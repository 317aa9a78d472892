import { defineErrors } from '#kernel/tern-error.js';

/** Errors of look-ups. Requests do not fail because of them: what is not known is counted in the answer. */
export const lookUpErrors = defineErrors('lookups', {
  late: {
    class: 'overloaded',
    message: () => 'the account was not read within the time of the request',
    remedy: 'Request it again, or fewer accounts at once.',
  },
  busy: {
    class: 'overloaded',
    message: (d: { waiting: number }) => `${d.waiting} accounts wait to be read from the chain`,
    remedy: 'Request it again later; the operator can raise --look-up-concurrency.',
  },
  'no-index': {
    class: 'overloaded',
    message: () => 'the database of the index is not open',
    remedy: 'Retry when the health page shows the index as readable.',
  },
});
