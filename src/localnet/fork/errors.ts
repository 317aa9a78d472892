import { defineErrors } from '#kernel/tern-error.js';

/** Errors between a local network and the network that it is a fork of. */
export const forkErrors = defineErrors('fork', {
  'bad-block': {
    class: 'caller',
    message: (d: { source: string; problem: string }) => `${d.source} cannot be forked: ${d.problem}`,
    remedy: 'Name a masterchain block from 1 to the newest one, as in mainnet@40000000, or none for the newest one.',
  },
  'no-start': {
    class: 'upstream',
    message: (d: { source: string; problem: string }) => `${d.source} cannot be forked now: ${d.problem}`,
    remedy: 'A fork begins with a block of the other network: see that it can be reached, then start again.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { what: string; source: string; problem: string }) =>
      `${d.what} cannot be brought here from ${d.source}: ${d.problem}`,
    remedy:
      'See that the forked network can be reached and still has the state of the block; what was touched before is here. For a newer block, begin anew with --reset.',
  },
  'other-origin': {
    class: 'caller',
    message: (d: { folder: string; has: string; wanted: string }) =>
      `the local network in ${d.folder} ${d.has}; it cannot go on as ${d.wanted}`,
    remedy:
      'Start it without --fork, or with what it is a fork of; or begin anew with --reset, or in another data folder.',
  },
  'bad-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) =>
      `${d.file}, which tells which accounts have ended on the local network, cannot be used: ${d.problem}`,
    remedy:
      'Restore the file, or delete it: then accounts that have ended may come back as they are on the forked network.',
  },
  'bad-config': {
    class: 'upstream',
    message: (d: { problem: string }) => `the configuration of the forked network is of no use here: ${d.problem}`,
    remedy: 'Fork another block of the network.',
  },
});
