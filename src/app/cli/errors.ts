import { defineErrors } from '#kernel/errors/define-errors.js';

export const cliErrors = defineErrors('cli', {
  usage: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Run tern --help for the commands, tern COMMAND --help for the options of one.',
  },
});
