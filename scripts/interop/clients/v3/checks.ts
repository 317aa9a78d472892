// node --conditions=source --import tsx scripts/interop/clients/v3/checks.ts PYTHON SCHEMATHESIS_PYTHON PACKAGES GO_PROGRAM
// BROWSER: see run.mjs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ServedTern } from '#test/support/served-tern.js';
import { RECORDED_ZEROSTATES } from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';
import { chainTruth } from '../../chain-truth.js';
import { CheckReport } from '../../check-report.js';
import { checkBrowser } from '../browser-checks.js';
import { reportLines } from '../client-lines.js';
import { checkSchemathesis } from '../schemathesis-checks.js';
import type { TransactionTruth } from './transaction-truth.js';
import { v3Truth } from './v3-truth.js';
import { checkWdk } from './wdk-checks.js';

/** Methods of the reference page. */
const PATHS = 37;
const INDEXED_MS = 180_000;

/** Waits until all of the chain is indexed, and its contracts are looked at. */
async function indexed(url: string): Promise<void> {
  for (const until = Date.now() + INDEXED_MS; ; await delay(200)) {
    const { networks } = (await (await fetch(`${url}/readyz`)).json()) as {
      networks: Record<string, { head_seqno: number; details: Record<string, unknown> }>;
    };
    const [{ head_seqno, details }] = Object.values(networks) as [(typeof networks)[string]];
    const isWhole = details.index_missing_blocks === 0 && !((details.index_fill_missing_blocks as number) > 0);
    if (isWhole && head_seqno > 0 && details.index_head_seqno === head_seqno && (await isQuiet(url))) return;
    if (Date.now() > until)
      throw new Error(`the chain is not indexed after ${INDEXED_MS} ms: ${JSON.stringify(details)}`);
  }
}

/** Whether contracts were looked at, which both chains have, and none is now. */
async function isQuiet(url: string): Promise<boolean> {
  const looked = async (): Promise<string> => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return /^tern_index_contracts_looked_at_total.* (\d+)$/m.exec(metrics)?.[1] ?? '0';
  };
  for (const list of ['jetton/burns', 'nft/items']) {
    const { address_book } = (await (await fetch(`${url}/api/v3/${list}?limit=1`)).json()) as { address_book: object };
    if (Object.keys(address_book).length === 0) return false;
  }
  const before = await looked();
  await delay(3000);
  return before === (await looked());
}

/** What pytoncenter can take: its models are of 2024. */
function isPlain({ in_msg, out_msgs }: TransactionTruth): boolean {
  if (in_msg === null) return false;
  return [in_msg, ...out_msgs].every(({ layout }) => layout === null || layout === 'text_comment');
}

const [python, schemathesis, packages, goProgram, browser] = process.argv.slice(2);
if (
  python === undefined ||
  schemathesis === undefined ||
  packages === undefined ||
  goProgram === undefined ||
  browser === undefined
) {
  throw new Error(
    'wanted: a Python with toncenter, one with schemathesis, npm packages, a program made of tonutils-go, a browser',
  );
}
const folder = vectorPath('collection/recorded-net/chain');
process.stdout.write(`\nclients of API v3 on ${folder}\n`);
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
const scratch = mkdtempSync(join(tmpdir(), 'tern-interop-'));
const near = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const write = (name: string, value: unknown) => {
  writeFileSync(join(scratch, name), JSON.stringify(value));
  return join(scratch, name);
};
const args = ['dev', '--profile', 'spec', '--replay', folder, '--port', '0', '--data', join(scratch, 'data')];
const tern = await ServedTern.start(args);
try {
  const { url } = tern;
  const chain = chainTruth(folder, RECORDED_ZEROSTATES);
  const truth = v3Truth(chain, () => true);
  const truthFile = write('truth.json', truth);
  await indexed(url);
  await reportLines('toncenter', python, ['-B', near('toncenter_checks.py'), url, truthFile], report);
  const plainFile = write('plain.json', v3Truth(chain, isPlain));
  await reportLines('pytoncenter', python, ['-B', near('pytoncenter_checks.py'), url, plainFile], report);
  await reportLines('tonutils-go', goProgram, ['v3', url, truthFile], report);
  await reportLines('tonutils-go, toncenter', goProgram, ['v3', `${url}/toncenter`, truthFile], report);
  await checkWdk(packages, url, truth, report);
  await checkBrowser(browser, url, { api: 'v3', paths: PATHS }, report);
  await checkSchemathesis(schemathesis, url, 'v3', report);
} finally {
  await tern.close();
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
