import { defineErrors } from '#kernel/tern-error.js';

const REPORT = 'This should not happen; please report it with the previous block and the messages sent.';

const REPORT_WITH_CONFIG = 'This should not happen; please report it with the configuration of the network.';

/** Errors of block production. */
export const producerErrors = defineErrors('producer', {
  'value-flow': {
    class: 'internal',
    message: (d: { block: string; in: string; out: string }) =>
      `the value flow of block ${d.block} is not balanced: ${d.in} in, ${d.out} out`,
    remedy: REPORT,
  },
  'transaction-mismatch': {
    class: 'internal',
    message: (d: { account: string; problem: string }) =>
      `a transaction of ${d.account} does not match its block: ${d.problem}`,
    remedy: REPORT,
  },
  'no-receiver': {
    class: 'caller',
    message: (d: { found: string }) => `the destination of the message is not an account (${d.found})`,
    remedy: 'Use an internal message (int_msg_info) to a standard address.',
  },
  'foreign-account': {
    class: 'caller',
    message: (d: { account: string; problem: string }) => `the state of ${d.account} cannot be imported: ${d.problem}`,
    remedy: 'Use the state (ShardAccount) of that account, from a chain with an earlier logical time.',
  },
  'zerostate-missing': {
    class: 'caller',
    message: (d: { workchain: number; root_hash: string }) =>
      `workchain ${d.workchain} is about to start, but its zerostate ${d.root_hash} was not given`,
    remedy: 'Give the zerostate of each workchain in configuration parameter 12.',
  },
  'state-missing': {
    class: 'caller',
    message: (d: { block: string }) => `the state after ${d.block}, from which the next block continues, was not given`,
    remedy: 'Give the state after the newest block of each shard that the masterchain lists.',
  },
  'shards-incomplete': {
    class: 'internal',
    message: (d: { workchain: number; shard: string }) =>
      `the shards of workchain ${d.workchain} are not the leaves of one tree: see ${d.shard}`,
    remedy: REPORT_WITH_CONFIG,
  },
  'shard-not-next': {
    class: 'internal',
    message: (d: { block: string; problem: string }) => `${d.block} cannot be registered: ${d.problem}`,
    remedy: REPORT_WITH_CONFIG,
  },
  'shard-unknown': {
    class: 'internal',
    message: (d: { shard: string }) => `the masterchain has no shard that ${d.shard} could follow`,
    remedy: REPORT_WITH_CONFIG,
  },
  'states-apart': {
    class: 'internal',
    message: (d: { problem: string }) => `states cannot be split or merged: ${d.problem}`,
    remedy: REPORT_WITH_CONFIG,
  },
});
