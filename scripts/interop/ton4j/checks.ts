// node --conditions=source --import tsx scripts/interop/ton4j/checks.ts CLASSPATH_FILE: see run.mjs.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { CheckReport } from '../check-report.js';
import { reportLines } from '../clients/client-lines.js';
import { LocalNetwork } from '../localnet/local-network.js';

const [classpath] = process.argv.slice(2);
if (classpath === undefined) throw new Error('wanted: a file with the class path of ton4j');
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
process.stdout.write('\nton4j on a seeded local network\n');
const network = await LocalNetwork.start(['--index', 'off', '--mining', 'auto', '--profile', 'toncenter']);
try {
  const { items } = (await network.control('seed')) as unknown as { items: readonly Record<string, string>[] };
  const seeded = (kind: string) => items.find((item) => item.kind === kind)!;
  const receiver = `0:${'4a'.repeat(32)}`;
  const amount = '2750000000';
  const { block } = await network.control('faucet', { address: receiver, amount, comment: 'for ton4j' });
  await network.control('mine', { blocks: 2 });
  const wallet = (await network.wallets()).find(({ version, mnemonic }) => version === 'v4r2' && mnemonic !== null)!;
  const { seqno } = block as unknown as { seqno: number };
  const program = fileURLToPath(new URL('Checks.java', import.meta.url));
  const java = ['-cp', readFileSync(classpath, 'utf8').trim(), program];
  const known = [wallet.address, receiver, amount];
  const http = ['toncenter', `${network.url}/api/v2`, ...known, seeded('multisig').address, `${seqno}`] as string[];
  await reportLines('ton4j toncenter', 'java', [...java, ...http], report);
  await reportLines('ton4j adnl', 'java', [...java, 'adnl', network.configFile, ...known, `${seqno}`], report);
} finally {
  await network.close();
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
