import { defineErrors } from '#kernel/tern-error.js';

const GO_BACK =
  'Nothing was changed. Go back to a snapshot (`tern dev --snapshot NAME`), or begin a new chain (`tern dev --reset`).';

/** Errors of the chain in a folder. `file` is a path; `offset` is in bytes. */
export const ledgerErrors = defineErrors('ledger', {
  'no-chain': {
    class: 'not-found',
    message: (d: { folder: string }) => `${d.folder} has no chain`,
    remedy: 'Begin one (`tern dev`), or name the folder in which it is.',
  },
  'chain-exists': {
    class: 'caller',
    message: (d: { folder: string }) => `${d.folder} has a chain already`,
    remedy: 'Continue it, choose another folder, or begin a new one (`tern dev --reset`).',
  },
  'in-use': {
    class: 'caller',
    message: (d: { folder: string; holder: string }) => `the chain in ${d.folder} is in use by ${d.holder}`,
    remedy: 'Stop that one, or choose another folder.',
  },
  unreadable: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be read: ${d.problem}`,
    remedy: 'Let the user of this program read and write the folder, or choose another one.',
  },
  unwritable: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be written: ${d.problem}`,
    remedy:
      'Make room on the disk, and let the user of this program write to the folder. The chain is as it was before.',
  },
  'missing-file': {
    class: 'caller',
    message: (d: { file: string; needed: string }) => `${d.file} is missing: ${d.needed}`,
    remedy: `Put it back. ${GO_BACK}`,
  },
  damaged: {
    class: 'caller',
    message: (d: { file: string; offset: number; problem: string }) =>
      `${d.file} is damaged at byte ${d.offset}: ${d.problem}`,
    remedy: GO_BACK,
  },
  'other-version': {
    class: 'caller',
    message: (d: { file: string; found: string; known: number }) =>
      `${d.file} is of format version ${d.found}, and this Tern knows version ${d.known}`,
    remedy: 'Open it with the Tern that made it, or begin a new chain (`tern dev --reset`).',
  },
  'wrong-round': {
    class: 'internal',
    message: (d: { block: string; problem: string }) => `block ${d.block} cannot follow: ${d.problem}`,
    remedy: 'The chain is as it was before. Please report it, with what was sent to the network last.',
  },
  'unknown-previous': {
    class: 'internal',
    message: (d: { block: string }) => `there is no state after a block with root hash ${d.block}`,
    remedy: 'The chain is as it was before. Please report it.',
  },
  closed: {
    class: 'shutting-down',
    message: (d: { folder: string }) => `the chain in ${d.folder} is closed`,
    remedy: 'Open it again.',
  },
  'bad-snapshot-name': {
    class: 'caller',
    message: (d: { name: string }) => `"${d.name}" is no name of a snapshot`,
    remedy: 'Take 1 to 64 letters, digits, -, _ and .; the first one a letter or digit.',
  },
  'snapshot-exists': {
    class: 'caller',
    message: (d: { name: string }) => `there is a snapshot "${d.name}" already`,
    remedy: 'Take another name, or delete that one first.',
  },
  'no-snapshot': {
    class: 'not-found',
    message: (d: { name: string }) => `there is no snapshot "${d.name}"`,
    remedy: 'See which there are: `tern localnet snapshot list`.',
  },
  'export-folder': {
    class: 'caller',
    message: (d: { folder: string }) => `${d.folder} is not empty`,
    remedy: 'Name a folder that is empty or not there yet.',
  },
});
