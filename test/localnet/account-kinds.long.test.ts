import { readFileSync } from 'node:fs';
import {
  Address,
  beginCell,
  Cell,
  contractAddress,
  Dictionary,
  external,
  internal,
  SendMode,
  type StateInit,
  storeMessage,
  storeMessageRelaxed,
  storeStateInit,
  toNano,
} from '@ton/core';
import { type KeyPair, keyPairFromSeed, sign } from '@ton/crypto';
import { TonClient, WalletContractV3R2, WalletContractV5Beta } from '@ton/ton';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNetwork, type TestNetwork } from '#app/testing/create-network.js';
import { publicKeyText } from '#domain/contracts/payment-channel.js';
import { vectorPath } from '#test/support/vector-files.js';

/* Contracts that API v2 distinguishes, each deployed and used on a local network as on any other. */

const keys: KeyPair = keyPairFromSeed(Buffer.alloc(32, 7));
const payer = `0:${'0f'.repeat(32)}`;
const receiver = new Address(0, Buffer.alloc(32, 0x0e));

let network: TestNetwork;
let client: TonClient;
beforeAll(async () => {
  network = await createNetwork();
  client = new TonClient({ endpoint: network.endpoint });
});
afterAll(async () => network?.stop());

function codeFrom(path: string): Cell {
  return Cell.fromBoc(readFileSync(vectorPath(path)))[0]!;
}

/** Answers have any form. */
type Answer = any;

async function ask(method: string, address: Address): Promise<Answer> {
  const { ok, result, error } = (await (
    await fetch(`${network.url}/api/v2/${method}?address=${address.toString()}`)
  ).json()) as Answer;
  expect([ok, error], method).toEqual([true, undefined]);
  return result;
}

async function kindOf(address: Address): Promise<Answer> {
  const { account_state, revision } = await ask('getExtendedAddressInformation', address);
  return { ...account_state, revision };
}

/** Deploys a contract by a message with coins. */
async function deploy(init: StateInit, workchain = 0, amount = toNano('10')): Promise<Address> {
  const address = contractAddress(workchain, init);
  await network.impersonate({
    ...{ from: payer, to: address.toRawString(), amount, bounce: false },
    init: beginCell().store(storeStateInit(init)).endCell().toBoc(),
  });
  expect(await ask('getAddressState', address)).toBe('active');
  return address;
}

/** Sends an external-in message, and returns when its block is there. */
async function sendExternal(to: Address, body: Cell): Promise<void> {
  const message = beginCell().store(storeMessage(external({ to, body })));
  await client.sendFile(message.endCell().toBoc());
  await network.mine(2);
}

const payment = (amount: bigint) =>
  beginCell()
    .store(storeMessageRelaxed(internal({ to: receiver, value: amount, bounce: false })))
    .endCell();

function signed(body: Cell): Cell {
  return beginCell().storeBuffer(sign(body.hash(), keys.secretKey)).storeSlice(body.beginParse()).endCell();
}

/** What the receiver gets while something runs. */
async function received(run: () => Promise<void>): Promise<bigint> {
  const before = BigInt(await ask('getAddressBalance', receiver));
  await run();
  return BigInt(await ask('getAddressBalance', receiver)) - before;
}

/** What arrives, as storage is paid for from it. */
const about = (amount: bigint) => expect.toSatisfy((value: bigint) => value <= amount && value > amount - 1_000_000n);

describe('an account of a local network', () => {
  // Its code is a library cell of mainnet, whose library is not published as a file: it is deployed, and cannot run here.
  it('is a wallet v5 beta', async () => {
    const wallet = WalletContractV5Beta.create({ publicKey: keys.publicKey });
    const address = await deploy(wallet.init);
    expect(address.equals(wallet.address)).toBe(true);
    expect(await ask('getWalletInformation', address)).toMatchObject({
      ...{ wallet: true, wallet_type: 'wallet v5 beta', seqno: 0, wallet_id: -239, is_signature_allowed: true },
    });
    expect(await kindOf(address)).toMatchObject({ '@type': 'raw.accountState', revision: 0 });
    const call = await fetch(`${network.url}/api/v2/runGetMethod`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ address: address.toString(), method: 'seqno', stack: [] }),
    });
    expect(((await call.json()) as Answer).result.exit_code).toBe(9);
  });

  it('is a highload wallet v2', async () => {
    const code = codeFrom('collection/contracts/wallets/highload_v2r1/testdata/WalletHighloadV2r1.boc');
    const data = beginCell().storeUint(77, 32).storeUint(0, 64).storeBuffer(keys.publicKey).storeBit(false).endCell();
    const address = await deploy({ code, data });
    const messages = Dictionary.empty(Dictionary.Keys.Int(16), Dictionary.Values.Cell());
    const listed = (amount: bigint) => beginCell().storeUint(3, 8).storeRef(payment(amount)).endCell();
    const entry = { serialize: (cell: Cell, to: any) => to.storeSlice(cell.beginParse()), parse: () => Cell.EMPTY };
    for (let i = 0; i < 5; i++) messages.set(i, listed(toNano('0.2')));
    const query = (BigInt((await network.now()) + 60) << 32n) + 1n;
    const list = beginCell().storeDict(messages, Dictionary.Keys.Int(16), entry);
    const body = beginCell().storeUint(77, 32).storeUint(query, 64).storeBuilder(list);
    expect(await received(() => sendExternal(address, signed(body.endCell())))).toEqual(about(toNano('1')));
    expect(await kindOf(address)).toEqual({
      ...{ '@type': 'wallet.highload.v2.accountState', wallet_id: 77, revision: 1 },
    });
    expect(await ask('getWalletInformation', address)).toMatchObject({ wallet: false });
  });

  it('is a highload wallet v3', async () => {
    const code = codeFrom('collection/contracts/wallets/highload_v3r1/testdata/WalletHighloadV3r1.boc');
    const data = beginCell().storeBuffer(keys.publicKey).storeUint(78, 32).storeUint(0, 66).storeUint(3600, 22);
    const address = await deploy({ code, data: data.endCell() });
    const query = beginCell()
      .storeUint(78, 32)
      .storeRef(payment(toNano('2')))
      .storeUint(3, 8)
      .storeUint(1, 23);
    const order = query
      .storeUint((await network.now()) - 60, 64)
      .storeUint(3600, 22)
      .endCell();
    const body = beginCell().storeBuffer(sign(order.hash(), keys.secretKey)).storeRef(order).endCell();
    expect(await received(() => sendExternal(address, body))).toEqual(about(toNano('2')));
    expect(await kindOf(address)).toMatchObject({ '@type': 'raw.accountState', frozen_hash: '', revision: 0 });
    const { stack } = await client.runMethod(address, 'processed?', [
      { type: 'int', value: 1n },
      { type: 'int', value: 0n },
    ]);
    expect(stack.readNumber()).toBe(-1);
  });

  it('is a manual DNS', async () => {
    const code = codeFrom('scenarios/manual-dns.boc');
    const data = beginCell().storeUint(79, 32).storeUint(0, 64).storeBuffer(keys.publicKey).storeUint(0, 2).endCell();
    const address = await deploy({ code, data });
    expect(await kindOf(address)).toEqual({ '@type': 'dns.accountState', wallet_id: 79, revision: 1 });
    const name = beginCell().storeBuffer(Buffer.from('name\0')).endCell();
    const { stack } = await client.runMethod(address, 'dnsresolve', [
      { type: 'slice', cell: name },
      { type: 'int', value: 0n },
    ]);
    expect(stack.readNumber()).toBe(0);
  });

  it('is a restricted wallet, whose locked coins do not leave', async () => {
    const code = codeFrom('scenarios/restricted-wallet.boc');
    const start = (await network.now()) - 100;
    const limits = Dictionary.empty(Dictionary.Keys.Int(32), Dictionary.Values.BigVarUint(4));
    limits.set(0, toNano('6')).set(1_000_000, toNano('2'));
    const data = beginCell().storeUint(1, 32).storeUint(80, 32).storeBuffer(keys.publicKey);
    const address = await deploy({ code, data: data.storeUint(start, 32).storeDict(limits).endCell() });
    const order = async (seqno: number, amount: bigint) => {
      const until = (await network.now()) + 60;
      const body = beginCell().storeUint(80, 32).storeUint(until, 32).storeUint(seqno, 32).storeUint(3, 8);
      return signed(body.storeRef(payment(amount)).endCell());
    };
    expect(await received(async () => sendExternal(address, await order(1, toNano('3'))))).toEqual(about(toNano('3')));
    const kind = await kindOf(address);
    expect(kind).toMatchObject({
      ...{ '@type': 'rwallet.accountState', wallet_id: 80, seqno: 2, revision: 1 },
      config: {
        '@type': 'rwallet.config',
        start_at: start,
        limits: [
          { '@type': 'rwallet.limit', seconds: 0, value: 6_000_000_000 },
          { '@type': 'rwallet.limit', seconds: 1_000_000, value: 2_000_000_000 },
        ],
      },
    });
    expect(BigInt(kind.unlocked_balance)).toEqual(about(toNano('1')));
    expect(BigInt(kind.unlocked_balance)).toBe(BigInt(await ask('getAddressBalance', address)) - toNano('6'));
    await expect(received(async () => sendExternal(address, await order(2, toNano('5'))))).resolves.toBe(0n);
  });

  it('is a payment channel', async () => {
    const side = (address: Address) => beginCell().storeAddress(address).endCell();
    const bob = new Address(-1, Buffer.alloc(32, 0x22));
    const config = beginCell().storeUint(3600, 32).storeUint(7200, 32);
    config.storeBuffer(keys.publicKey).storeBuffer(Buffer.alloc(32, 0xbb)).storeRef(side(receiver)).storeRef(side(bob));
    const state = beginCell().storeUint(0, 3).storeBit(true).storeBit(false).storeCoins(1).storeCoins(0);
    state.storeUint(1_795_000_000, 32).storeCoins(toNano('3')).storeCoins(toNano('4'));
    const data = beginCell().storeRef(config.storeUint(81, 64).storeCoins(0).endCell()).storeRef(state.endCell());
    const address = await deploy({ code: codeFrom('scenarios/payment-channel.boc'), data: data.endCell() });
    expect(await kindOf(address)).toEqual({
      '@type': 'pchan.accountState',
      config: {
        '@type': 'pchan.config',
        alice_public_key: publicKeyText(keys.publicKey),
        alice_address: { '@type': 'accountAddress', account_address: receiver.toString() },
        bob_public_key: 'Pua7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7uw0q',
        bob_address: { '@type': 'accountAddress', account_address: bob.toString() },
        ...{ init_timeout: 3600, close_timeout: 7200, channel_id: 81 },
      },
      state: {
        ...{ '@type': 'pchan.stateInit', signed_A: true, signed_B: false, min_A: 1, min_B: 0 },
        ...{ expire_at: 1_795_000_000, A: 3_000_000_000, B: 4_000_000_000 },
      },
      description: expect.stringContaining('(chan_state_init signed_A:1 signed_B:0\n  min_A:(nanograms'),
      revision: -1,
    });
    expect((await ask('getAddressInformation', address)).state).toBe('active');
  });

  it('is frozen when it could not pay for its storage', async () => {
    const wallet = WalletContractV3R2.create({ workchain: -1, publicKey: keys.publicKey });
    const address = await deploy(wallet.init, -1, toNano('1'));
    const body = wallet.createTransfer({
      ...{ seqno: 0, secretKey: keys.secretKey, sendMode: SendMode.PAY_GAS_SEPARATELY },
      messages: [internal({ to: receiver, value: 1n, bounce: false })],
    });
    await sendExternal(address, body);
    const { code, data } = await ask('getAddressInformation', address);
    await network.advanceTime(10 * 365 * 86_400);
    await network.impersonate({ from: payer, to: address.toRawString(), amount: 1, bounce: false });
    const init = { code: Cell.fromBase64(code), data: Cell.fromBase64(data) };
    const frozen_hash = contractAddress(-1, init).hash.toString('base64');
    expect(await ask('getAddressState', address)).toBe('frozen');
    expect(await ask('getAddressInformation', address)).toMatchObject({
      ...{ state: 'frozen', frozen_hash, code: '', data: '', balance: '0' },
    });
    expect(await kindOf(address)).toEqual({ '@type': 'uninited.accountState', frozen_hash, revision: 0 });
    expect(await ask('getWalletInformation', address)).toMatchObject({ wallet: false, account_state: 'frozen' });
  });
});
