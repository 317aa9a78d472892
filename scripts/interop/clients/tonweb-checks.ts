import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import type { Json, JsonObject } from '../tonlib-session.js';
import type { ClientTruth } from './client-truth.js';

/** The part of tonweb that is used; the package has types of its own only for browsers. */
interface Provider {
  getAddressInfo(address: string): Promise<JsonObject>;
  getExtendedAddressInfo(address: string): Promise<JsonObject>;
  getWalletInfo(address: string): Promise<JsonObject>;
  getTransactions(address: string, limit?: number, lt?: string, hash?: string, toLt?: string): Promise<JsonObject[]>;
  getBalance(address: string): Promise<string>;
  sendBoc(base64: string): Promise<Json>;
  getEstimateFee(query: JsonObject): Promise<JsonObject>;
  call(address: string, method: string, params?: Json[]): Promise<JsonObject>;
  call2(address: string, method: string, params?: Json[]): Promise<{ toString(): string }>;
  getConfigParam(id: number): Promise<{ hash(): Promise<Uint8Array> }>;
  getMasterchainInfo(): Promise<{ last: { seqno: number } }>;
  getBlockShards(seqno: number): Promise<{ shards: JsonObject[] }>;
  getBlockTransactions(workchain: number, shard: string, seqno: number): Promise<{ transactions: JsonObject[] }>;
  getMasterchainBlockTransactions(seqno: number): Promise<JsonObject>;
  getBlockHeader(workchain: number, shard: string, seqno: number): Promise<JsonObject>;
  getMasterchainBlockHeader(seqno: number): Promise<JsonObject>;
}

type TonWeb = { readonly HttpProvider: new (host: string) => Provider };

const ELECTOR = `-1:${'3'.repeat(64)}`;

/** A bag of one empty cell. */
const EMPTY_CELL = 'te6cckEBAQEAAgAAAEysuc0=';

/** Every method of tonweb's HttpProvider. */
export async function checkTonweb(packages: string, url: string, truth: ClientTruth, report: CheckReport) {
  const tonweb = createRequire(join(packages, 'package.json'))('tonweb') as TonWeb;
  const provider = new tonweb.HttpProvider(`${url}/toncenter/api/v2/jsonRPC`);
  const check = (name: string, run: () => Promise<string>) => report.check(`tonweb: ${name}`, run);
  await check('account states', () => checkAccounts(provider, truth));
  await check('blocks', () => checkBlocks(provider, truth));
  await check('history of an account', async () => {
    const { history } = truth;
    const found = await provider.getTransactions(history[0]!.account, 100);
    const ids = found.map(({ transaction_id }) => String((transaction_id as JsonObject).hash));
    expectSame(
      history.map(({ hash }) => hash),
      ids,
      'hashes',
    );
    return `${found.length} transactions`;
  });
  await check('get-methods', async () => {
    const { exit_code, stack } = await provider.call(ELECTOR, 'compute_returned_stake', [['num', '5']]);
    expectSame({ exit_code: 0, stack: [['num', '0x0']] }, { exit_code, stack }, 'answer');
    expectSame('0', String(await provider.call2(ELECTOR, 'compute_returned_stake', [['num', 5]])), 'number');
    return 'of the elector';
  });
  await check('configuration', async () => {
    for (const id of [0, 8, 15, 34]) {
      const cell = await provider.getConfigParam(id);
      expectSame(truth.config_params[id], Buffer.from(await cell.hash()).toString('base64'), `parameter ${id}`);
    }
    return '4 parameters';
  });
  await check('a fee', async () => {
    const account = truth.accounts.find(({ state, address }) => state === 'active' && address.startsWith('0:'))!;
    const body = EMPTY_CELL;
    const query = { address: account.address, body, init_code: '', init_data: '', ignore_chksig: true };
    const { source_fees } = await provider.getEstimateFee(query);
    expectSame('number', typeof (source_fees as JsonObject).gas_fee, 'type of the fee');
    return JSON.stringify(source_fees);
  });
  await check('a message that is refused', async () => {
    const refusal = await provider.sendBoc('te6c').then(
      () => null,
      (reason: Json) => reason,
    );
    expectSame('string', typeof refusal, 'type of the reason');
    return String(refusal);
  });
}

async function checkAccounts(provider: Provider, truth: ClientTruth): Promise<string> {
  for (const account of truth.accounts) {
    const { address, balance, state, last_lt, last_hash } = account;
    const info = await provider.getAddressInfo(address);
    expectSame({ balance, state }, { balance: String(info.balance), state: info.state }, address);
    const { lt, hash } = info.last_transaction_id as JsonObject;
    expectSame({ last_lt, last_hash }, { last_lt: lt, last_hash: hash }, address);
    const extended = await provider.getExtendedAddressInfo(address);
    expectSame(balance, String(extended.balance), `extended balance of ${address}`);
    const wallet = await provider.getWalletInfo(address);
    expectSame(state, wallet.account_state, `state of ${address} as a wallet`);
    expectSame(balance, await provider.getBalance(address), `balance of ${address}`);
  }
  return `${truth.accounts.length} accounts, four ways`;
}

async function checkBlocks(provider: Provider, truth: ClientTruth): Promise<string> {
  const { last } = await provider.getMasterchainInfo();
  expectSame(truth.head.seqno, last.seqno, 'seqno of the head');
  const { shards } = await provider.getBlockShards(last.seqno);
  const listed = shards.map(({ workchain, shard, seqno }) => ({ workchain, shard, seqno }));
  expectSame(truth.shards as unknown as Json, listed as Json, 'shards');
  const { workchain, shard, seqno, start_lt, end_lt, transactions } = truth.block;
  const header = await provider.getBlockHeader(workchain, shard, seqno);
  expectSame({ start_lt, end_lt }, { start_lt: header.start_lt, end_lt: header.end_lt }, 'header');
  const block = await provider.getBlockTransactions(workchain, shard, seqno);
  expectSame(transactions.length, block.transactions.length, 'number of transactions');
  await provider.getMasterchainBlockTransactions(last.seqno);
  const head = await provider.getMasterchainBlockHeader(last.seqno);
  expectSame(truth.head.root_hash, (head.id as JsonObject).root_hash, 'root hash of the head');
  return `head ${last.seqno}, ${shards.length} shards, ${transactions.length} transactions`;
}
