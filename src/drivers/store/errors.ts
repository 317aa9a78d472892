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
    remedy: 'Give the user of the database access to the folder (chmod o+x), or choose another data folder.',
  },
  'embedded-version': {
    class: 'caller',
    message: (d: { folder: string; found: number; program: string }) =>
      `${d.folder} was created by PostgreSQL ${d.found}, and this version of Tern includes PostgreSQL ${d.program}; nothing was changed`,
    remedy:
      'Run pg_upgrade of the newer PostgreSQL on this folder, or serve it with its own version and give the URL; or choose another data folder and rebuild the index.',
  },
  'embedded-in-use': {
    class: 'caller',
    message: (d: { folder: string; holder: string }) =>
      `the database in ${d.folder} is already used by another Tern process (${d.holder})`,
    remedy: 'Stop that process, choose another data folder, or give both processes the URL of one PostgreSQL.',
  },
  'embedded-damaged': {
    class: 'caller',
    message: (d: { folder: string; problem: string }) => `the database in ${d.folder} is damaged: ${d.problem}`,
    remedy:
      'Restore this folder from a backup that was made while Tern was stopped, or delete it: the index is then built again from the chain.',
  },
  'embedded-copied': {
    class: 'caller',
    message: (d: { folder: string; original: string }) =>
      `${d.folder} is a copy of ${d.original} that was made while its database ran, so its files do not fit together; nothing was changed`,
    remedy: 'Stop Tern before its folder is copied; or delete this copy: the index is then built again from the chain.',
  },
  'embedded-start': {
    class: 'internal',
    message: (d: { folder: string; log: string }) => `PostgreSQL did not start in ${d.folder}: ${d.log}`,
    remedy: 'Read server.log in that folder; common causes are a full disk and too little memory.',
  },
  'embedded-ended': {
    class: 'upstream',
    message: (d: { folder: string; end: string; log: string }) =>
      `PostgreSQL in ${d.folder} ended (${d.end}): ${d.log}`,
    remedy: 'It is restarted automatically. If it keeps ending, check server.log and the memory of the machine.',
  },
  // Connections and queries
  'bad-url': {
    class: 'caller',
    message: (d: { problem: string }) => `the URL of the database is invalid: ${d.problem}`,
    remedy: 'Give postgresql://USER:PASSWORD@HOST:PORT/DATABASE.',
  },
  'server-too-old': {
    class: 'caller',
    message: (d: { version: string; least: number }) =>
      `the database is PostgreSQL ${d.version}; Tern needs ${d.least} or later`,
    remedy: 'Upgrade the server, or give the URL of another one.',
  },
  'connection-pooler': {
    class: 'caller',
    message: (d: { problem: string }) =>
      `the URL of the database leads to a connection pooler such as PgBouncer, and Tern needs sessions of its own for locks, notifications and prepared statements: ${d.problem}`,
    remedy: 'Give the URL of PostgreSQL itself; Tern has its own connection pools.',
  },
  'search-path': {
    class: 'caller',
    message: (d: { search_path: string; problem: string }) =>
      `the search_path of the database or its user, ${d.search_path}, ${d.problem}; nothing was changed`,
    remedy:
      'Correct it with ALTER DATABASE … SET search_path or ALTER ROLE … SET search_path, or give it in the URL: ?options=-c%20search_path%3DSCHEMA.',
  },
  encoding: {
    class: 'caller',
    message: (d: { problem: string }) => `the encoding of the database cannot hold all texts: ${d.problem}`,
    remedy: 'Use a database that was created with ENCODING UTF8.',
  },
  'session-limit': {
    class: 'caller',
    message: (d: { problem: string }) => `a limit of the database ended the session: ${d.problem}`,
    remedy: 'Reset transaction_timeout and similar limits for this database and its user: ALTER DATABASE … RESET ….',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { problem: string }) => `the database does not answer: ${d.problem}`,
    remedy: 'Check that the database runs and can be reached; a read-only query may be sent again.',
  },
  'commit-unknown': {
    class: 'upstream',
    message: (d: { problem: string }) =>
      `the connection was lost during a commit, so it is unknown whether the transaction was committed: ${d.problem}`,
    remedy: 'Check whether the data is there before writing it again.',
  },
  'connection-refused': {
    class: 'caller',
    message: (d: { problem: string }) => `the database refuses connections with this URL: ${d.problem}`,
    remedy: 'Correct user, password and database name, and check pg_hba.conf.',
  },
  'too-many-connections': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the database accepts no more connections: ${d.problem}`,
    remedy: 'Try again; raise max_connections, or configure fewer connections.',
  },
  'pool-exhausted': {
    class: 'overloaded',
    message: (d: { waitedMs: number; connections: number }) =>
      `no database connection became free within ${d.waitedMs} ms; ${d.connections} are in use`,
    remedy: 'Try again; if it persists, configure more connections or send fewer requests.',
  },
  timeout: {
    class: 'overloaded',
    message: (d: { afterMs: number }) => `a database query was stopped after ${d.afterMs} ms`,
    remedy: 'Request less at once: a smaller limit or a narrower time range.',
  },
  'read-too-large': {
    class: 'caller',
    message: (d: { mostBytes: number }) => `what is asked for takes more than ${d.mostBytes} bytes in the database`,
    remedy: 'Request less at once: a smaller limit or a narrower time range.',
  },
  cancelled: {
    class: 'shutting-down',
    message: (d: { reason: string }) => `a database query was cancelled: ${d.reason}`,
    remedy: 'Nothing to do: the client has disconnected, or an administrator stopped the query.',
  },
  conflict: {
    class: 'overloaded',
    message: (d: { problem: string }) => `a concurrent transaction conflicts: ${d.problem}`,
    remedy: 'Try again.',
  },
  'disk-full': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the disk of the database is full: ${d.problem}`,
    remedy: 'Free space on the disk of the database. Nothing was lost; work continues automatically afterwards.',
  },
  'out-of-memory': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the database ran out of memory: ${d.problem}`,
    remedy: 'Give the database more memory, or request less at once.',
  },
  'read-only': {
    class: 'caller',
    message: (d: { problem: string }) => `the database is read-only: ${d.problem}`,
    remedy: 'Give the URL of the primary server; the URL of a replica belongs into the setting for reading.',
  },
  damaged: {
    class: 'internal',
    message: (d: { problem: string }) => `the database found damaged data: ${d.problem}`,
    remedy: 'Check the disk. Restore the database from a backup, or rebuild the index in an empty one.',
  },
  'no-rights': {
    class: 'caller',
    message: (d: { problem: string }) => `the database user lacks a privilege: ${d.problem}`,
    remedy: 'Make this user the owner of the database or of the schema.',
  },
  query: {
    class: 'internal',
    message: (d: { state: string; problem: string }) => `the database refused a query (${d.state}): ${d.problem}`,
    remedy: 'This is a fault in Tern: please report it with this message and the version of the database.',
  },
  // The schema
  'no-schema': {
    class: 'caller',
    message: (d: { database: string }) => `the database ${d.database} has no Tern schema yet`,
    remedy: 'Run tern migrate, which creates it.',
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
      `the database ${d.database} has schema version ${d.version}, created by a newer Tern; this one supports ${d.known}; nothing was changed`,
    remedy: 'Run the newer Tern, or use another database.',
  },
  'schema-edited': {
    class: 'caller',
    message: (d: { database: string; migration: string }) =>
      `the database ${d.database} was created with a different ${d.migration} than this Tern has; nothing was changed`,
    remedy: 'Run the version of Tern that created it, or rebuild the index in an empty database.',
  },
  'schema-foreign': {
    class: 'caller',
    message: (d: { database: string; tables: string }) =>
      `the database ${d.database} does not belong to Tern: it has ${d.tables}; nothing was changed`,
    remedy: 'Use an empty database, or one that tern migrate created.',
  },
  'migration-file': {
    class: 'internal',
    message: (d: { file: string; problem: string }) => `the migration ${d.file} cannot be used: ${d.problem}`,
    remedy: 'Reinstall Tern: its files were changed or are missing.',
  },
  // The index
  'other-network': {
    class: 'caller',
    message: (d: { field: string; expected: string; found: string }) =>
      `the database indexes another network: its ${d.field} is ${d.found}, that of this network is ${d.expected}; nothing was changed`,
    remedy: 'Use a separate database for each network.',
  },
  'other-selection': {
    class: 'caller',
    message: (d: { wanted: string; found: string }) =>
      `the database was created to index ${d.found}, and the settings now select ${d.wanted}; nothing was changed`,
    remedy: 'Use the settings with which the index was created, or an empty database.',
  },
  'no-index': {
    class: 'not-found',
    message: () => 'the database has no index yet',
    remedy: 'Run tern serve or tern index, which create one.',
  },
  'index-in-use': {
    class: 'overloaded',
    message: () => 'the index cannot be deleted while another process writes it',
    remedy: 'Stop tern serve, tern index or tern dev that use this database, then try again.',
  },
  'import-elsewhere': {
    class: 'overloaded',
    message: (d: { mc_seqno: number; workchain: number }) =>
      `another process imports the states of workchain ${d.workchain} after masterchain block ${d.mc_seqno} into this index, or another import was begun`,
    remedy: 'Let the other tern index --state finish, or stop it and start this one again: it continues.',
  },
  overlap: {
    class: 'internal',
    message: (d: { from: number; to: number }) =>
      `some of the masterchain blocks ${d.from} to ${d.to} are already indexed or pruned`,
    remedy: 'Nothing to do: what is indexed stays, and the rest is written again automatically.',
  },
  'stored-value': {
    class: 'internal',
    message: (d: { column: string; problem: string }) =>
      `a value of the column ${d.column} cannot be read: ${d.problem}`,
    remedy:
      'Run tern check, which compares the index with the chain; restore the database, or index these masterchain blocks again.',
  },
  cursor: {
    class: 'caller',
    message: (d: { problem: string }) => `the cursor ${d.problem}`,
    remedy:
      'Send a cursor exactly as a page returned it, with the same filters and the same sort, or none for the first page.',
  },
});
