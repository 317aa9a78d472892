import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckReport } from '../check-report.js';
import { reportLines } from './client-lines.js';

const project = fileURLToPath(new URL('blueprint', import.meta.url));

/**
 * Runs a script of a project of @ton/blueprint on API v2 with `--custom`, as its users would, and reports its checks.
 *
 * @param packages folder in which @ton/blueprint is installed
 * @param script name of a file of `blueprint/scripts`, without its ending
 * @param environment what the script reads, and the wallet that blueprint wants: WALLET_MNEMONIC, WALLET_VERSION
 */
export async function runBlueprint(
  packages: string,
  url: string,
  script: string,
  environment: NodeJS.ProcessEnv,
  report: CheckReport,
): Promise<void> {
  const folder = mkdtempSync(join(packages, 'project-'));
  try {
    cpSync(project, folder, { recursive: true });
    symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"name":"project","private":true}\n');
    const compilerOptions = { target: 'ES2022', module: 'commonjs', esModuleInterop: true, skipLibCheck: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const blueprint = join(folder, 'node_modules', '@ton', 'blueprint', 'dist', 'cli', 'cli.js');
    const endpoint = ['--custom', `${url}/api/v2/jsonRPC`, '--custom-version', 'v2', '--custom-type', 'testnet'];
    const args = [blueprint, 'run', script, ...endpoint, '--mnemonic'];
    const env = { ...process.env, ...environment, FORCE_COLOR: '0' };
    await reportLines('@ton/blueprint', process.execPath, args, report, { cwd: folder, env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
