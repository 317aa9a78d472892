import {
  beginCell,
  Address as CoreAddress,
  Cell as CoreCell,
  loadMessage,
  storeMessage,
  storeStateInit,
} from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';
import { FakeLocalNode, fakeBlock, fakeFaucet, fakeNodeErrors, fakeWallet } from '#test/support/fake-local-node.js';
import { serveFakeNode } from '#test/support/served-local-node.js';

const RAW = `0:${'12'.repeat(32)}`;
const OTHER = `-1:${'34'.repeat(32)}`;

let server: HttpServer;
let node: FakeLocalNode;

beforeAll(async () => {
  node = new FakeLocalNode();
  // What it is asked goes to the node of the test that runs.
  const current = new Proxy(node, {
    get: (_, name) => {
      const value = Reflect.get(node, name);
      return typeof value === 'function' ? value.bind(node) : value;
    },
  });
  server = await serveFakeNode(current);
});
beforeEach(() => {
  node = new FakeLocalNode();
});
afterAll(() => server.close());

async function call(method: string, body?: object | string): Promise<{ status: number; json: any }> {
  const init =
    body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };
  const response = await fetch(`${server.url}/localnet/${method}`, init);
  return { status: response.status, json: await response.json() };
}

const cell = (bits: number, value: number) => beginCell().storeUint(value, bits).endCell();
const boc = (of: CoreCell) => of.toBoc().toString('base64');

const head = (seqno: number) => ({
  workchain: -1,
  shard: '-9223372036854775808',
  seqno,
  root_hash: toBase64(fakeBlock(MASTERCHAIN_SHARD, seqno).root_hash),
  file_hash: toBase64(fakeBlock(MASTERCHAIN_SHARD, seqno).file_hash),
});

describe('what the network is', () => {
  it('status has the head, shards, time and how blocks are made', async () => {
    const { status, json } = await call('status');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      chain: 'chain-1',
      head: head(10),
      gen_utime: 1_763_699_999,
      now: 1_763_700_000,
      time_offset: 0,
      block_time: 400,
      mining: 'steady',
      paused: false,
      waiting_messages: 3,
      shards: [
        { workchain: 0, shard: '4611686018427387904', seqno: 15 },
        { workchain: 0, shard: '-4611686018427387904', seqno: 16 },
      ],
      fork: null,
    });
    node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
    expect((await call('status')).json.fork).toEqual({ source: 'mainnet', block: head(7) });
  });

  it('wallets have keys, ids and what they have now', async () => {
    node.balances.set(fakeWallet.address.toRaw(), 17n);
    const { json } = await call('wallets');
    expect(json.wallets).toHaveLength(2);
    const [faucet, wallet] = json.wallets;
    expect(faucet).toMatchObject({ version: 'highload-v3', mnemonic: null, balance: '1000000000000000' });
    const { publicKey } = (await import('@ton/crypto')).keyPairFromSeed(Buffer.from(fakeWallet.seed));
    expect(wallet).toEqual({
      version: 'v5r1',
      address: `0:${'5E'.repeat(32)}`,
      user_friendly: CoreAddress.parseRaw(fakeWallet.address.toRaw()).toString({ bounceable: false }),
      mnemonic: fakeWallet.mnemonic,
      public_key: publicKey.toString('hex'),
      seed: toHex(fakeWallet.seed),
      wallet_id: 2_147_483_409,
      balance: '17',
    });
  });
});

describe('the faucet', () => {
  it('sends nanotons, as text or as a number, with a comment or without', async () => {
    const { status, json } = await call('faucet', { address: RAW, amount: '12345678901234', comment: 'для тебя' });
    expect([status, json]).toEqual([200, { message_hash: toBase64(new Uint8Array(32).fill(0xab)), block: head(11) }]);
    const friendly = CoreAddress.parseRaw(OTHER).toString();
    expect((await call('faucet', { address: friendly, amount: 5 })).status).toBe(200);
    expect(node.calls).toEqual([
      ['fund', RAW, 12_345_678_901_234n, 'для тебя'],
      ['fund', OTHER, 5n, null],
    ]);
  });

  it('gives all that it has, and refuses more', async () => {
    const { balance } = fakeFaucet;
    const { status, json } = await call('faucet', { address: RAW, amount: String(balance + 1n) });
    expect(status).toBe(422);
    expect(json).toEqual({
      error: `parameter amount: ${balance + 1n} nanotons are more than the faucet has: ${balance}`,
      code: 422,
    });
    expect((await call('faucet', { address: RAW, amount: String(balance) })).status).toBe(200);
    expect((await call('faucet', { address: RAW, amount: '1' })).json.error).toContain('more than the faucet has: 0');
  });

  it('is a fault where there is none', async () => {
    node.funded = [fakeWallet];
    expect((await call('faucet', { address: RAW, amount: '1' })).status).toBe(500);
  });
});

describe('blocks and time', () => {
  it('mine makes one block, or as many as are wanted', async () => {
    expect((await call('mine', {})).json).toEqual({ block: head(11) });
    expect((await fetch(`${server.url}/localnet/mine`, { method: 'POST' })).status).toBe(200);
    expect((await call('mine', { blocks: 10_000 })).json.block.seqno).toBe(10_012);
    expect(node.calls).toEqual([
      ['mine', 1],
      ['mine', 1],
      ['mine', 10_000],
    ]);
  });

  it('pause, resume and block-time answer how it is then', async () => {
    expect((await call('pause', {})).json.paused).toBe(true);
    expect((await call('resume', {})).json.paused).toBe(false);
    expect((await call('mining', { mode: 'auto' })).json.mining).toBe('auto');
    expect((await call('block-time', { milliseconds: 1_500 })).json).toMatchObject({
      block_time: 1_500,
      mining: 'steady',
    });
  });

  it('time goes forward, as far as blocks can be', async () => {
    expect((await call('time', { advance: 3_600 })).json).toEqual({ block: head(11) });
    expect((await call('time', { speed: 0 })).status).toBe(200);
    expect((await call('status')).json.clock_speed).toBe(0);
    expect((await call('status')).json).toMatchObject({ time_offset: 3_600, now: 1_763_703_600 });
    for (let i = 0; i < 8; i++) expect((await call('time', { advance: 315_360_000 })).status).toBe(200);
    const { status, json } = await call('time', { advance: 315_360_000 });
    expect([status, json.error]).toEqual([422, expect.stringMatching(/^parameter advance: .* 4294967295/)]);
  });

  it('shards are named in either way', async () => {
    expect((await call('shards/split', { shard: '8000000000000000' })).json).toEqual({ block: head(11) });
    expect((await call('shards/merge', { workchain: 0, shard: '4611686018427387904' })).status).toBe(200);
    expect((await call('shards/merge', { shard: '-4611686018427387904' })).status).toBe(200);
    expect((await call('shards/split', { shard: '0xC000000000000000' })).status).toBe(200);
    expect(node.calls).toEqual([
      ['split', 0, 0x8000000000000000n],
      ['merge', 0, 0x4000000000000000n],
      ['merge', 0, 0xc000000000000000n],
      ['split', 0, 0xc000000000000000n],
    ]);
  });
});

describe('interventions', () => {
  it('an account gets a balance, code and data; null is none, and what is left out stays', async () => {
    const [code, data] = [cell(8, 1), cell(16, 2)];
    await call('account', { address: RAW, balance: 0, code: boc(code), data: data.toBoc().toString('hex') });
    await call('account', { address: RAW, code: null });
    await call('account', { address: RAW, data: null, balance: '9' });
    const changes = node.calls.map(([, , change]) => change as AccountOverride);
    expect(changes.map((change) => Object.keys(change).sort())).toEqual([
      ['balance', 'code', 'data'],
      ['code'],
      ['balance', 'data'],
    ]);
    const [all, codeOnly, both] = changes;
    expect(all!.balance).toBe(0n);
    expect(toHex(all!.code!.hash())).toBe(code.hash().toString('hex'));
    expect(toHex(all!.data!.hash())).toBe(data.hash().toString('hex'));
    expect(codeOnly!.code).toBeNull();
    expect(both).toEqual({ balance: 9n, data: null });
  });

  it('impersonate makes the message of its parts', async () => {
    const body = cell(32, 0xf8a7ea5);
    const init = { code: cell(8, 1), data: cell(8, 2) };
    const stateInit = beginCell().store(storeStateInit(init)).endCell();
    const given = { from: OTHER, to: RAW, amount: '1500000000', bounce: false, body: boc(body), init: boc(stateInit) };
    expect((await call('impersonate', given)).json).toMatchObject({ block: head(11) });
    expect((await call('impersonate', { from: RAW, to: OTHER, value: 0 })).status).toBe(200);
    const messages = node.calls.map(([, bytes]) =>
      loadMessage(CoreCell.fromBoc(Buffer.from(bytes as Uint8Array))[0]!.beginParse()),
    );
    const [whole, least] = messages;
    expect(whole!.info).toMatchObject({
      type: 'internal',
      bounce: false,
      bounced: false,
      value: { coins: 1_500_000_000n },
    });
    expect([String(whole!.info.src), String(whole!.info.dest)]).toEqual(
      [OTHER, RAW].map((raw) => String(CoreAddress.parseRaw(raw))),
    );
    expect(whole!.body.equals(body)).toBe(true);
    expect(whole!.init!.code!.equals(init.code)).toBe(true);
    expect(least!.info).toMatchObject({ bounce: true, value: { coins: 0n } });
    expect(least!.body.equals(CoreCell.EMPTY)).toBe(true);
    expect(least!.init).toBeNull();
  });

  it('impersonate passes a whole message on as it is', async () => {
    const message = beginCell()
      .store(
        storeMessage({
          info: {
            type: 'internal',
            ihrDisabled: true,
            bounce: true,
            bounced: true,
            src: CoreAddress.parseRaw(RAW),
            dest: CoreAddress.parseRaw(OTHER),
            value: { coins: 3n },
            ihrFee: 0n,
            forwardFee: 7n,
            createdLt: 5n,
            createdAt: 6,
          },
          body: cell(8, 9),
        }),
      )
      .endCell();
    expect((await call('impersonate', { message: boc(message) })).status).toBe(200);
    const [[, bytes]] = node.calls as [[string, Uint8Array]];
    expect(CoreCell.fromBoc(Buffer.from(bytes))[0]!.equals(message)).toBe(true);
  });

  it('seed says what there is, and what it made of it', async () => {
    const { status, json } = await call('seed', {});
    expect([status, json.block]).toEqual([200, head(11)]);
    expect(json.items).toEqual([
      {
        ...{ kind: 'dns_domain', name: 'example.ton', about: 'named by the wallet record', created: true, hash: null },
        address: `0:${'5E'.repeat(32)}`,
        user_friendly: fakeWallet.address.toFriendly(),
      },
      expect.objectContaining({ kind: 'library', created: false, hash: '0b'.repeat(32) }),
    ]);
    expect(node.known).toEqual([11]);
    const refused = await call('seed', { everything: true });
    expect([refused.status, refused.json.error]).toEqual([422, expect.stringContaining('everything')]);
  });

  it('config sets a parameter or takes it out', async () => {
    const version = encodeConfigParam(8, { version: 13, capabilities: 0n });
    expect((await call('config', { param: 8, value: toBase64(serializeBoc(version)) })).json).toEqual({
      block: head(11),
    });
    expect((await call('config', { param: -999, value: boc(cell(8, 1)) })).status).toBe(200);
    expect((await call('config', { param: 44, value: null })).status).toBe(200);
    const [version13, negative, removed] = node.calls;
    const [, index, bytes] = version13 as [string, number, Uint8Array];
    expect([index, negative![1]]).toEqual([8, -999]);
    expect(CoreCell.fromBoc(Buffer.from(bytes))[0]!.hash().toString('hex')).toBe(toHex(version.hash()));
    expect(removed).toEqual(['setConfigParam', 44, null]);
  });

  it('touch reports after which block an account is here', async () => {
    const refused = await call('touch', { address: RAW });
    expect([refused.status, refused.json.error]).toEqual([422, expect.stringContaining('not a fork')]);
    node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
    expect((await call('touch', { address: RAW })).json).toEqual({ block: null });
    node.foreign.add(RAW);
    expect((await call('touch', { address: RAW })).json).toEqual({ block: head(11) });
  });
});

it('answers when readers know the block', async () => {
  node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
  node.foreign.add(RAW);
  const changes: readonly (readonly [string, object])[] = [
    ['faucet', { address: RAW, amount: 1 }],
    ['mine', { blocks: 2 }],
    ['time', { advance: 1 }],
    ['shards/split', { shard: '8000000000000000' }],
    ['shards/merge', { shard: '8000000000000000' }],
    ['account', { address: RAW, balance: 1 }],
    ['impersonate', { from: RAW, to: RAW, value: 1 }],
    ['config', { param: 44, value: null }],
    ['touch', { address: RAW }],
  ];
  for (const [method, body] of changes) {
    const { block } = (await call(method, body)).json;
    expect(node.known.at(-1), method).toBe(block.seqno);
  }
  expect(node.known).toHaveLength(changes.length);
});

describe('snapshots', () => {
  it('of all accounts are taken, and reverted to', async () => {
    const { id, block } = (await call('snapshot', {})).json;
    expect([id, block]).toEqual(['10', head(10)]);
    expect((await call('revert', { id })).json).toEqual({ block: head(11) });
    const unknown = await call('revert', { id: '99' });
    expect([unknown.status, unknown.json.error]).toEqual([404, expect.stringContaining('no state 99')]);
    expect((await call('revert', { id: 'x' })).status).toBe(422);
  });

  it('are saved, listed, loaded and deleted', async () => {
    expect((await call('snapshots')).json).toEqual({ snapshots: [] });
    const one = { name: 'One.a_b-1', head: head(10), saved_at: 1_763_700_000 };
    expect((await call('snapshots/save', { name: 'One.a_b-1' })).json).toEqual(one);
    await call('mine', { blocks: 5 });
    await call('snapshots/save', { name: 'two' });
    expect((await call('snapshots')).json.snapshots.map(({ name }: { name: string }) => name)).toEqual([
      'One.a_b-1',
      'two',
    ]);
    expect((await call('snapshots/load', { name: 'One.a_b-1' })).json).toEqual({
      chain: 'chain-1',
      new_chain: 'chain-2',
    });
    expect((await call('snapshots/delete', { name: 'two' })).json).toEqual({ snapshots: [one] });
    const { status, json } = await call('snapshots/load', { name: 'two' });
    expect([status, json.error]).toEqual([404, 'there is no snapshot two']);
  });

  it('reset creates a new chain; export writes a folder', async () => {
    expect((await call('reset', {})).json).toEqual({ chain: 'chain-1', new_chain: 'chain-2' });
    await expect.poll(async () => (await call('status')).json).toMatchObject({ chain: 'chain-2', head: head(0) });
    await call('mine', { blocks: 4 });
    expect((await call('export', { folder: '/tmp/a chain' })).json).toEqual({ folder: '/tmp/a chain', blocks: 12 });
    expect(node.calls.at(-1)).toEqual(['exportTo', '/tmp/a chain']);
    expect((await call('export-state', { folder: '/tmp/a state', split_depth: 4 })).json).toMatchObject({
      ...{ folder: '/tmp/a state', files: ['/tmp/a state/state.boc'], bytes: 1000 },
    });
    expect(node.calls.at(-1)).toEqual(['exportStatesTo', '/tmp/a state', 4]);
  });
});

it('reports what the network refuses, with a status by its class', async () => {
  node.problem = fakeNodeErrors.refused({});
  expect(await call('mine', {})).toEqual({ status: 422, json: { error: 'the network does not want it', code: 422 } });
  node.problem = fakeNodeErrors.busy({});
  expect((await call('reset', {})).status).toBe(503);
});

describe('the rest of the server', () => {
  it('takes the examples of its document unchanged', async () => {
    const document = (await (await fetch(`${server.url}/localnet/openapi.json`)).json()) as any;
    node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
    const refused: unknown[] = [];
    for (const [path, { post }] of Object.entries<any>(document.paths)) {
      const example = post?.requestBody?.content['application/json'].example;
      if (example === undefined) continue;
      const { status, json } = await call(path.replace('/localnet/', ''), example);
      if (status === 422) refused.push([path, json.error]);
    }
    expect(refused).toEqual([]);
  });

  it('has a page and a document, and knows no other methods', async () => {
    const page = await fetch(`${server.url}/localnet`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const document = (await (await fetch(`${server.url}/localnet/openapi.json`)).json()) as any;
    expect(document.info.title).toBe('Tern local network');
    expect(Object.keys(document.paths)).toHaveLength(25);
    const { code } = document.components.schemas.AccountRequest.properties;
    expect(code.anyOf.map(({ type }: { type: string }) => type)).toEqual(['string', 'null']);
    expect((await call('nothing', {})).status).toBe(404);
    expect((await call('mine')).status).toBe(405);
    expect((await call('status', {})).status).toBe(405);
    expect((await call('mine', '{"blocks": 1')).status).toBe(422);
  });
});
