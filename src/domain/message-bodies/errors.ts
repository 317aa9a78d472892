import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the schema of message bodies. A body that fits no layout is no error. */
export const messageBodyErrors = defineErrors('bodies', {
  schema: {
    class: 'internal',
    message: (d: { line: string; word: number }) =>
      `the schema of message bodies cannot be parsed at token ${d.word} of ${d.line}`,
    remedy: 'Reinstall Tern: a file in its folder data/message-bodies was changed.',
  },
  'schema-type': {
    class: 'internal',
    message: (d: { type: string }) => `the schema of message bodies has no type ${d.type}`,
    remedy: 'Reinstall Tern: a file in its folder data/message-bodies was changed.',
  },
});
