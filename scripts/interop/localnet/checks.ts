// node --conditions=source --import tsx scripts/interop/localnet/checks.ts PYTHON PACKAGES: see run.mjs.
import process from 'node:process';
import { CheckReport } from '../check-report.js';
import { checkLiveNetwork } from './lite-checks.js';
import { checkScenarios } from './scenarios/scenario-checks.js';

const [python, packages] = process.argv.slice(2);
if (python === undefined || packages === undefined) {
  throw new Error('wanted: a Python with pytonlib, a folder with npm packages');
}
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
process.stdout.write('\nlite clients on a local network that lives\n');
await checkLiveNetwork(python, report).catch((error) => report.check('lite clients', () => Promise.reject(error)));
process.stdout.write('\nscenarios through clients of others, on another one\n');
await checkScenarios(packages, report).catch((error) => report.check('scenarios', () => Promise.reject(error)));
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
