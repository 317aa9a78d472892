// node --conditions=source --import tsx scripts/interop/checks.ts PYTHON: see run.mjs.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ReplayProcess } from '#test/support/replay-process.js';
import { MAINNET_ZEROSTATES, RECORDED_ZEROSTATES, type Zerostates } from '#test/support/states-of-chain.js';
import { vectorPath } from '#test/support/vector-files.js';
import { checkBlocks } from './block-checks.js';
import { type ChainTruth, chainTruth } from './chain-truth.js';
import { CheckReport } from './check-report.js';
import { checkLiteClient } from './lite-client-checks.js';
import { readRecordedAnswers } from './recorded-answers.js';
import { checkRecorded } from './recorded-checks.js';
import { checkRedis } from './redis-checks.js';
import { checkStates } from './state-checks.js';
import { TonlibSession } from './tonlib-session.js';

interface Chain {
  readonly name: string;
  readonly folder: string;
  readonly zerostates: Zerostates;
  /** Why tonlib is not asked; null when it is. */
  readonly withoutTonlib: string | null;
  /** Answers of the reference tonlib over this chain, if there are any. */
  readonly recorded: string | null;
}

/** The chains of the collection of real data. */
function chains(): Chain[] {
  const network = vectorPath('collection/recorded-net');
  const genesis = vectorPath('collection/mainnet-genesis');
  return [
    {
      name: 'a recorded network',
      folder: join(network, 'chain'),
      zerostates: RECORDED_ZEROSTATES,
      withoutTonlib: null,
      recorded: join(network, 'tonlib-recordings.jsonl.br'),
    },
    {
      name: 'the first blocks of mainnet',
      folder: genesis,
      zerostates: MAINNET_ZEROSTATES,
      withoutTonlib: 'tonlib is not asked: it trusts no block of mainnet before the hard fork at 8536841',
      recorded: null,
    },
  ];
}

async function checkTonlib(python: string, config: string, chain: Chain, truth: ChainTruth, report: CheckReport) {
  const keystore = mkdtempSync(join(tmpdir(), 'tern-interop-keys-'));
  const tonlib = new TonlibSession(python, config, keystore);
  try {
    const said = await tonlib.initialised;
    if (said['@type'] === 'error') throw new Error(`tonlib does not take the configuration: ${said.message}`);
    await checkBlocks(tonlib, truth, report);
    await checkStates(tonlib, truth, report);
    if (chain.recorded !== null) await checkRecorded(tonlib, readRecordedAnswers(chain.recorded), truth, report);
  } finally {
    await tonlib.close();
    rmSync(keystore, { recursive: true, force: true });
  }
}

async function checkChain(python: string, chain: Chain, report: CheckReport): Promise<void> {
  process.stdout.write(`\n${chain.name}: tern replay ${chain.folder}\n`);
  const scratch = mkdtempSync(join(tmpdir(), 'tern-interop-'));
  const config = join(scratch, 'global.config.json');
  const truth = chainTruth(chain.folder, chain.zerostates);
  let replay: ReplayProcess | null = null;
  try {
    replay = await ReplayProcess.start(chain.folder, config);
    if (chain.withoutTonlib === null) await checkTonlib(python, config, chain, truth, report);
    else process.stdout.write(`${chain.withoutTonlib}\n`);
    await checkLiteClient(JSON.parse(readFileSync(config, 'utf8')), truth, report);
  } finally {
    await replay?.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

const [python] = process.argv.slice(2);
if (python === undefined) throw new Error('the path of a Python with pytonlib is missing');
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
for (const chain of chains()) {
  // A chain that cannot be checked at all is one failure, and does not hide the others.
  await checkChain(python, chain, report).catch((error) => report.check(chain.name, () => Promise.reject(error)));
}
await checkRedis(report).catch((error) => report.check('redis', () => Promise.reject(error)));
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
