// node --conditions=source --import tsx scripts/interop/localnet/scenarios/checks.ts PACKAGES: the scenarios alone.
import process from 'node:process';
import { CheckReport } from '../../check-report.js';
import { checkScenarios } from './scenario-checks.js';

const [packages] = process.argv.slice(2);
if (packages === undefined) throw new Error('a folder with npm packages is missing');
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
process.stdout.write('\nscenarios through clients on a local network\n');
await checkScenarios(packages, report).catch((error) => report.check('scenarios', () => Promise.reject(error)));
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
