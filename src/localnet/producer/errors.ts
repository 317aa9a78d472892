import { defineErrors } from '#kernel/errors/define-errors.js';

const REPORT = 'This should not happen; please report it with the block before and what was sent.';

/** Errors of making blocks. */
export const producerErrors = defineErrors('producer', {
  'value-flow': {
    class: 'internal',
    message: (d: { block: string; in: string; out: string }) =>
      `the value that comes into block ${d.block} (${d.in}) is not what goes out of it (${d.out})`,
    remedy: REPORT,
  },
  'transaction-mismatch': {
    class: 'internal',
    message: (d: { account: string; problem: string }) =>
      `a transaction of ${d.account} does not fit its block: ${d.problem}`,
    remedy: REPORT,
  },
  'no-receiver': {
    class: 'caller',
    message: (d: { found: string }) => `the message is for no account that a block can reach (${d.found})`,
    remedy: 'Give a message between accounts (int_msg_info) whose receiver is a standard address.',
  },
  'foreign-account': {
    class: 'caller',
    message: (d: { account: string; problem: string }) =>
      `the state of ${d.account} cannot be taken over: ${d.problem}`,
    remedy:
      'Give the state (ShardAccount) of that account, from a chain whose logical time is behind that of this one.',
  },
  'zerostate-missing': {
    class: 'caller',
    message: (d: { workchain: number; root_hash: string }) =>
      `workchain ${d.workchain} is to begin, but its zerostate ${d.root_hash} was not given`,
    remedy: 'Give the zerostate of each workchain in configuration parameter 12.',
  },
  'state-missing': {
    class: 'caller',
    message: (d: { block: string }) => `the state after ${d.block}, which the next block follows, was not given`,
    remedy: 'Give the state after the newest block of each shard that the masterchain lists.',
  },
});
