import { defineErrors } from '#kernel/tern-error.js';

/** Errors of classification. */
export const actionsErrors = defineErrors('actions', {
  mismatch: {
    class: 'caller',
    message: (d: { problem: string }) => `the messages do not make up this action: ${d.problem}`,
    remedy: 'None: it is the reason why a pattern does not match, as `tern explain` shows it.',
  },
  'trace-empty': {
    class: 'internal',
    message: (_: Record<never, never>) => 'the trace has no transaction',
    remedy: 'Classify complete traces only; check the index with `tern check` and report this.',
  },
  'too-complex': {
    class: 'overloaded',
    message: (d: { steps: number; transactions: number }) =>
      `the trace of ${d.transactions} transactions was not understood within ${d.steps} steps`,
    remedy: 'Basic actions of the trace are kept. Report the trace if it is one of a real protocol.',
  },
  'not-connected': {
    class: 'internal',
    message: (d: { pattern: string }) => `${d.pattern} joins messages that do not follow from each other`,
    remedy: 'This is a defect in the pattern: report it with the trace.',
  },
  'repeated-id': {
    class: 'internal',
    message: (d: { type: string; id: string }) =>
      `two actions of the trace have the id ${d.id}; the second is ${d.type}`,
    remedy: 'This is a defect in a pattern: report it with the trace.',
  },
});
