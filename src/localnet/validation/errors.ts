import { defineErrors } from '#kernel/tern-error.js';

/** Errors of checking the blocks of a local network. */
export const validationErrors = defineErrors('validation', {
  'broken-rule': {
    class: 'caller',
    message: (d: { block: string; rule: string; sentence: string; place: string; expected: string; found: string }) =>
      `block ${d.block} breaks the rule ${d.rule}${d.place === '' ? '' : ` (${d.place})`}: ${d.sentence}; expected ${d.expected}, found ${d.found}`,
    remedy:
      'A network accepts no such block: the chain was altered, or what made it is wrong. Go back to a sound copy.',
  },
  malformed: {
    class: 'caller',
    message: (d: { block: string; problem: string }) => `block ${d.block} cannot be read: ${d.problem}`,
    remedy:
      'A network accepts no such block: the chain was altered, or what made it is wrong. Go back to a sound copy.',
  },
  'unknown-state': {
    class: 'caller',
    message: (d: { block: string; needed: string }) =>
      `block ${d.block} depends on the state after ${d.needed}, which is not known here`,
    remedy: 'Start the check at an earlier block, best at the zerostate.',
  },
});
