// node --conditions=source --import tsx database-process.ts [NAME…]: runs a server for tests until its standard input ends, and
// makes the indexes of the named chains (see shared-index.ts) in the meantime, or takes those of an earlier run of the same sources.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { startTestServer } from '#test/support/database-server.js';
import { RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { dropOtherDatabases, storedIndexFolder, storeIndex } from '#test/support/stored-index.js';
import { serveTestDatabases } from '#test/support/test-database.js';

const wantsIndex = process.argv.includes(RECORDED_NET.name);
// Another PostgreSQL for the tests has other files.
const folder = wantsIndex && process.env.TERN_TEST_POSTGRES === undefined ? await storedIndexFolder() : null;
const isStored = folder !== null && existsSync(folder);
const { server, close } = await startTestServer(isStored ? folder : null);
serveTestDatabases(server.urlOf('postgres'));
console.log(JSON.stringify({ url: server.urlOf('postgres') }));
process.stdin.resume();
let isMade = false;
process.stdin.once('end', async () => {
  if (folder === null || isStored || !isMade) await close();
  else {
    await dropOtherDatabases(server, [RECORDED_NET.name, `${RECORDED_NET.name}_kept`]);
    await close((stopped) => storeIndex(stopped, folder));
  }
  process.exit();
});
// Ctrl-C goes to all processes of the terminal; the end of the test runner is what counts.
process.on('SIGINT', () => {});

// What fails here fails again, and is reported, in the first test file that wants the index.
if (wantsIndex) {
  isMade = await sharedIndex(RECORDED_NET).then(
    () => true,
    () => false,
  );
}
