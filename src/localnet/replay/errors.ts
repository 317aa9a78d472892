import { defineErrors } from '#kernel/tern-error.js';

const COPY_AGAIN = 'Copy the file again from where it was recorded.';

/**
 * Errors of reading a recorded chain. `file` is the name of a file in the folder, with the position in it where that
 * helps.
 */
export const replayErrors = defineErrors('replay', {
  'unreadable-folder': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `${d.folder} cannot be read: ${d.problem}`,
    remedy: 'Give a folder with archive packs (or other block files) and zerostates.',
  },
  'unreadable-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be read: ${d.problem}`,
    remedy: COPY_AGAIN,
  },
  'not-a-pack': {
    class: 'caller',
    message: (d: { file: string; found: string }) =>
      `${d.file} is not an archive pack: it starts with ${d.found}, not 01dd8fae`,
    remedy: 'Only archive packs of a node may have names that end in .pack or .pack.gz.',
  },
  'torn-pack': {
    class: 'caller',
    message: (d: { file: string; offset: number; needed: number; left: number }) =>
      `${d.file} is truncated: the entry at byte ${d.offset} needs ${d.needed} bytes, ${d.left} are left`,
    remedy: COPY_AGAIN,
  },
  'damaged-pack': {
    class: 'caller',
    message: (d: { file: string; offset: number; found: string }) =>
      `${d.file} is damaged: the entry at byte ${d.offset} starts with ${d.found}, not 8b1e`,
    remedy: COPY_AGAIN,
  },
  'bad-line': {
    class: 'caller',
    message: (d: { file: string; line: number; problem: string }) => `line ${d.line} of ${d.file} ${d.problem}`,
    remedy:
      'Each line must have the form {"name": "block_(…)…", "data": "base64 of a bag of cells"}; the name is optional.',
  },
  'bad-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} is invalid: ${d.problem}`,
    remedy: COPY_AGAIN,
  },
  'other-name': {
    class: 'caller',
    message: (d: { file: string; field: string; named: string; found: string }) =>
      `${d.file} has ${d.field} ${d.found}, but its name says ${d.named}`,
    remedy: COPY_AGAIN,
  },
  'no-zerostate': {
    class: 'caller',
    message: (d: { folder: string; workchain: number; root_hash: string }) =>
      `${d.folder} has no zerostate of workchain ${d.workchain}${d.root_hash === '' ? '' : ` with root hash ${d.root_hash}`}`,
    remedy: 'Put the file of the zerostate (a bag of cells) into the folder.',
  },
  'other-zerostate': {
    class: 'caller',
    message: (d: { file: string; field: string; expected: string; found: string; where: string }) =>
      `the zerostate ${d.file} has ${d.field} ${d.found}, but ${d.where} names ${d.expected}`,
    remedy: 'Put the original zerostate file of this network into the folder.',
  },
  'no-blocks': {
    class: 'caller',
    message: (d: { folder: string }) => `${d.folder} has no block of the masterchain`,
    remedy: 'Put archive packs of the masterchain into the folder, from block 1 on.',
  },
  'missing-block': {
    class: 'caller',
    message: (d: { folder: string; block: string; after: string }) =>
      `${d.folder} does not have block ${d.block}, which ${d.after} refers to`,
    remedy: 'Add the pack with this block, or end the replay before it is needed (--to SEQNO).',
  },
  'wrong-state': {
    class: 'caller',
    message: (d: { file: string; block: string; problem: string }) =>
      `the state update of block ${d.block} (${d.file}) does not fit the state before it: ${d.problem}`,
    remedy: COPY_AGAIN,
  },
  'wrong-signatures': {
    class: 'caller',
    message: (d: { file: string; block: string; problem: string }) =>
      `the proof of block ${d.block} (${d.file}) is invalid: ${d.problem}`,
    remedy: COPY_AGAIN,
  },
  'no-such-head': {
    class: 'caller',
    message: (d: { option: string; wanted: number; last: number }) =>
      `${d.option} is ${d.wanted}, but the recorded chain ends at masterchain block ${d.last}`,
    remedy: 'Give a masterchain block of the recorded chain, from 1 on.',
  },
  'export-folder': {
    class: 'caller',
    message: (d: { folder: string }) => `the folder ${d.folder} is not empty: state files are written into a new one`,
    remedy: 'Give a folder that does not exist yet, or an empty one.',
  },
  unwritable: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} cannot be written: ${d.problem}`,
    remedy: 'Check free space and permissions of the folder.',
  },
  'bad-option': {
    class: 'caller',
    message: (d: { option: string; found: string; accepted: string }) =>
      `${d.option} is ${d.found}; accepted is ${d.accepted}`,
    remedy: 'Change or omit the option.',
  },
});
