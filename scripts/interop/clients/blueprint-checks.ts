import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckReport } from '../check-report.js';
import { reportLines } from './client-lines.js';

const project = fileURLToPath(new URL('blueprint', import.meta.url));

/** Words of a wallet that nobody uses: blueprint wants one before it runs a script. */
const MNEMONIC = `${'abandon '.repeat(23)}art`;

/** A script of a project of @ton/blueprint, run with `--custom` as its users would. */
export async function checkBlueprint(packages: string, url: string, truthFile: string, report: CheckReport) {
  const folder = mkdtempSync(join(packages, 'project-'));
  try {
    cpSync(project, folder, { recursive: true });
    symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"name":"project","private":true}\n');
    const compilerOptions = { target: 'ES2022', module: 'commonjs', esModuleInterop: true, skipLibCheck: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const blueprint = join(folder, 'node_modules', '@ton', 'blueprint', 'dist', 'cli', 'cli.js');
    const endpoint = ['--custom', `${url}/api/v2/jsonRPC`, '--custom-version', 'v2', '--custom-type', 'testnet'];
    await reportLines(
      '@ton/blueprint',
      process.execPath,
      [blueprint, 'run', 'read-chain', ...endpoint, '--mnemonic'],
      report,
      {
        cwd: folder,
        env: { ...process.env, TRUTH: truthFile, WALLET_MNEMONIC: MNEMONIC, WALLET_VERSION: 'v4', FORCE_COLOR: '0' },
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
