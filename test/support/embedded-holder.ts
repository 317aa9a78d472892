// node --conditions=source --import tsx embedded-holder.ts FOLDER: a process that holds an embedded server until it is killed.
import { startEmbeddedServer } from '#drivers/store/embedded/embedded-server.js';
import { systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

try {
  const server = await startEmbeddedServer({ folder: process.argv[2]!, sync: false }, { clock: systemClock });
  process.on('SIGTERM', () => server.close().then(() => process.exit(0)));
  console.log(JSON.stringify({ url: server.url, pid: server.pid }));
} catch (error) {
  console.log(JSON.stringify({ code: isTernError(error) ? error.code : String(error) }));
  process.exit(1);
}
