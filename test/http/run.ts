// npm run -s fuzz:http [URL]: sends every nasty request there is to an API, by default to a tern dev that is started for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ServedTern } from '#test/support/served-tern.js';
import { nastyRequests, sendAll } from './nasty-requests.js';

const [given] = process.argv.slice(2);
const DEV_CHAIN = join(import.meta.dirname, '../../vectors/dev-chain');
const away = mkdtempSync(join(tmpdir(), 'tern-nasty-'));
const tern =
  given === undefined
    ? await ServedTern.start([
        'dev',
        '--profile',
        'spec',
        '--replay',
        DEV_CHAIN,
        '--port',
        '0',
        '--data',
        join(away, 'data'),
      ])
    : null;
try {
  const report = await sendAll(`${given ?? tern?.url}/api/v2`, nastyRequests());
  for (const failure of report.failures) process.stdout.write(`${failure}\n`);
  const { requests, failures, slowestMs, slowest } = report;
  process.stdout.write(
    `${requests} requests, ${failures.length} failures; slowest ${Math.round(slowestMs)} ms: ${slowest.slice(0, 200)}\n`,
  );
  if (failures.length > 0) process.exitCode = 1;
} finally {
  await tern?.close();
  rmSync(away, { recursive: true, force: true });
}
