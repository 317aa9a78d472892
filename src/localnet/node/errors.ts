import { defineErrors } from '#kernel/tern-error.js';

/** Errors of a local network. */
export const localnetErrors = defineErrors('localnet', {
  'no-block': {
    class: 'overloaded',
    message: (d: { wanted: string; blocks: number }) =>
      `${d.wanted} is not in a block yet, although ${d.blocks} masterchain blocks have been produced since`,
    remedy: 'Check the status of the network: it may be paused or overloaded.',
  },
  'not-made': {
    class: 'caller',
    message: (d: { wanted: string; problem: string }) => `${d.wanted} failed: ${d.problem}`,
    remedy: 'Change the request; the chain is unchanged.',
  },
  'round-failed': {
    class: 'internal',
    message: (d: { problem: string }) => `no block could be produced: ${d.problem}`,
    remedy: 'Report this with the log. Block production is retried, every other time without the pending messages.',
  },
  'no-such-shard': {
    class: 'caller',
    message: (d: { shard: string; shards: string }) => `there is no shard ${d.shard}; the shards are ${d.shards}`,
    remedy: 'Use one of the shards listed in the status of the network.',
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
      'Use a shard whose sibling (the other half of its parent) exists, and lower min_split of the workchain in configuration parameter 12 if needed.',
  },
  'no-account': {
    class: 'caller',
    message: (d: { account: string; needed: string }) => `${d.account} is not a contract that ${d.needed}`,
    remedy: 'Set code and data of such a contract on the account, or reset the network.',
  },
  'no-recent-state': {
    class: 'not-found',
    message: (d: { id: string; kept: number }) =>
      `there is no state ${d.id} to revert to; the ${d.kept} newest ones are kept, until the network is restarted or reset`,
    remedy: 'Take a snapshot again, or save one under a name, which stays.',
  },
  'no-seed': {
    class: 'caller',
    message: () =>
      'a fork is not seeded: it has the domains, libraries and multisigs of the network that it is a fork of',
    remedy: 'Use those, or start a network that is no fork.',
  },
  'not-quiet': {
    class: 'overloaded',
    message: (d: { wanted: string; blocks: number }) =>
      `${d.wanted} failed: messages are still on their way after ${d.blocks} masterchain blocks`,
    remedy: 'Retry when the contracts that send messages to each other have ended, or save a snapshot under a name.',
  },
  'thread-lost': {
    class: 'internal',
    message: (d: { problem: string }) => `the local network has stopped: ${d.problem}`,
    remedy: 'Start it again: the chain continues from its last complete block. Report it if it happens again.',
  },
  'other-command': {
    class: 'overloaded',
    message: (d: { command: string }) => `the network is being changed by another command (${d.command})`,
    remedy: 'Retry when that command is done.',
  },
  stopped: {
    class: 'overloaded',
    message: (d: { problem: string }) => `the network does not run: ${d.problem}`,
    remedy: 'It is started again every few seconds. Correct the cause, or replace the chain by a snapshot or a reset.',
  },
  'thread-stuck': {
    class: 'internal',
    message: (d: { seconds: number }) => `the thread of the network has not ended within ${d.seconds} s`,
    remedy: 'Restart the process; the chain continues from its last complete block.',
  },
  closing: {
    class: 'shutting-down',
    message: (_: Record<string, never>) => 'the local network is shutting down',
    remedy: 'Start it again with npm start.',
  },
});
