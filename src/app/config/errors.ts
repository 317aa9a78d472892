import { defineErrors } from '#kernel/tern-error.js';

const SEE_HELP = 'See docs/config.md, which lists every setting with what it accepts.';

/** Errors of settings, wherever they come from. `setting` is as it was given: `--listen`, `TERN_LISTEN`. */
export const configErrors = defineErrors('config', {
  'bad-setting': {
    class: 'caller',
    message: (d: { setting: string; found: string; accepted: string }) =>
      `${d.setting} is ${d.found}; accepted is ${d.accepted}`,
    remedy: SEE_HELP,
  },
  'missing-setting': {
    class: 'caller',
    message: (d: { setting: string; variable: string; meaning: string }) =>
      `${d.setting} (or ${d.variable}) is missing: ${d.meaning}`,
    remedy: SEE_HELP,
  },
  'setting-conflict': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the settings that are named; docs/guides/self-hosting.md has examples.',
  },
  'network-list': {
    class: 'caller',
    message: (d: { source: string; problem: string }) => `the network config ${d.source} cannot be read: ${d.problem}`,
    remedy: 'Name a file or URL of a global.config.json, or one of the networks that come with Tern: mainnet, testnet.',
  },
  'account-list': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `the list of accounts ${d.file} cannot be used: ${d.problem}`,
    remedy: 'Give a text file with an address on each line; what follows a # is a remark.',
  },
  'data-folder': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `the data folder ${d.folder} cannot be used: ${d.problem}`,
    remedy: 'Name a folder that this user may create and write to, with --data or TERN_DATA.',
  },
});
