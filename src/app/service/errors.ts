import { defineErrors } from '#kernel/tern-error.js';

/** Errors of a service. */
export const serviceErrors = defineErrors('service', {
  'index-unavailable': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the index is unavailable: ${d.problem}`,
    remedy: 'Retry later; see /readyz. API v2 does not need the index.',
  },
  'other-chain': {
    class: 'overloaded',
    message: () => 'the local network has begun another chain, which is being opened',
    remedy: 'Retry in a second.',
  },
  'chain-not-open': {
    class: 'overloaded',
    message: (d: { problem: string }) =>
      `the local network has begun another chain, which cannot be opened yet: ${d.problem}`,
    remedy: 'Retry later; it is tried again every few seconds.',
  },
  'open-files': {
    class: 'caller',
    message: (d: { found: number; least: number }) =>
      `this process may open ${d.found} files and connections; Tern needs ${d.least} to start, and one more for each client`,
    remedy: 'Raise the limit: ulimit -n 65536 in a shell, LimitNOFILE= in systemd, --ulimit nofile= in Docker.',
  },
  heap: {
    class: 'caller',
    message: (d: { found: number; least: number }) =>
      `the JavaScript heap of this process may grow to ${d.found} MB; Tern needs ${d.least} MB`,
    remedy:
      'Set --max-old-space-size to at least 256, in the command line of Node or in NODE_OPTIONS, or give the process more memory.',
  },
});
