import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the database: the embedded server, connections, migrations and copying. */
export const storeErrors = defineErrors('store', {
  // The embedded server
  'embedded-program': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `the PostgreSQL in ${d.folder} does not run: ${d.problem}`,
    remedy:
      'Install Tern with its optional packages, on a system with glibc or on macOS; or give the URL of another PostgreSQL, 15 or later.',
  },
  'embedded-user': {
    class: 'caller',
    message: (d: { candidates: string }) =>
      `PostgreSQL refuses to run as root, and this system has none of the users ${d.candidates}`,
    remedy: 'Run Tern as an ordinary user, or give the URL of another PostgreSQL.',
  },
  'embedded-folder': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `${d.folder} cannot hold a database: ${d.problem}`,
    remedy: 'Let the user of the database enter the folder (chmod o+x), or choose another data folder.',
  },
  'embedded-version': {
    class: 'caller',
    message: (d: { folder: string; found: number; program: string }) =>
      `${d.folder} was made by PostgreSQL ${d.found}, and this Tern brings PostgreSQL ${d.program}; it was left untouched`,
    remedy:
      'Run pg_upgrade of the newer PostgreSQL on this folder, or serve it with its own version and give the URL; or choose another data folder and index anew.',
  },
  'embedded-in-use': {
    class: 'caller',
    message: (d: { folder: string; holder: string }) =>
      `the database in ${d.folder} is served by another Tern already (${d.holder})`,
    remedy: 'Stop that one, choose another data folder, or give both the URL of one PostgreSQL.',
  },
  'embedded-start': {
    class: 'internal',
    message: (d: { folder: string; log: string }) => `PostgreSQL did not start in ${d.folder}: ${d.log}`,
    remedy: 'Look at server.log in the folder above: often it is a full disk, or too little memory.',
  },
  'embedded-ended': {
    class: 'upstream',
    message: (d: { folder: string; end: string; log: string }) =>
      `PostgreSQL in ${d.folder} ended (${d.end}): ${d.log}`,
    remedy: 'It is started again by itself. If it keeps ending, look at server.log, and at the memory of the machine.',
  },
  // Connections and queries
  'bad-url': {
    class: 'caller',
    message: (d: { problem: string }) => `the URL of the database is of no use: ${d.problem}`,
    remedy: 'Give postgresql://USER:PASSWORD@HOST:PORT/DATABASE.',
  },
  'server-too-old': {
    class: 'caller',
    message: (d: { version: string; least: number }) =>
      `the database is PostgreSQL ${d.version}; Tern needs ${d.least} or later`,
    remedy: 'Upgrade the server, or give the URL of another one.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { problem: string }) => `the database does not answer: ${d.problem}`,
    remedy: 'Look whether the database runs and can be reached; a query that only reads may be sent again.',
  },
  'commit-unknown': {
    class: 'upstream',
    message: (d: { problem: string }) =>
      `the connection was lost while a transaction was committed, so it is not known whether it was: ${d.problem}`,
    remedy: 'Look whether it is there before doing it again.',
  },
  'connection-refused': {
    class: 'caller',
    message: (d: { problem: string }) => `the database lets nobody in by this URL: ${d.problem}`,
    remedy: 'Correct user, password and name of the database, and look at pg_hba.conf.',
  },
  'too-many-connections': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the database takes no more connections: ${d.problem}`,
    remedy: 'Try again; raise max_connections, or give Tern fewer connections.',
  },
  'pool-exhausted': {
    class: 'overloaded',
    message: (d: { waitedMs: number; connections: number }) =>
      `no database connection became free within ${d.waitedMs} ms; ${d.connections} are in use`,
    remedy: 'Try again; if it lasts, give Tern more connections or send it fewer requests.',
  },
  timeout: {
    class: 'overloaded',
    message: (d: { afterMs: number }) => `a database query was stopped after ${d.afterMs} ms`,
    remedy: 'Ask for less at once: a smaller limit, a narrower range of time.',
  },
  cancelled: {
    class: 'shutting-down',
    message: (d: { reason: string }) => `a database query was cancelled: ${d.reason}`,
    remedy: 'Nothing to do: whoever asked has gone, or an administrator stopped the query.',
  },
  conflict: {
    class: 'overloaded',
    message: (d: { problem: string }) => `other work in the database stood in the way: ${d.problem}`,
    remedy: 'Try again.',
  },
  'disk-full': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the disk of the database is full: ${d.problem}`,
    remedy: 'Make room on the disk of the database. Nothing was lost; work goes on by itself afterwards.',
  },
  'out-of-memory': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the database ran out of memory: ${d.problem}`,
    remedy: 'Give the database more memory, or ask for less at once.',
  },
  'read-only': {
    class: 'caller',
    message: (d: { problem: string }) => `the database only reads: ${d.problem}`,
    remedy: 'Give the URL of the server that writes; that of a replica belongs to the setting for reading.',
  },
  damaged: {
    class: 'internal',
    message: (d: { problem: string }) => `the database found damaged data: ${d.problem}`,
    remedy: 'Check the disk. Restore the database from a copy, or index anew into an empty one.',
  },
  'no-rights': {
    class: 'caller',
    message: (d: { problem: string }) => `the user of the database lacks a right: ${d.problem}`,
    remedy: 'Let this user own the database, or the schema.',
  },
  query: {
    class: 'internal',
    message: (d: { state: string; problem: string }) => `the database refused a query (${d.state}): ${d.problem}`,
    remedy: 'This is a fault of Tern: please report it with the sentence and the version of the database.',
  },
  // The schema
  'no-schema': {
    class: 'caller',
    message: (d: { database: string }) => `the database ${d.database} has no schema of Tern yet`,
    remedy: 'Run tern migrate, which makes it.',
  },
  'schema-old': {
    class: 'caller',
    message: (d: { database: string; version: number; known: number }) =>
      `the database ${d.database} has schema version ${d.version}, and this Tern needs ${d.known}`,
    remedy: 'Run tern migrate.',
  },
  'schema-newer': {
    class: 'caller',
    message: (d: { database: string; version: number; known: number }) =>
      `the database ${d.database} has schema version ${d.version}, made by a newer Tern; this one knows ${d.known}; it was left untouched`,
    remedy: 'Run the newer Tern, or give another database.',
  },
  'schema-edited': {
    class: 'caller',
    message: (d: { database: string; migration: string }) =>
      `the database ${d.database} was made with another ${d.migration} than this Tern has; it was left untouched`,
    remedy: 'Run the Tern that made it, or index anew into an empty database.',
  },
  'schema-foreign': {
    class: 'caller',
    message: (d: { database: string; tables: string }) =>
      `the database ${d.database} is not Tern's: it has ${d.tables}; it was left untouched`,
    remedy: 'Give a database that is empty, or was made by tern migrate.',
  },
  'migration-file': {
    class: 'internal',
    message: (d: { file: string; problem: string }) => `the migration ${d.file} is of no use: ${d.problem}`,
    remedy: 'Install Tern anew: its files were changed or are missing.',
  },
  // The index
  'other-network': {
    class: 'caller',
    message: (d: { field: string; expected: string; found: string }) =>
      `the database indexes another network: its ${d.field} is ${d.found}, that of this network ${d.expected}; it was left untouched`,
    remedy: 'Give each network a database of its own.',
  },
  'other-selection': {
    class: 'caller',
    message: (d: { wanted: string; found: string }) =>
      `the database was begun to index ${d.found}, and the settings now ask for ${d.wanted}; it was left untouched`,
    remedy: 'Give the settings with which the index was begun, or an empty database.',
  },
  'no-index': {
    class: 'not-found',
    message: () => 'the database has no index yet',
    remedy: 'Run tern serve or tern index, which begin one.',
  },
  overlap: {
    class: 'internal',
    message: (d: { from: number; to: number }) =>
      `some of the masterchain blocks ${d.from} to ${d.to} are indexed already, or pruned`,
    remedy: 'Nothing to do: what is indexed stays, and the rest is written again by itself.',
  },
  'stored-value': {
    class: 'internal',
    message: (d: { column: string; problem: string }) =>
      `a value of the column ${d.column} cannot be read: ${d.problem}`,
    remedy:
      'Run tern check, which compares the index with the chain; restore the database, or index these rounds anew.',
  },
  cursor: {
    class: 'caller',
    message: (d: { problem: string }) => `the cursor ${d.problem}`,
    remedy: 'Send a cursor as a page gave it, with the same filters and the same sort; or none, for the first page.',
  },
});
