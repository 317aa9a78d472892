import { setTimeout as delay } from 'node:timers/promises';
import type { CheckReport } from '../../check-report.js';
import { expectSame } from '../../same-answer.js';
import type { JsonObject } from '../../tonlib-session.js';
import { LocalNetwork } from '../local-network.js';
import { blueprintScenarios } from './blueprint-scenarios.js';
import { checkFirstSteps } from './first-steps.js';
import { highloadScenarios } from './highload-scenarios.js';
import { jettonScenarios } from './jetton-scenarios.js';
import { base64, Ledger } from './ledger.js';
import { messageScenarios } from './message-scenarios.js';
import { multisigScenarios } from './multisig-scenarios.js';
import { nftScenarios } from './nft-scenarios.js';
import { refusalScenarios } from './refusal-scenarios.js';
import { currencies, expectSameTrace, expectSameTransaction } from './same-trace.js';
import { Stage } from './stage.js';
import { tonwebScenarios } from './tonweb-scenarios.js';
import { walletScenarios } from './wallet-scenarios.js';

const TABLES_MS = 15_000;
const POLL_MS = 300;

type Tables = (ledger: Ledger) => Promise<string>;

/**
 * What people do, with their clients, on a local network: sent over API v2, read over API v3, and compared with the blocks and
 * states that the network exports.
 *
 * @param packages folder with tonweb and @ton/blueprint
 */
export async function checkScenarios(packages: string, report: CheckReport): Promise<void> {
  const network = await LocalNetwork.start();
  try {
    const stage = new Stage(network);
    const tables: (readonly [string, Tables])[] = [];
    const play = (name: string, run: () => Promise<Tables | null>) =>
      report.check(`scenario: ${name}`, async () => {
        const compare = await run();
        if (compare !== null) tables.push([name, compare]);
        return 'all sent, and complete in API v3';
      });
    // Those at once use wallets of their own.
    await Promise.all([
      play('messages', () => messageScenarios(stage)),
      play('jetton', () => jettonScenarios(stage)),
      play('NFT', () => nftScenarios(stage)),
      play('multisig', () => multisigScenarios(stage)),
    ]);
    await Promise.all([
      play('wallets', () => walletScenarios(stage)),
      play('highload', () => highloadScenarios(stage)),
    ]);
    await play('tonweb', () => tonwebScenarios(stage, packages));
    await play('@ton/blueprint', () => blueprintScenarios(stage, packages, report));
    await refusalScenarios(stage, report);
    await checkFirstSteps(stage, report);
    await network.control('pause');
    const ledger = new Ledger((await network.truth()).truth);
    await stage.v3.reaches(ledger.head);
    for (const { name, messageHash, trace, holds } of stage.sent) {
      await report.check(name, async () => {
        const root = ledger.transactionOf(messageHash);
        const said = holds(root);
        expectSameTrace(root, trace);
        return said;
      });
    }
    for (const [name, compare] of tables)
      await report.check(`tables of API v3: ${name}`, () => inTime(() => compare(ledger)));
    await report.check('account states of API v3', () => checkAccounts(stage, ledger));
    await report.check('all transactions of API v3', () => checkTransactions(stage, ledger));
  } finally {
    await network.close();
  }
}

/** Contracts are looked at some time after their block is indexed: tries again while what is found differs. */
async function inTime(compare: () => Promise<string>): Promise<string> {
  for (const until = Date.now() + TABLES_MS; ; await delay(POLL_MS)) {
    try {
      return await compare();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

async function checkAccounts({ v3, accounts }: Stage, ledger: Ledger): Promise<string> {
  for (const [name, address] of accounts) {
    const found = await v3.row('accountStates', 'accounts', { address: name });
    const held = ledger.account(address);
    if (held === null) throw new Error(`${name} is in no state`);
    const { account, lastTransactionLt, lastTransactionHash } = held.shardAccount;
    const { balance, state } = account!.storage;
    const active = state.type === 'active' ? state.state : null;
    expectSame(
      {
        account_state_hash: base64(held.cell),
        balance: `${balance.coins}`,
        extra_currencies: currencies(balance.other),
        status: state.type,
        last_transaction_lt: `${lastTransactionLt}`,
        last_transaction_hash: Buffer.from(lastTransactionHash.toString(16).padStart(64, '0'), 'hex').toString(
          'base64',
        ),
        code_hash: active?.code ? base64(active.code) : null,
        data_hash: active?.data ? base64(active.data) : null,
      },
      {
        account_state_hash: found.account_state_hash!,
        balance: found.balance!,
        extra_currencies: found.extra_currencies!,
        status: found.status!,
        last_transaction_lt: found.last_transaction_lt!,
        last_transaction_hash: found.last_transaction_hash!,
        code_hash: found.code_hash ?? null,
        data_hash: found.data_hash ?? null,
      },
      name,
    );
  }
  return `${accounts.size} accounts`;
}

async function checkTransactions({ v3 }: Stage, ledger: Ledger): Promise<string> {
  const rows = await v3.rows('transactions', 'transactions', { sort: 'asc' });
  const found = new Map(rows.map((row: JsonObject) => [row.hash as string, row]));
  expectSame(ledger.transactions.length, rows.length, 'how many');
  for (const each of ledger.transactions) {
    const row = found.get(each.hash);
    if (row === undefined) throw new Error(`there is no ${each.hash}`);
    expectSameTransaction(each, row);
  }
  return `${rows.length} transactions`;
}
