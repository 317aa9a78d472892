import { defineErrors } from '#kernel/errors/define-errors.js';

const REPORT = 'This should not happen; please report it with the configuration of the network.';

/** Errors of what only masterchain blocks do: the configuration of shards, and the state beside the accounts. */
export const masterchainErrors = defineErrors('producer', {
  'shards-incomplete': {
    class: 'internal',
    message: (d: { workchain: number; shard: string }) =>
      `the shards of workchain ${d.workchain} are not the leaves of one tree: see ${d.shard}`,
    remedy: REPORT,
  },
  'shard-not-next': {
    class: 'internal',
    message: (d: { block: string; problem: string }) => `${d.block} cannot be registered: ${d.problem}`,
    remedy: REPORT,
  },
  'shard-unknown': {
    class: 'internal',
    message: (d: { shard: string }) => `the masterchain has no shard that ${d.shard} could follow`,
    remedy: REPORT,
  },
  'states-apart': {
    class: 'internal',
    message: (d: { problem: string }) => `states cannot be split or merged: ${d.problem}`,
    remedy: REPORT,
  },
});
