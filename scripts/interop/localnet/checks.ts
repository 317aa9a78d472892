// node --conditions=source --import tsx scripts/interop/localnet/checks.ts PYTHON: see run.mjs.
import process from 'node:process';
import { CheckReport } from '../check-report.js';
import { checkLiveNetwork } from './lite-checks.js';

const [python] = process.argv.slice(2);
if (python === undefined) throw new Error('the path of a Python with pytonlib is missing');
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
process.stdout.write('\nlite clients on a local network that lives\n');
await checkLiveNetwork(python, report).catch((error) => report.check('lite clients', () => Promise.reject(error)));
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
