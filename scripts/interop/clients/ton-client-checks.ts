import { Address, beginCell, Cell, internal, toNano } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { TonClient, WalletContractV4 } from '@ton/ton';
import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import type { ClientTruth, TransactionTruth } from './client-truth.js';

const ELECTOR = `-1:${'3'.repeat(64)}`;

/** Every method of TonClient of the npm package @ton/ton. */
export async function checkTonClient(url: string, truth: ClientTruth, report: CheckReport): Promise<void> {
  const client = new TonClient({ endpoint: `${url}/api/v2/jsonRPC`, timeout: 20_000 });
  const check = (name: string, run: () => Promise<string>) => report.check(`@ton/ton: ${name}`, run);
  await check('account states', () => checkAccounts(client, truth));
  await check('blocks', () => checkBlocks(client, truth));
  await check('history of an account', () => checkHistory(client, truth));
  await check('the two ends of a message', async () => {
    const { source, destination, created_lt, sent_by, taken_by } = truth.message;
    const [from, to] = [Address.parse(source), Address.parse(destination)];
    const taken = await client.tryLocateResultTx(from, to, created_lt);
    expectSame(taken_by.hash, taken.hash().toString('base64'), 'taken by');
    const sent = await client.tryLocateSourceTx(from, to, created_lt);
    expectSame(sent_by.hash, sent.hash().toString('base64'), 'sent by');
    return `message of lt ${created_lt}`;
  });
  await check('get-methods', () => checkGetMethods(client, truth));
  await check('a fee', () => checkFee(client, truth));
  await check('messages that are refused', () => checkRefusals(client));
}

async function checkAccounts(client: TonClient, truth: ClientTruth): Promise<string> {
  for (const account of truth.accounts) {
    const address = Address.parse(account.address);
    const state = await client.getContractState(address);
    const found = {
      balance: String(state.balance),
      state: state.state,
      code_hash: hashOf(state.code),
      data_hash: hashOf(state.data),
      last_lt: state.lastTransaction?.lt ?? '0',
      last_hash: state.lastTransaction?.hash ?? Buffer.alloc(32).toString('base64'),
    };
    const { address: _, ...expected } = account;
    expectSame(expected, found, account.address);
    expectSame(truth.head.seqno, state.blockId.seqno, 'block');
    expectSame(account.balance, String(await client.getBalance(address)), 'balance');
    expectSame(account.state === 'active', await client.isContractDeployed(address), 'whether it is deployed');
    const provided = await client.provider(address).getState();
    expectSame(account.balance, String(provided.balance), 'balance of the provider');
  }
  return `${truth.accounts.length} accounts`;
}

function hashOf(boc: Buffer | null): string {
  return boc === null ? '' : Cell.fromBoc(boc)[0]!.hash().toString('base64');
}

async function checkBlocks(client: TonClient, truth: ClientTruth): Promise<string> {
  const info = await client.getMasterchainInfo();
  expectSame(truth.head.seqno, info.latestSeqno, 'seqno of the head');
  const shards = await client.getWorkchainShards(truth.head.seqno);
  expectSame(truth.shards, shards, 'shards');
  const { workchain, seqno, shard, transactions } = truth.block;
  const found = await client.getShardTransactions(workchain, seqno, shard);
  const listed = found.map(({ account, lt, hash }) => ({ account: account.toRawString(), lt, hash }));
  expectSame(idsOf(transactions), idsOf(listed), 'transactions of a block');
  return `head ${info.latestSeqno}, ${shards.length} shards, ${found.length} transactions`;
}

function idsOf(transactions: readonly TransactionTruth[]): string[] {
  return transactions.map(({ account, lt, hash }) => `${account} ${lt} ${hash}`);
}

async function checkHistory(client: TonClient, truth: ClientTruth): Promise<string> {
  const { history } = truth;
  const address = Address.parse(history[0]!.account);
  const all = await client.getTransactions(address, { limit: 100 });
  const ids = all.map((each) => ({ account: address.toRawString(), lt: String(each.lt), hash: base64(each.hash()) }));
  expectSame(idsOf(history), idsOf(ids), 'the whole');
  const { lt, hash } = history[2]!;
  const after = await client.getTransactions(address, { limit: 3, lt, hash, archival: true });
  expectSame(
    history.slice(3, 6).map((each) => each.hash),
    after.map((each) => base64(each.hash())),
    'from the third on',
  );
  const from = await client.getTransactions(address, { limit: 3, lt, hash, inclusive: true, to_lt: history[4]!.lt });
  expectSame(
    history.slice(2, 4).map((each) => each.hash),
    from.map((each) => base64(each.hash())),
    'the third and fourth',
  );
  const one = await client.getTransaction(address, lt, hash);
  expectSame(hash, one === null ? '' : base64(one.hash()), 'one');
  return `${history.length} transactions`;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64');
}

async function checkGetMethods(client: TonClient, truth: ClientTruth): Promise<string> {
  const elector = Address.parse(ELECTOR);
  const { stack } = await client.runMethod(elector, 'compute_returned_stake', [{ type: 'int', value: 5n }]);
  expectSame('0', String(stack.readBigNumber()), 'stake of nobody');
  const called = await client.callGetMethod(elector, 'compute_returned_stake', [{ type: 'int', value: 5n }]);
  expectSame('0', String(called.stack.readBigNumber()), 'stake of nobody, the old way');
  const missing = await client.runMethodWithError(elector, 'no_such_method');
  expectSame(11, missing.exit_code, 'exit code of a method that there is not');
  const failed = await client.callGetMethodWithError(elector, 'compute_returned_stake', [{ type: 'int', value: 5n }]);
  expectSame('0', String(failed.stack.readBigNumber()), 'stake of nobody, with exit code');
  const slice = beginCell().storeAddress(elector).endCell();
  await client
    .runMethodWithError(elector, 'participates_in', [
      { type: 'slice', cell: slice },
      { type: 'cell', cell: slice },
      { type: 'null' },
      { type: 'tuple', items: [{ type: 'int', value: -1n }] },
    ])
    .catch((error: Error) => {
      // This client sends nulls and tuples in no form that it names; the server must refuse them in words.
      if (!/unsupported|stack/i.test(error.message)) throw error;
    });
  expectSame(true, truth.accounts.length > 0, 'accounts');
  return 'of the elector';
}

async function checkFee(client: TonClient, truth: ClientTruth): Promise<string> {
  const account = truth.accounts.find(({ state, address }) => state === 'active' && address.startsWith('0:'));
  const { source_fees } = await client.estimateExternalMessageFee(Address.parse(account!.address), {
    body: beginCell().storeUint(1, 32).endCell(),
    initCode: null,
    initData: null,
    ignoreSignature: true,
  });
  expectSame(true, source_fees.in_fwd_fee > 0, 'that the import costs something');
  return `${source_fees.in_fwd_fee} nanotons to import`;
}

/** The recorded chain takes no messages: what matters is that the client gets an error it understands. */
async function checkRefusals(client: TonClient): Promise<string> {
  const keys = keyPairFromSeed(Buffer.alloc(32, 7));
  const wallet = client.open(WalletContractV4.create({ workchain: 0, publicKey: keys.publicKey }));
  expectSame(0, await wallet.getSeqno(), 'seqno of a wallet that is not deployed');
  const transfer = wallet.createTransfer({
    seqno: 0,
    secretKey: keys.secretKey,
    messages: [internal({ to: wallet.address, value: toNano('0.1'), body: 'hello' })],
  });
  for (const send of [
    () => wallet.send(transfer),
    () => client.sendExternalMessage(wallet, transfer),
    () => client.sendFile(Buffer.from([7])),
  ]) {
    const problem = await send().then(
      () => null,
      (error: { response?: { status: number; data: { ok: boolean; error: string } } }) => error,
    );
    if (problem === null) throw new Error('a message was taken');
    expectSame(false, problem.response?.data.ok ?? null, 'ok of a refusal');
    expectSame('string', typeof problem.response?.data.error, 'type of the reason');
  }
  return 'three ways of sending';
}
