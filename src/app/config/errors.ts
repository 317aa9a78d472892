import { defineErrors } from '#kernel/tern-error.js';

const SEE_HELP = 'See docs/config.md for all settings and accepted values.';

/** Errors of settings. `setting` is the flag or variable: `--listen`, `TERN_LISTEN`. */
export const configErrors = defineErrors('config', {
  'bad-setting': {
    class: 'caller',
    message: (d: { setting: string; found: string; accepted: string }) =>
      `${d.setting} is ${d.found}; accepted: ${d.accepted}`,
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
    remedy: 'Correct these settings; docs/guides/self-hosting.md has examples.',
  },
  'network-list': {
    class: 'caller',
    message: (d: { source: string; problem: string }) => `the network config ${d.source} cannot be read: ${d.problem}`,
    remedy: 'Specify a file or URL of a global.config.json, or a built-in network: mainnet, testnet.',
  },
  'account-list': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `the account list ${d.file} cannot be used: ${d.problem}`,
    remedy:
      'Use a text file with one address per line, or `jetton` and the address of a jetton master; # starts a comment.',
  },
  'data-folder': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `the data folder ${d.folder} cannot be used: ${d.problem}`,
    remedy: 'Specify a folder that this user may create and write to, with --data or TERN_DATA.',
  },
});
