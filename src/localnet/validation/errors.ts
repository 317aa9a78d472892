import { defineErrors } from '#kernel/tern-error.js';

/** Errors of checking the blocks of a local network. */
export const validationErrors = defineErrors('validation', {
  'broken-rule': {
    class: 'caller',
    message: (d: { block: string; rule: string; sentence: string; place: string; expected: string; found: string }) =>
      `block ${d.block} breaks the rule ${d.rule}${d.place === '' ? '' : ` (${d.place})`}: ${d.sentence}; expected ${d.expected}, found ${d.found}`,
    remedy: 'No network accepts such a block: the chain was altered, or its producer is faulty. Use an unaltered copy.',
  },
  malformed: {
    class: 'caller',
    message: (d: { block: string; problem: string }) => `block ${d.block} cannot be decoded: ${d.problem}`,
    remedy: 'No network accepts such a block: the chain was altered, or its producer is faulty. Use an unaltered copy.',
  },
  'unknown-state': {
    class: 'caller',
    message: (d: { block: string; needed: string }) =>
      `block ${d.block} depends on the state after ${d.needed}, which is not known`,
    remedy: 'Start the check at an earlier block, best at the zerostate.',
  },
});
