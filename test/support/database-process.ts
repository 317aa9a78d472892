// node --conditions=source --import tsx database-process.ts [NAME…]: runs a server for tests until its standard input ends, and
// makes the indexes of the named chains (see shared-index.ts) in the meantime.
import process from 'node:process';
import { startTestServer } from '#test/support/database-server.js';
import { RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { serveTestDatabases } from '#test/support/test-database.js';

const { server, close } = await startTestServer();
serveTestDatabases(server.urlOf('postgres'));
console.log(JSON.stringify({ url: server.urlOf('postgres') }));
process.stdin.resume();
process.stdin.once('end', async () => {
  await close();
  process.exit();
});
// Ctrl-C goes to all processes of the terminal; the end of the test runner is what counts.
process.on('SIGINT', () => {});

// What fails here fails again, and is reported, in the first test file that wants the index.
if (process.argv.includes(RECORDED_NET.name)) await sharedIndex(RECORDED_NET).catch(() => {});
