import { defineErrors } from '#kernel/tern-error.js';

const RESTORE =
  'Nothing was changed. Restore a snapshot (`tern dev --snapshot NAME`), or start a new chain (`tern dev --reset`).';

/** Errors of the chain in a folder. `file` is a path; `offset` is in bytes. */
export const ledgerErrors = defineErrors('ledger', {
  'no-chain': {
    class: 'not-found',
    message: (d: { folder: string }) => `${d.folder} has no chain`,
    remedy: 'Start one (`tern dev`), or give the folder of an existing chain.',
  },
  'chain-exists': {
    class: 'caller',
    message: (d: { folder: string }) => `${d.folder} already has a chain`,
    remedy: 'Continue it, choose another folder, or start a new one (`tern dev --reset`).',
  },
  'in-use': {
    class: 'caller',
    message: (d: { folder: string; holder: string }) => `the chain in ${d.folder} is in use by ${d.holder}`,
    remedy: 'Stop that process, or choose another folder.',
  },
  unreadable: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be read: ${d.problem}`,
    remedy: 'Give the user of this process read and write access to the folder, or choose another one.',
  },
  unwritable: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be written: ${d.problem}`,
    remedy: 'Free disk space, and give the user of this process write access to the folder. The chain is unchanged.',
  },
  'missing-file': {
    class: 'caller',
    message: (d: { file: string; needed: string }) => `${d.file} is missing: ${d.needed}`,
    remedy: `Restore the file. ${RESTORE}`,
  },
  damaged: {
    class: 'caller',
    message: (d: { file: string; offset: number; problem: string }) =>
      `${d.file} is damaged at byte ${d.offset}: ${d.problem}`,
    remedy: RESTORE,
  },
  'other-version': {
    class: 'caller',
    message: (d: { file: string; found: string; known: number }) =>
      `${d.file} has format version ${d.found}, and this Tern supports version ${d.known}`,
    remedy: 'Open it with the Tern version that created it, or start a new chain (`tern dev --reset`).',
  },
  'wrong-round': {
    class: 'internal',
    message: (d: { block: string; problem: string }) => `block ${d.block} cannot be appended: ${d.problem}`,
    remedy: 'The chain is unchanged. Please report this, with the last messages sent to the network.',
  },
  'unknown-previous': {
    class: 'internal',
    message: (d: { block: string }) => `there is no state after a block with root hash ${d.block}`,
    remedy: 'The chain is unchanged. Please report this.',
  },
  closed: {
    class: 'shutting-down',
    message: (d: { folder: string }) => `the chain in ${d.folder} is closed`,
    remedy: 'Open it again.',
  },
  'bad-snapshot-name': {
    class: 'caller',
    message: (d: { name: string }) => `"${d.name}" is not a valid snapshot name`,
    remedy: 'Use 1 to 64 letters, digits, -, _ and .; the first one a letter or digit.',
  },
  'snapshot-exists': {
    class: 'caller',
    message: (d: { name: string }) => `the snapshot "${d.name}" already exists`,
    remedy: 'Use another name, or delete that one first.',
  },
  'no-snapshot': {
    class: 'not-found',
    message: (d: { name: string }) => `there is no snapshot "${d.name}"`,
    remedy: 'List the snapshots: `tern localnet snapshot list`.',
  },
  'export-folder': {
    class: 'caller',
    message: (d: { folder: string }) => `${d.folder} is not empty`,
    remedy: 'Give a folder that is empty or does not exist.',
  },
});
