import { defineErrors } from '#kernel/tern-error.js';

/** Errors of a local network. */
export const localnetErrors = defineErrors('localnet', {
  'no-block': {
    class: 'overloaded',
    message: (d: { wanted: string; blocks: number }) =>
      `${d.wanted} is not in a block yet, although ${d.blocks} blocks have been made since`,
    remedy: 'Ask for the status of the network: it may be paused, or have more to do than fits into its blocks.',
  },
  'not-made': {
    class: 'caller',
    message: (d: { wanted: string; problem: string }) => `${d.wanted} cannot be done: ${d.problem}`,
    remedy: 'Change what was asked for; the chain is as it was.',
  },
  'round-failed': {
    class: 'internal',
    message: (d: { problem: string }) => `no block could be made: ${d.problem}`,
    remedy: 'Report this with the log. It is tried again, every other time without the messages that wait.',
  },
  'no-such-shard': {
    class: 'caller',
    message: (d: { shard: string; shards: string }) => `there is no shard ${d.shard}; the shards are ${d.shards}`,
    remedy: 'Name one of the shards that the status of the network lists.',
  },
  'cannot-split': {
    class: 'caller',
    message: (d: { shard: string; problem: string }) => `the shard ${d.shard} cannot be split: ${d.problem}`,
    remedy: 'Raise max_split of the workchain in configuration parameter 12, or split another shard.',
  },
  'cannot-merge': {
    class: 'caller',
    message: (d: { shard: string; problem: string }) => `the shard ${d.shard} cannot be merged: ${d.problem}`,
    remedy:
      'Name a shard whose sibling (the other half of what was split) is there, too, and lower min_split of the workchain in configuration parameter 12 if need be.',
  },
  'no-account': {
    class: 'caller',
    message: (d: { account: string; needed: string }) => `${d.account} is no contract that ${d.needed}`,
    remedy: 'Give the account the code and data of such a contract, or reset the network.',
  },
  'thread-lost': {
    class: 'internal',
    message: (d: { problem: string }) => `the local network has ended: ${d.problem}`,
    remedy: 'Start it again: the chain goes on from its last whole block. Report it if it happens again.',
  },
  'other-command': {
    class: 'overloaded',
    message: (d: { command: string }) => `the network is being changed by another command (${d.command})`,
    remedy: 'Wait until it has ended.',
  },
  closing: {
    class: 'shutting-down',
    message: (_: Record<string, never>) => 'the local network is being ended',
    remedy: 'Start it again with npm start.',
  },
});
