import { defineErrors } from '#kernel/tern-error.js';

/** Errors of decoding the bodies of messages. A body that fits no layout is no error. */
export const messageBodyErrors = defineErrors('bodies', {
  schema: {
    class: 'internal',
    message: (d: { line: string; word: number }) =>
      `the schema of message bodies cannot be read at word ${d.word} of ${d.line}`,
    remedy: 'Install Tern again: a file in its folder data/message-bodies has been changed.',
  },
  'schema-type': {
    class: 'internal',
    message: (d: { type: string }) => `the schema of message bodies has no type ${d.type}`,
    remedy: 'Install Tern again: a file in its folder data/message-bodies has been changed.',
  },
});
