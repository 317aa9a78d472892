import { defineErrors } from '#kernel/tern-error.js';

/** Errors of files and folders. */
export const filesErrors = defineErrors('files', {
  'no-folder': {
    class: 'caller',
    message: (d: { folder: string; level: string; problem: string }) =>
      d.level === d.folder
        ? `the folder ${d.folder} cannot be created: ${d.problem}`
        : `the folder ${d.folder} cannot be created, because ${d.level} cannot be: ${d.problem}`,
    remedy: 'Give another folder, or let the user of this process create that one.',
  },
  'not-a-file': {
    class: 'caller',
    message: (d: { file: string; found: string }) => `${d.file} is not a file but ${d.found}`,
    remedy: 'Give the path of a regular file.',
  },
});
