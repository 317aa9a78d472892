import { defineErrors } from '#kernel/tern-error.js';

const AGAIN = 'Copy or download the file again; nothing of it was written to the index.';

/** Errors of reading the files of persistent states. `offset` is the byte of the file. */
export const stateFilesErrors = defineErrors('state-files', {
  unreadable: {
    class: 'caller',
    message: (d: { file: string; offset: number; problem: string }) =>
      `${d.file} cannot be read at byte ${d.offset}: ${d.problem}`,
    remedy: 'Check that the path names state files, and that this user may read them.',
  },
  damaged: {
    class: 'caller',
    message: (d: { file: string; offset: number; problem: string }) =>
      `${d.file} is damaged at byte ${d.offset}: ${d.problem}`,
    remedy: AGAIN,
  },
  'not-a-state': {
    class: 'caller',
    message: (d: { file: string; offset: number; problem: string }) =>
      `${d.file} is not a state file (byte ${d.offset}): ${d.problem}`,
    remedy: 'Give the files of persistent states as nodes write them: a bag of cells with one root and an index.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { file: string; offset: number; what: string; size: number; limit: number }) =>
      `${d.file}: ${d.what} at byte ${d.offset} is ${d.size}, the limit is ${d.limit}`,
    remedy: 'A state of a network does not reach this limit; check where the file comes from.',
  },
  'no-masterchain': {
    class: 'caller',
    message: (d: { files: string }) => `no file has the state of the masterchain, which names the shards: ${d.files}`,
    remedy: 'Give the masterchain state of the same block too.',
  },
  'two-states': {
    class: 'caller',
    message: (d: { file: string; other: string; what: string }) => `${d.file} and ${d.other} both have ${d.what}`,
    remedy: 'Give the files of the states of one masterchain block only.',
  },
  'missing-state': {
    class: 'caller',
    message: (d: { shard: string; block: string; needed: string }) =>
      `the state of shard ${d.shard} after ${d.block} is incomplete: ${d.needed} is missing`,
    remedy: 'Give all files of the state: of each shard a whole state, or a header and all its parts.',
  },
  'other-state': {
    class: 'caller',
    message: (d: { file: string; offset: number; found: string; block: string }) =>
      `${d.file} (root cell at byte ${d.offset}) has ${d.found}, which is no part of the state after ${d.block}`,
    remedy: 'Check that all files are of the same masterchain block and network.',
  },
  changed: {
    class: 'caller',
    message: (d: { file: string; offset: number }) =>
      `${d.file} was changed after it was verified, at byte ${d.offset}`,
    remedy: 'Leave the files alone while they are read, and start again.',
  },
  scratch: {
    class: 'caller',
    message: (d: { folder: string; problem: string }) =>
      `scratch files for verifying states cannot be used in ${d.folder}: ${d.problem}`,
    remedy: 'Give the data folder (--data) room for 34 bytes per cell of the largest file.',
  },
  'thread-lost': {
    class: 'internal',
    message: (d: { problem: string }) => `a thread that verifies state files ended unexpectedly: ${d.problem}`,
    remedy: 'Start the command again; it continues.',
  },
  unexpected: {
    class: 'internal',
    message: (d: { problem: string }) => `reading a state file failed unexpectedly: ${d.problem}`,
    remedy: 'This is a bug in Tern: please report it with this message.',
  },
});
