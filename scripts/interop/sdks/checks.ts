// node --conditions=source --import tsx scripts/interop/sdks/checks.ts PYTHON PACKAGES: see run.mjs.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { CheckReport } from '../check-report.js';
import { reportLines } from '../clients/client-lines.js';
import { LocalNetwork } from '../localnet/local-network.js';
import { checkAssetsSdk } from './assets-sdk-checks.js';
import { checkDexSdks } from './dex-checks.js';
import { checkSandbox } from './sandbox-checks.js';
import type { SdkStage } from './sdk-stage.js';

const [python, packages] = process.argv.slice(2);
if (python === undefined || packages === undefined) {
  throw new Error('wanted: a Python with tonutils, a folder with npm packages');
}
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
process.stdout.write('\nSDKs on a seeded local network\n');
const network = await LocalNetwork.start(['--index', 'off', '--mining', 'auto']);
try {
  const seeded = await network.control('seed');
  const require = createRequire(join(packages, 'package.json'));
  const { TonClient } = require('@ton/ton');
  const stage: SdkStage = {
    network,
    load: require,
    client: new TonClient({ endpoint: `${network.url}/api/v2/jsonRPC`, timeout: 20_000 }),
    wallets: await network.wallets(),
    seeded: seeded.items as never,
  };
  await checkAssetsSdk(stage, report);
  await checkSandbox(stage, report);
  await checkDexSdks(stage, report);
  const truth = join(packages, 'truth.json');
  writeFileSync(
    truth,
    JSON.stringify({ wallets: stage.wallets, seeded: stage.seeded, status: await network.status() }),
  );
  const program = fileURLToPath(new URL('tonutils_lite_checks.py', import.meta.url));
  await reportLines('tonutils over ADNL', python, [program, network.configFile, truth], report);
} finally {
  await network.close();
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
