// node --conditions=source --import tsx scripts/interop/clients/checks.ts PYTHON PACKAGES GO_PROGRAM BROWSER: see run.mjs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ServedTern } from '#test/support/served-tern.js';
import { RECORDED_ZEROSTATES } from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';
import { chainTruth } from '../chain-truth.js';
import { CheckReport } from '../check-report.js';
import { checkBlueprint } from './blueprint-checks.js';
import { checkBrowser } from './browser-checks.js';
import { reportLines } from './client-lines.js';
import { clientTruth } from './client-truth.js';
import { checkSchemathesis } from './schemathesis-checks.js';
import { checkTonClient } from './ton-client-checks.js';
import { checkTonweb } from './tonweb-checks.js';

const [python, packages, goProgram, browser] = process.argv.slice(2);
if (python === undefined || packages === undefined || goProgram === undefined || browser === undefined) {
  throw new Error(
    'wanted: a Python with tonutils, a folder with npm packages, a program made of tonutils-go, a browser',
  );
}
const folder = vectorPath('collection/recorded-net/chain');
process.stdout.write(`\nclients of API v2 on ${folder}\n`);
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
const scratch = mkdtempSync(join(tmpdir(), 'tern-interop-'));
const truth = clientTruth(chainTruth(folder, RECORDED_ZEROSTATES));
const truthFile = join(scratch, 'truth.json');
writeFileSync(truthFile, JSON.stringify(truth));
const args = ['dev', '--profile', 'spec', '--replay', folder, '--port', '0', '--data', join(scratch, 'data')];
const tern = await ServedTern.start(args);
try {
  const { url } = tern;
  await checkTonClient(url, truth, report);
  await checkTonweb(packages, url, truth, report);
  await checkBlueprint(packages, url, truthFile, report);
  const program = fileURLToPath(new URL('tonutils_checks.py', import.meta.url));
  await reportLines('tonutils', python, [program, url, truthFile], report);
  await reportLines('tonutils-go', goProgram, ['v2', `${url}/toncenter`, truthFile], report);
  await checkBrowser(browser, url, { api: 'v2', paths: 34 }, report);
  await checkSchemathesis(python, url, 'v2', report);
} finally {
  await tern.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
