import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlockValidator } from '#localnet/validation/block-validator.js';
import { chainBundles } from '#test/support/chain-bundles.js';
import { checkBlocks } from '../block-checks.js';
import type { ChainTruth } from '../chain-truth.js';
import type { CheckReport } from '../check-report.js';
import { checkLiteClient } from '../lite-client-checks.js';
import { checkStates } from '../state-checks.js';
import { type JsonObject, TonlibSession } from '../tonlib-session.js';
import { LiveBlocks } from './live-blocks.js';
import { LiveLiteClient } from './live-lite-client.js';
import { changeNetwork } from './live-network.js';
import { LiveStates } from './live-states.js';
import { LocalNetwork } from './local-network.js';

const CONFIG_CONTRACT = '55'.repeat(32);
/** Accounts that are always there, besides the wallets: the elector and the contract of the configuration. */
const SYSTEM = [`-1:${'33'.repeat(32)}`, `-1:${CONFIG_CONTRACT}`];

/**
 * Lite clients of others on a local network: while it makes blocks, splits, merges and changes its configuration, and on what
 * it has become.
 *
 * @param python that has pytonlib
 */
export async function checkLiveNetwork(python: string, report: CheckReport): Promise<void> {
  const network = await LocalNetwork.start(['--index', 'off']);
  try {
    const liteClient = await whileItLives(network, python, report);
    try {
      await network.control('pause');
      const { folder, truth } = await network.truth();
      await liteClient.compare(folder, truth);
      await report.check('every block, as a validator checks it', async () => validated(folder));
      await report.check('what happened', async () => happened(truth));
      // One that begins at the zerostate again, and comes to the head through all key blocks.
      await withTonlib(python, network, async (tonlib) => {
        await checkBlocks(tonlib, truth, report);
        await checkStates(tonlib, truth, report);
      });
      await checkLiteClient(network.config, truth, report);
    } finally {
      liteClient.close();
    }
  } finally {
    await network.close();
  }
}

interface Lived {
  compare(folder: string, truth: ChainTruth): Promise<void>;
  close(): void;
}

/** Follows the network in three ways while it changes. */
async function whileItLives(network: LocalNetwork, python: string, report: CheckReport): Promise<Lived> {
  const wallets = await network.wallets();
  const addresses = [...wallets.map(({ address }) => address), ...SYSTEM];
  const liteClient = new LiveLiteClient(network.config, addresses);
  return withTonlib(python, network, async (tonlib) => {
    const blocks = new LiveBlocks(tonlib);
    const states = new LiveStates(tonlib, addresses);
    const following = Promise.all([blocks.follow(), states.watch(), liteClient.follow()]);
    following.catch(() => {});
    await Promise.race([changeNetwork(network, tonlib, report), following]);
    blocks.stopAt(((await network.status()).head as JsonObject).seqno as number);
    states.stop();
    liteClient.stop();
    await following;
    return {
      compare: async (folder, truth) => {
        await report.check('tonlib: blocks as they were made', async () => blocks.compare(truth));
        await report.check('tonlib: account states as they were', async () => states.compare(folder, truth));
        await liteClient.check(truth, report);
      },
      close: () => liteClient.close(),
    };
  });
}

async function withTonlib<T>(
  python: string,
  { configFile }: LocalNetwork,
  run: (tonlib: TonlibSession) => Promise<T>,
): Promise<T> {
  const keystore = mkdtempSync(join(tmpdir(), 'tern-interop-keys-'));
  const tonlib = new TonlibSession(python, configFile, keystore);
  try {
    const said = await tonlib.initialised;
    if (said['@type'] === 'error') throw new Error(`tonlib does not take the configuration: ${said.message}`);
    return await run(tonlib);
  } finally {
    await tonlib.close();
    rmSync(keystore, { recursive: true, force: true });
  }
}

function validated(folder: string): string {
  const { tip, zerostates, bundles } = chainBundles(folder);
  const validator = new BlockValidator(tip, zerostates);
  let blocks = 0;
  let transactions = 0;
  for (const bundle of bundles) {
    const found = validator.check(bundle);
    blocks += found.blocks;
    transactions += found.transactions;
    // The configuration was changed from outside, as only its contract can do on a network.
    const other = found.deviations.find(({ kind, subject }) => kind !== 'account-set' || subject !== CONFIG_CONTRACT);
    if (other !== undefined) throw new Error(`${other.kind} in block ${other.block}, of ${other.subject}`);
  }
  return `${blocks} blocks with ${transactions} transactions`;
}

/** That there was what other checks are about. */
function happened({ masterchain, shards }: ChainTruth): string {
  const keyBlocks = masterchain.filter(({ key_block }) => key_block).length;
  const names = new Set(shards.map(({ id }) => id.shard));
  const last = masterchain.at(-1)!.tops.length;
  if (keyBlocks < 2) throw new Error(`there are ${keyBlocks} key blocks only`);
  if (names.size < 3 || last !== 1) throw new Error('there was no split with a merge after it');
  return `${masterchain.length} masterchain blocks, ${keyBlocks} of them key blocks, ${names.size} shards`;
}
