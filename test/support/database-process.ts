// node --conditions=source --import tsx database-process.ts: runs a server for tests until its standard input ends.
import { startTestServer } from '#test/support/database-server.js';

const { server, close } = await startTestServer();
console.log(JSON.stringify({ url: server.urlOf('postgres') }));
process.stdin.resume();
process.stdin.once('end', close);
// Ctrl-C goes to all processes of the terminal; the end of the test runner is what counts.
process.on('SIGINT', () => {});
