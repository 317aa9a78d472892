import type { CheckReport } from '../check-report.js';
import { runBlueprint } from './blueprint-project.js';

/** Mnemonic of a wallet that nobody uses: blueprint wants one before it runs a script. */
const MNEMONIC = `${'abandon '.repeat(23)}art`;

/** A script of a project of @ton/blueprint that reads the chain. */
export async function checkBlueprint(packages: string, url: string, truthFile: string, report: CheckReport) {
  const environment = { TRUTH: truthFile, WALLET_MNEMONIC: MNEMONIC, WALLET_VERSION: 'v4' };
  await runBlueprint(packages, url, 'read-chain', environment, report);
}
