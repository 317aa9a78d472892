import { Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CoreChain, coreChain } from '#test/contract/against-chain/core-chain.js';
import { type CoreAccount, partsOf, stateJson } from '#test/contract/against-chain/core-states.js';
import { type Json, V3Client } from '#test/contract/against-chain/v3-client.js';
import { FULL } from '#test/support/full-depth.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { vectorPath } from '#test/support/vector-files.js';

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net');

const DEV = { name: 'dev_chain', folder: DEV_CHAIN, to: null, globalVersion: 13 };

/** The whole of the large one takes minutes; its tables are compared elsewhere. */
const CHAINS = [
  { name: 'mainnet_genesis', folder: genesis, to: null, globalVersion: 0 },
  DEV,
  ...(FULL ? [{ name: 'recorded_net', folder: `${recorded}/chain`, to: 1060, globalVersion: 13 }] : []),
];

describe.each(CHAINS)('all that @ton/core reads in the files of $name is answered:', ({ name, folder, ...options }) => {
  let served: ServedV3;
  let client: V3Client;
  let chain: CoreChain;

  beforeAll(async () => {
    served = await serveV3({ name, folder, to: options.to });
    client = new V3Client(served.url);
    chain = coreChain(folder, options);
  }, 600_000);
  afterAll(() => served?.close());

  it('blocks', async () => {
    const found = await client.all('blocks?sort=asc', 'blocks');
    const nameOf = ({ workchain, shard, seqno }: Json) => `${workchain}:${shard}:${seqno}`;
    expectSame(
      found,
      chain.blocks.map(({ json }) => json),
      nameOf,
    );
    const { body } = await client.ask('masterchainInfo');
    const masterchain = chain.blocks.filter(({ workchain }) => workchain === -1);
    expect(body).toEqual({ last: masterchain.at(-1)!.json, first: masterchain[0]!.json });
  });

  it('transactions', async () => {
    const found = await client.all('transactions?sort=asc', 'transactions');
    for (const transaction of found) {
      for (const message of [transaction.in_msg, ...transaction.out_msgs]) withoutMeaning(message);
    }
    expectSame(
      found,
      chain.transactions.map(({ json }) => json),
      ({ hash }) => hash,
    );
  });

  it('messages', async () => {
    const found = await client.all('messages?sort=asc', 'messages');
    for (const message of found) withoutMeaning(message);
    const expected = chain.messages.map(({ json, sender, receiver }) => ({
      ...json,
      ...(sender === null ? {} : { out_msg_tx_hash: sender.hash }),
      ...(receiver === null ? {} : { in_msg_tx_hash: receiver.hash }),
    }));
    expectSame(found, expected, ({ hash }) => hash);
  });

  it('accounts', async () => {
    const balances = await client.all('topAccountsByBalance?offset=0', '');
    const amounts = balances.map(({ balance }) => BigInt(balance));
    expect(amounts.every((amount, i) => i === 0 || amount <= amounts[i - 1]!)).toBe(true);
    const known = chain.accounts.map((account) => ({ account, state: stateJson(account) }));
    expect(new Map(balances.map(({ account, balance }) => [account, balance]))).toEqual(
      new Map(known.map(({ account, state }) => [account.address, state.balance])),
    );
    const found: Json[] = [];
    for (let at = 0; at < known.length; at += 200) {
      const asked = known.slice(at, at + 200).map(({ account }) => account.address);
      found.push(...(await client.ask(`accountStates?address=${asked.join()}`)).body.accounts);
    }
    for (const one of found) {
      delete one.contract_methods;
      delete one.interfaces;
      for (const name of ['data_boc', 'code_boc']) if (name in one) one[name] = hashOfBoc(one[name]);
    }
    expectSame(
      found,
      known.map(({ account, state }) => accountJson(account, state)),
      ({ address }) => address,
    );
  });
});

/** As `/accountStates` shows an account, with hashes in place of code and data. */
function accountJson(account: CoreAccount, { hash, account_status, ...state }: Json): Json {
  const { code, data } = partsOf(account);
  const hashOf = (cell: Cell | null) => cell?.hash().toString('base64') ?? null;
  const members = {
    ...state,
    address: account.address,
    account_state_hash: hash,
    status: account_status,
    last_transaction_hash: account.last_trans_hash,
    last_transaction_lt: String(account.last_trans_lt),
    data_boc: hashOf(data),
    code_boc: hashOf(code),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** Takes what bodies mean out of a message, and puts hashes in place of cells. */
function withoutMeaning(message: Json): void {
  if (message === null) return;
  delete message.decoded_opcode;
  delete message.message_content.decoded;
  for (const part of [message.message_content, message.init_state]) {
    if (part === null) continue;
    expect(hashOfBoc(part.body)).toBe(part.hash);
    delete part.body;
  }
}

function hashOfBoc(boc: string): string {
  return Cell.fromBase64(boc).hash().toString('base64');
}

/** The same things, whatever their order. */
function expectSame(found: readonly Json[], expected: readonly Json[], nameOf: (one: Json) => string): void {
  const byName = new Map(found.map((one) => [nameOf(one), one]));
  expect(byName.size, 'each once').toBe(found.length);
  for (const one of expected) expect(byName.get(nameOf(one)), nameOf(one)).toEqual(one);
  expect(found.length).toBe(expected.length);
}
