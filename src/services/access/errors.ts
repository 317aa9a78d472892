import { defineErrors } from '#kernel/tern-error.js';

/** Errors of keys, plans and limits. A refused request is not an error but a decision, see access.ts. */
export const accessErrors = defineErrors('access', {
  file: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file}: ${d.problem}`,
    remedy: 'Check the file and its folder: permissions, disk space, content.',
  },
  field: {
    class: 'caller',
    message: (d: { file: string; field: string; found: string; allowed: string }) =>
      `${d.file}: ${d.field} is ${d.found}; allowed is ${d.allowed}`,
    remedy: 'Correct this field; docs/guides/keys-and-limits.md shows the form of the file.',
  },
  locked: {
    class: 'overloaded',
    message: (d: { file: string; holder: string; waitedMs: number }) =>
      `${d.file} is held by ${d.holder}; waited ${d.waitedMs} ms`,
    remedy: 'Try again. If no Tern process uses this folder, delete the file.',
  },
  'lock-lost': {
    class: 'overloaded',
    message: (d: { file: string }) => `${d.file} was taken over by another process; nothing was written`,
    remedy: 'Try again: this process was suspended for so long that another one took over the lock.',
  },
  'no-such-key': {
    class: 'not-found',
    message: (d: { id: string; file: string }) => `there is no key ${d.id} in ${d.file}`,
    remedy: 'Run tern keys list for the ids.',
  },
  'key-exists': {
    class: 'internal',
    message: (d: { id: string; file: string }) => `there is a key ${d.id} in ${d.file} already`,
    remedy: 'Try again: a new id is drawn.',
  },
  'key-revoked': {
    class: 'caller',
    message: (d: { id: string; revoked_at: string }) => `the key ${d.id} was revoked at ${d.revoked_at}`,
    remedy: 'Make a new one with tern keys create.',
  },
  'no-such-plan': {
    class: 'caller',
    message: (d: { plan: string; known: string }) => `there is no plan "${d.plan}"; known are ${d.known}`,
    remedy: 'Name one of these, or add it to the file of plans.',
  },
  'not-in-plan': {
    class: 'caller',
    message: (d: { network: string; plan: string; known: string }) =>
      `the plan ${d.plan} is not for the network ${d.network}, but for ${d.known}`,
    remedy: 'Name a network of the plan, or choose another plan.',
  },
  'in-database': {
    class: 'caller',
    message: (d: { folder: string; database: string }) => `the keys of ${d.folder} are in the database ${d.database}`,
    remedy:
      'Give --database-url (TERN_DATABASE_URL); or, if this database is gone, delete keys-database.json in the folder and begin with new keys.',
  },
  'not-in-files': {
    class: 'caller',
    message: () => 'plans can be changed over the API only when the keys are in a database',
    remedy: 'Serve with --database-url, or change plans.json and restart.',
  },
  'redis-slow': {
    class: 'upstream',
    message: (d: { afterMs: number }) => `Redis did not answer within ${d.afterMs} ms`,
    remedy: 'Check the load of Redis and the network; until it answers, each process counts on its own.',
  },
  'redis-url': {
    class: 'caller',
    message: (d: { problem: string }) => `the URL of Redis ${d.problem}`,
    remedy: 'Give redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS.',
  },
});
