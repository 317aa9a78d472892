import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Address, beginCell, Cell, contractAddress } from '@ton/core';
import type { CheckReport } from '../../check-report.js';
import { reportLines } from '../../clients/client-lines.js';
import type { JsonObject } from '../../tonlib-session.js';
import { expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

const project = fileURLToPath(new URL('blueprint', import.meta.url));
/** SETCP0: takes any message */
const TAKES_ALL = 'ff00';

/** A script of a project of @ton/blueprint that deploys a contract from a wallet with coins, by its words. */
export async function blueprintScenarios(stage: Stage, packages: string, report: CheckReport): Promise<null> {
  const index = 1;
  const wallet = await stage.funded('v4r2', index);
  const words = (await stage.network.wallets()).filter(({ version }) => version === 'v4r2')[index]!.mnemonic!;
  const code = beginCell().storeBuffer(Buffer.from(TAKES_ALL, 'hex')).endCell();
  const data = beginCell().storeUint(0xb1e, 32).endCell();
  const contract = contractAddress(0, { code, data });
  const folder = mkdtempSync(join(packages, 'project-'));
  try {
    cpSync(project, folder, { recursive: true });
    symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"name":"project","private":true}\n');
    const compilerOptions = { target: 'ES2022', module: 'commonjs', esModuleInterop: true, skipLibCheck: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const blueprint = join(folder, 'node_modules', '@ton', 'blueprint', 'dist', 'cli', 'cli.js');
    const endpoint = ['--custom', `${stage.network.url}/api/v2/jsonRPC`, '--custom-version', 'v2'];
    const args = [blueprint, 'run', 'deploy-contract', ...endpoint, '--custom-type', 'testnet', '--mnemonic'];
    const keys = { WALLET_MNEMONIC: words.join(' '), WALLET_VERSION: 'v4' };
    const cells = { CODE: code.toBoc().toString('hex'), DATA: data.toBoc().toString('hex') };
    const env = { ...process.env, ...keys, ...cells, FORCE_COLOR: '0' };
    await reportLines('@ton/blueprint', process.execPath, args, report, { cwd: folder, env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const body of await bodiesThatReach(stage, wallet.address, contract)) {
    await stage.await('@ton/blueprint: what its wallet sent', wallet.address, body, (root) =>
      expectOutcomes(root, [
        [wallet.address, 'ok'],
        [contract, 'ok'],
      ]),
    );
  }
  return null;
}

/** Bodies of the external messages to a wallet from which messages to a contract follow: blueprint does not tell them. */
async function bodiesThatReach({ v3 }: Stage, wallet: Address, contract: Address): Promise<readonly Cell[]> {
  const traces = await v3.rows('traces', 'traces', { account: contract.toString() });
  if (traces.length !== 2) throw new Error(`API v3 has ${traces.length} traces of the contract`);
  return traces.map(({ transactions, trace_id }) => {
    const { account, in_msg } = (transactions as JsonObject)[trace_id as string] as JsonObject;
    if (account !== wallet.toRawString().toUpperCase()) throw new Error(`a trace begins at ${account}`);
    return Cell.fromBase64(((in_msg as JsonObject).message_content as JsonObject).body as string);
  });
}
