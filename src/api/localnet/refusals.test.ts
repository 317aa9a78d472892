import { beginCell, Address as CoreAddress, Cell as CoreCell, storeMessage } from '@ton/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { FakeLocalNode } from '#test/support/fake-local-node.js';
import { serveFakeNode } from '#test/support/served-local-node.js';

const RAW = `0:${'12'.repeat(32)}`;

const node = new FakeLocalNode();
let server: HttpServer;

beforeAll(async () => {
  server = await serveFakeNode(node);
});
afterAll(() => server.close());

async function call(method: string, body: object): Promise<{ status: number; json: any }> {
  const response = await fetch(`${server.url}/localnet/${method}`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
}

const cell = (bits: number, value: number) => beginCell().storeUint(value, bits).endCell();
const boc = (of: CoreCell) => of.toBoc().toString('base64');

/** A message with coins for `RAW`. */
const internal = (src: string) =>
  boc(
    beginCell()
      .store(
        storeMessage({
          info: {
            type: 'internal',
            ihrDisabled: true,
            bounce: true,
            bounced: false,
            src: CoreAddress.parseRaw(src),
            dest: CoreAddress.parseRaw(RAW),
            value: { coins: 0n },
            ihrFee: 0n,
            forwardFee: 0n,
            createdLt: 0n,
            createdAt: 0,
          },
          body: CoreCell.EMPTY,
        }),
      )
      .endCell(),
  );

const cut = boc(cell(8, 1)).slice(0, -4);
const external = boc(
  beginCell()
    .store(
      storeMessage({
        info: { type: 'external-in', dest: CoreAddress.parseRaw(RAW), importFee: 0n },
        body: CoreCell.EMPTY,
      }),
    )
    .endCell(),
);
const foreign = internal(`5:${'00'.repeat(32)}`);

const refused: readonly [method: string, body: object, named: string, problem?: RegExp][] = [
  ['faucet', {}, 'address', /required/],
  ['faucet', { address: RAW }, 'amount', /required/],
  ['faucet', { address: 'EQ', amount: 1 }, 'address'],
  ['faucet', { address: `1:${'00'.repeat(32)}`, amount: 1 }, 'address', /workchain 1/],
  ['faucet', { address: 5, amount: 1 }, 'address'],
  ['faucet', { address: RAW, amount: 0 }, 'amount', /from 1 to/],
  ['faucet', { address: RAW, amount: -5 }, 'amount'],
  ['faucet', { address: RAW, amount: 1.5 }, 'amount'],
  ['faucet', { address: RAW, amount: '1.5' }, 'amount'],
  ['faucet', { address: RAW, amount: '1e9' }, 'amount'],
  ['faucet', { address: RAW, amount: '9'.repeat(41) }, 'amount'],
  ['faucet', { address: RAW, amount: true }, 'amount'],
  ['faucet', { address: RAW, amount: '1', comment: 'x'.repeat(1_001) }, 'comment'],
  ['faucet', { address: RAW, amount: '1', comment: 5 }, 'comment'],
  ['faucet', { address: RAW, amount: '1', coment: 'x' }, 'coment', /^unknown parameter/],
  ['mine', { blocks: 0 }, 'blocks'],
  ['mine', { blocks: 10_001 }, 'blocks'],
  ['mine', { blocks: 1.5 }, 'blocks'],
  ['mine', { blocks: 'many' }, 'blocks'],
  ['mine', { block: 1 }, 'block', /^unknown parameter/],
  ['pause', { now: true }, 'now', /^unknown parameter/],
  ['resume', { now: true }, 'now', /^unknown parameter/],
  ['block-time', {}, 'milliseconds', /required/],
  ['mining', { mode: 'fast' }, 'mode'],
  ['block-time', { milliseconds: 49 }, 'milliseconds'],
  ['block-time', { milliseconds: 3_600_001 }, 'milliseconds'],
  ['time', {}, 'advance, speed', /required/],
  ['time', { speed: 1.5 }, 'speed'],
  ['time', { speed: -1 }, 'speed'],
  ['time', { advance: 0 }, 'advance'],
  ['time', { advance: -1 }, 'advance'],
  ['time', { advance: 315_360_001 }, 'advance'],
  ['shards/split', {}, 'shard', /required/],
  ['shards/split', { shard: '0' }, 'shard'],
  ['shards/split', { shard: 'whole' }, 'shard'],
  ['shards/split', { shard: '1' }, 'shard'],
  ['shards/merge', { shard: '18446744073709551616' }, 'shard'],
  ['shards/merge', { workchain: -1, shard: '8000000000000000' }, 'workchain'],
  ['account', { address: RAW }, 'balance, code, data', /required/],
  ['account', { balance: 1 }, 'address', /required/],
  ['account', { address: 'x', balance: 1 }, 'address'],
  ['account', { address: RAW, balance: -1 }, 'balance'],
  ['account', { address: RAW, balance: '10000000000000000001' }, 'balance'],
  ['account', { address: RAW, balance: null }, 'balance, code, data', /required/],
  ['account', { address: RAW, code: '' }, 'code', /empty/],
  ['account', { address: RAW, code: 'te6' }, 'code'],
  ['account', { address: RAW, code: RAW }, 'code'],
  ['account', { address: RAW, code: 7 }, 'code'],
  ['account', { address: RAW, data: cut }, 'data', /not a bag of cells/],
  ['account', { address: RAW, data: 'ffff' }, 'data', /not a bag of cells/],
  ['impersonate', {}, 'from', /required/],
  ['impersonate', { from: RAW }, 'to', /required/],
  ['impersonate', { from: RAW, to: RAW }, 'amount', /required/],
  ['impersonate', { from: RAW, to: RAW, amount: 1, value: 1 }, 'value', /former name/],
  ['impersonate', { from: RAW, to: RAW, amount: 'x' }, 'amount'],
  ['impersonate', { from: 'x', to: RAW, value: 1 }, 'from'],
  ['impersonate', { from: RAW, to: 'x', value: 1 }, 'to'],
  ['impersonate', { from: RAW, to: RAW, value: 'x' }, 'value'],
  ['impersonate', { from: RAW, to: RAW, value: 1, bounce: 'no' }, 'bounce'],
  ['impersonate', { from: RAW, to: RAW, value: 1, body: 'no' }, 'body'],
  ['impersonate', { from: RAW, to: RAW, value: 1, init: boc(cell(1, 1)) }, 'init', /no StateInit/],
  ['impersonate', { message: boc(cell(1, 0)) }, 'message', /not a message/],
  ['impersonate', { message: external }, 'message', /ext_in_msg_info/],
  ['impersonate', { message: foreign }, 'message', /src of the message/],
  ['impersonate', { message: external, to: RAW }, 'message'],
  ['config', { param: 8 }, 'value', /required/],
  ['config', { value: null }, 'param', /required/],
  ['config', { param: 2 ** 31, value: null }, 'param'],
  ['config', { param: 'eight', value: null }, 'param'],
  ['config', { param: 8, value: boc(cell(8, 1)) }, 'value', /no value of parameter 8/],
  ['config', { param: 8, value: 'x' }, 'value'],
  ['touch', {}, 'address', /required/],
  ['touch', { address: 'x' }, 'address'],
  ['snapshots/save', {}, 'name', /required/],
  ['snapshots/save', { name: '' }, 'name'],
  ['snapshots/save', { name: '../x' }, 'name'],
  ['snapshots/save', { name: '.x' }, 'name'],
  ['snapshots/save', { name: 'a'.repeat(65) }, 'name'],
  ['snapshots/load', { name: 'a/b' }, 'name'],
  ['snapshots/delete', { name: 'a\0' }, 'name'],
  ['snapshots/delete', { name: 5 }, 'name'],
  ['reset', { really: true }, 'really', /^unknown parameter/],
  ['export', {}, 'folder', /required/],
  ['export', { folder: 'here' }, 'folder', /whole path/],
  ['export', { folder: '/a\0b' }, 'folder', /whole path/],
  ['export', { folder: `/${'a'.repeat(4_096)}` }, 'folder'],
];

/** Long values are cut. */
const rows = refused.map((row) => [`${row[0]} ${JSON.stringify(row[1])}`.slice(0, 120), row] as const);

it.each(rows)('%s is refused with its name', async (_, [method, body, named, problem = /./]) => {
  const { status, json } = await call(method, body);
  expect([status, json.code]).toEqual([422, 422]);
  expect(json.error).toMatch(problem);
  expect(json.error).toMatch(new RegExp(`^(unknown )?parameter ${named}\\b`));
  expect(node.calls).toEqual([]);
});

it('impersonate refuses parts beside a whole message', async () => {
  const whole = internal(RAW);
  for (const part of [{ from: RAW }, { to: RAW }, { value: 1 }, { bounce: true }, { body: boc(cell(8, 1)) }]) {
    const [named] = Object.keys(part);
    const { json } = await call('impersonate', { message: whole, ...part });
    expect(json.error).toBe(`parameter ${named}: it cannot be given together with message`);
  }
});

it('takes calls of pages of this host, and of no others', async () => {
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${server.url}/localnet/mine`, { method: 'POST', headers, body: JSON.stringify({ blocks: 1 }) }))
      .status;
  expect(await statusOf({ origin: 'http://localhost:3000' })).toBe(200);
  expect(await statusOf({ origin: server.url })).toBe(200);
  expect(await statusOf({ origin: 'https://evil.example' })).toBe(403);
  const read = await fetch(`${server.url}/localnet/status`, { headers: { origin: 'https://evil.example' } });
  expect([read.status, await read.json()]).toEqual([
    403,
    { error: 'pages of https://evil.example may not call this API', code: 403 },
  ]);
});
