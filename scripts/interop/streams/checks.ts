// node --conditions=source --import tsx scripts/interop/streams/checks.ts PYTHON BROWSER: see run.mjs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';
import { CheckReport } from '../check-report.js';
import { reportLines } from '../clients/client-lines.js';
import { checkAsyncApi } from './async-api-checks.js';
import { checkBrowserStreams } from './browser-stream-checks.js';

const [python, payer, packages, browser] = process.argv.slice(2);
if (python === undefined || payer === undefined || packages === undefined || browser === undefined)
  throw new Error('wanted: a Python with toncenter, one with x402, a folder with npm packages, a browser');
process.stdout.write('\nclients of the streaming and emulation APIs on a local network\n');
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
const scratch = mkdtempSync(join(tmpdir(), 'tern-interop-'));
const tern = await ServedTern.start(['dev', '--port', '0', '--data', join(scratch, 'data'), '--block-time', '400']);
try {
  const near = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  await reportLines('toncenter', python, ['-B', near('toncenter_streaming_checks.py'), tern.url], report);
  const stablecoin = vectorPath('collection/contracts/jettons/stablecoin_1_04/testdata');
  await reportLines('x402', payer, ['-B', near('x402_payment_checks.py'), tern.url, stablecoin], report);
  await checkBrowserStreams(browser, tern.url, report);
  await checkAsyncApi(packages, tern.url, report);
} finally {
  await tern.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
