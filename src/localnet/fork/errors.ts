import { defineErrors } from '#kernel/tern-error.js';

/** Errors between a local network and the network that it is a fork of. */
export const forkErrors = defineErrors('fork', {
  'bad-block': {
    class: 'caller',
    message: (d: { source: string; problem: string }) => `${d.source} cannot be forked: ${d.problem}`,
    remedy: 'Give a masterchain block from 1 to the newest one, as in mainnet@40000000, or none for the newest one.',
  },
  'no-start': {
    class: 'upstream',
    message: (d: { source: string; problem: string }) => `${d.source} cannot be forked now: ${d.problem}`,
    remedy:
      'A fork starts from a block of the other network: check that the network is reachable (tern lite status --network NETWORK), then start again.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { what: string; source: string; problem: string }) =>
      `${d.what} cannot be imported from ${d.source}: ${d.problem}`,
    remedy:
      'Check that the forked network is reachable and still has the state of the block; accounts imported before are available. For a newer block, reset the chain with --reset.',
  },
  'other-origin': {
    class: 'caller',
    message: (d: { folder: string; has: string; wanted: string }) =>
      `the local network in ${d.folder} ${d.has}; it cannot continue as ${d.wanted}`,
    remedy:
      'Start it without --fork, or with the network that it is a fork of; or reset the chain with --reset, or use another data folder.',
  },
  'bad-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) =>
      `${d.file}, the list of accounts deleted on the local network, cannot be used: ${d.problem}`,
    remedy: 'Restore the file, or delete it: then deleted accounts may be imported again from the forked network.',
  },
  'bad-config': {
    class: 'upstream',
    message: (d: { problem: string }) => `the configuration of the forked network cannot be used: ${d.problem}`,
    remedy: 'Fork another block of the network.',
  },
});
