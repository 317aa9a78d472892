import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beginCell, Cell, loadMessage, storeStateInit } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { runCommandLine } from '#app/cli/command-line.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { toHex } from '#kernel/bytes.js';
import type { AccountOverride } from '#localnet/producer/block-request.js';
import { readArchivePack } from '#localnet/replay/archive-pack.js';
import { FakeLocalNode, fakeBlock, fakeNodeErrors } from '#test/support/fake-local-node.js';
import { serveFakeNode } from '#test/support/served-local-node.js';
import { vectorPath } from '#test/support/vector-files.js';

const RAW = `0:${'12'.repeat(32)}`;
const MASTER = `-1:${'34'.repeat(32)}`;

const folder = mkdtempSync(join(tmpdir(), 'tern-localnet-'));
let node: FakeLocalNode;
let server: HttpServer;

beforeAll(async () => {
  node = new FakeLocalNode();
  const current = new Proxy(node, {
    get: (_, name) => {
      const value: unknown = Reflect.get(node, name);
      return typeof value === 'function' ? value.bind(node) : value;
    },
  });
  server = await serveFakeNode(current);
});
beforeEach(() => {
  node = new FakeLocalNode();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function runIn(environment: Record<string, string>, ...args: string[]): Promise<Run> {
  const written = { out: '', err: '' };
  const output = {
    out: (text: string) => {
      written.out += text;
    },
    err: (text: string) => {
      written.err += text;
    },
  };
  const code = await runCommandLine(['localnet', ...args], output, environment);
  return { code, ...written };
}

const run = (...args: string[]) => runIn({ TERN_URL: server.url }, ...args);

/** Runs a command that must do what it is told, and gives what it printed. */
async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  expect([code, err], args.join(' ')).toEqual([0, '']);
  return out;
}

const cell = (bits: number, value: number) => beginCell().storeUint(value, bits).endCell();

describe('tern localnet', () => {
  it('status, pause, resume, block-time show how it is', async () => {
    expect(await done('status')).toBe(
      [
        'head     (-1,8000000000000000,10) of 2025-11-21 04:39:59 UTC',
        'time     2025-11-21 04:40:00 UTC',
        'blocks   every 400 ms',
        'waiting  3 external-in messages',
        'shards   (0,4000000000000000,15) (0,c000000000000000,16)',
        '',
      ].join('\n'),
    );
    expect(await done('pause')).toContain('blocks   paused (otherwise every 400 ms)\n');
    expect(await done('resume')).toContain('blocks   every 400 ms\n');
    expect(await done('mining', 'auto')).toContain('blocks   as soon as a message waits, else every few seconds\n');
    expect(await done('block-time', '1500')).toContain('blocks   every 1500 ms\n');
    expect(await done('time', '+1h')).toBe('done in block (-1,8000000000000000,11)\n');
    expect(await done('status')).toContain('time     2025-11-21 05:40:00 UTC, 1 h ahead of this computer\n');
    node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
    expect(await done('status')).toContain('fork     of mainnet at (-1,8000000000000000,7)\n');
    expect(node.calls).toEqual([
      ['setPaused', true],
      ['setPaused', false],
      ['setMining', 'auto'],
      ['setBlockTime', 1500],
      ['advanceTime', 3600],
    ]);
  });

  it('wallets shows addresses, keys and balances', async () => {
    const text = await done('wallets');
    expect(text).toMatch(
      /^faucet {6}UQ\S{46} {2}1000000 TON\nversion {5}highload-v3, id 4269\npublic key {2}[0-9a-f]{64}\nseed /,
    );
    expect(text).toMatch(/\n\nwallet {6}UQ\S{46} {2}5000 TON\nversion {5}v5r1, id 2147483409\n/);
    expect(text).toContain('mnemonic    word0 word1');
  });

  it('prints what the API answers with --json', async () => {
    for (const method of ['status', 'wallets']) {
      const answer = await (await fetch(`${server.url}/localnet/${method}`)).json();
      expect(JSON.parse(await done(method, '--json'))).toEqual(answer);
    }
    expect(JSON.parse(await done('mine', '--json')).block.seqno).toBe(11);
  });

  it('fund sends TON, to the masterchain, too', async () => {
    const text = await done('fund', RAW, '1.5');
    expect(text).toMatch(/^sent in block \(-1,8000000000000000,11\)\nmessage [\w+/=]{44}\nshow the trace: curl 'http/);
    await done('fund', MASTER, '0.000000001', '--comment', '-1:a comment');
    await done('fund', '--comment', 'first', MASTER, '7');
    expect(node.calls).toEqual([
      ['fund', RAW, 1_500_000_000n, null],
      ['fund', MASTER, 1n, '-1:a comment'],
      ['fund', MASTER, 7_000_000_000n, 'first'],
    ]);
  });

  it('mine makes blocks, many of them in parts', async () => {
    await done('mine');
    expect(await done('mine', '1200')).toBe('done in block (-1,8000000000000000,1211)\n');
    expect(node.calls).toEqual([
      ['mine', 1],
      ['mine', 500],
      ['mine', 500],
      ['mine', 200],
    ]);
  });

  it('time takes every unit', async () => {
    for (const text of ['90', '90s', '30m', '+1h', '7d', '1y']) await done('time', text);
    expect(node.calls.map(([, seconds]) => seconds)).toEqual([90, 90, 1_800, 3_600, 604_800, 31_536_000]);
  });

  it('account changes what is named, from files and texts', async () => {
    const file = join(folder, 'code.boc');
    writeFileSync(file, cell(8, 1).toBoc());
    await done('account', MASTER, '--balance', '5', '--code', file, '--data', cell(8, 2).toBoc().toString('base64'));
    await done('account', RAW, '--data', 'none', '--code', cell(8, 1).toBoc().toString('hex'));
    const [all, second] = node.calls.map(([, , change]) => change as AccountOverride);
    expect(node.calls.map(([, address]) => address)).toEqual([MASTER, RAW]);
    expect(all!.balance).toBe(5_000_000_000n);
    expect(toHex(all!.code!.hash())).toBe(cell(8, 1).hash().toString('hex'));
    expect(toHex(all!.data!.hash())).toBe(cell(8, 2).hash().toString('hex'));
    expect(second).toMatchObject({ data: null });
    expect(Object.keys(second!).sort()).toEqual(['code', 'data']);
  });

  it('impersonate runs a message', async () => {
    const init = beginCell()
      .store(storeStateInit({ code: cell(8, 1), data: cell(8, 2) }))
      .endCell();
    const body = cell(32, 7).toBoc().toString('base64');
    await done(
      'impersonate',
      MASTER,
      RAW,
      '2.5',
      '--body',
      body,
      '--init',
      init.toBoc().toString('hex'),
      '--no-bounce',
    );
    await done('impersonate', RAW, MASTER, '0');
    const [whole, least] = node.calls.map(([, bytes]) =>
      loadMessage(Cell.fromBoc(Buffer.from(bytes as Uint8Array))[0]!.beginParse()),
    );
    expect(whole!.info).toMatchObject({ bounce: false, value: { coins: 2_500_000_000n } });
    expect(whole!.info.src!.toString()).toMatch(/^Ef/);
    expect(whole!.body.equals(cell(32, 7))).toBe(true);
    expect(whole!.init!.data!.equals(cell(8, 2))).toBe(true);
    expect(least!.info).toMatchObject({ bounce: true, value: { coins: 0n } });
  });

  it('config sets and deletes parameters', async () => {
    await done('config', '-999', cell(8, 1).toBoc().toString('hex'));
    await done('config', '44', '--delete');
    expect(node.calls).toEqual([
      ['setConfigParam', -999, expect.any(Uint8Array)],
      ['setConfigParam', 44, null],
    ]);
  });

  it('seed shows what there is', async () => {
    const text = await done('seed');
    expect(text).toMatch(/^made {3}dns domain example\.ton\n {2}EQ\S{46}\n {2}named by the wallet record\n/);
    expect(text).toMatch(/\nthere {2}library code\n {2}EQ\S{46}\n {2}hash (0b){32}\n.*\nas of block \S+,11\)\n$/);
  });

  it('split and merge take a shard; merge finds the only two', async () => {
    await done('split', '0:8000000000000000');
    await done('split', 'c000000000000000');
    await done('merge');
    const { code, err } = await run('split');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^tern: cli\/usage: .*requires a shard.*\(0,4000000000000000,18\)/),
    ]);
    expect(node.calls).toEqual([
      ['split', 0, 0x8000000000000000n],
      ['split', 0, 0xc000000000000000n],
      ['merge', 0, 0x4000000000000000n],
    ]);
  });

  it('touch says whether there is an account', async () => {
    node.fork = { source: 'mainnet', block: fakeBlock(MASTERCHAIN_SHARD, 7) };
    expect(await done('touch', MASTER)).toBe('the forked network has no such account, nor has this one\n');
    node.foreign.add(MASTER);
    expect(await done('touch', MASTER)).toContain('done in block');
  });

  it('snapshot and revert print the id and the block', async () => {
    expect(await done('snapshot')).toBe('10  (-1,8000000000000000,10)  return to it with tern localnet revert 10\n');
    expect(await done('revert', '10')).toBe('done in block (-1,8000000000000000,11)\n');
  });

  it('snapshots, reset, export', async () => {
    expect(await done('snapshot', 'list')).toContain('There are no snapshots.');
    const saved = 'one  (-1,8000000000000000,10)  saved 2025-11-21 04:40:00 UTC\n';
    expect(await done('snapshot', 'save', 'one')).toBe(saved);
    await done('mine');
    expect(await done('snapshot', 'list')).toBe(saved);
    expect(await done('snapshot', 'load', 'one')).toContain('head     (-1,8000000000000000,10)');
    expect(await done('snapshot', 'delete', 'one')).toContain('There are no snapshots.');
    expect(await done('reset')).toContain('head     (-1,8000000000000000,0)');
    await done('mine');
    expect(await done('export', 'some/where')).toBe(`exported 3 blocks to ${resolve('some/where')}\n`);
  });
});

describe('check', () => {
  it('says what is in a chain that is sound', async () => {
    expect(await done('check', vectorPath('recorded-chain'))).toBe(
      'the chain is valid: 10 masterchain blocks, 19 blocks in all, 31 transactions, 11 messages\nno state overrides\n',
    );
    const report = JSON.parse(await done('check', vectorPath('recorded-chain'), '--json'));
    expect(report).toMatchObject({ masterchain_blocks: 10, blocks: 19, transactions: 31, changed_by_hand: [] });
  });

  it('says what is missing', async () => {
    const nowhere = await run('check', join(folder, 'nowhere'));
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringMatching(/^tern: replay\/unreadable-folder: /)]);
    const bare = join(folder, 'bare');
    mkdirSync(bare);
    for (const name of ['zerostate-mc.boc', 'zerostate-basechain.boc']) {
      copyFileSync(vectorPath(`recorded-chain/${name}`), join(bare, name));
    }
    const pack = gunzipSync(readFileSync(vectorPath('recorded-chain/blocks-1-10.pack.gz')));
    for (const { name, data, offset } of readArchivePack(pack, 'blocks')) {
      if (name.startsWith('block_')) writeFileSync(join(bare, `${offset}.boc`), data);
    }
    const { code, err } = await run('check', bare);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^tern: cli\/no-signatures: .*bare contains no signatures of block \(-1,8000000000000000,1\)/,
      ),
    ]);
  });
});

const wrong: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
  [[], /^tern: cli\/usage: tern localnet requires a subcommand; available: status, wallets, fund,/],
  [['found'], /^tern: cli\/usage: unknown command "localnet found"/],
  [['fund', RAW], /^tern: cli\/usage: .*argument/],
  [['fund', RAW, '1', '2'], /^tern: cli\/usage: unexpected argument "2" of tern localnet fund/],
  [['fund', RAW, '1.0000000001'], /^tern: cli\/usage: the amount is "1\.0000000001"/],
  [['fund', RAW, '-1'], /^tern: cli\/usage/],
  [['fund', 'nobody', '1'], /^tern: cli\/localnet-refused: .*parameter address: /],
  [['fund', RAW, '0'], /^tern: cli\/localnet-refused: .*parameter amount: /],
  [['fund', RAW, '99999999'], /^tern: cli\/localnet-refused: .*more than the faucet has/],
  [['export', 'some/where', '--split-depth', '3'], /^tern: cli\/usage: --split-depth requires --state/],
  [['mine', '0'], /^tern: cli\/usage: the number of blocks is "0"/],
  [['mine', '10001'], /^tern: cli\/usage/],
  [['block-time', 'fast'], /^tern: cli\/usage: the time between blocks is "fast"/],
  [['touch', MASTER], /^tern: cli\/localnet-refused: .*not a fork/],
  [['mining', 'fast'], /^tern: cli\/usage: the mode of mining is "fast"; it must be auto or steady/],
  [['block-time', '1'], /^tern: cli\/localnet-refused: .*parameter milliseconds/],
  [['time', '-1h'], /^tern: cli\/usage/],
  [['time', 'soon'], /^tern: cli\/usage: the time is "soon"/],
  [['time', '11y'], /^tern: cli\/localnet-refused: .*parameter advance/],
  [['account', RAW], /^tern: cli\/usage: .*requires --balance, --code or --data/],
  [['account', RAW, '--code', 'nothing.boc'], /^tern: cli\/input: "nothing\.boc" is neither a file/],
  [['account', RAW, '--code', MASTER], /^tern: cli\/input: .*is an address/],
  [['impersonate', RAW, MASTER, 'x'], /^tern: cli\/usage: the amount is "x"/],
  [['config', '8'], /^tern: cli\/usage: tern localnet config requires either a value or --delete/],
  [['config', '8', 'b5ee9c72', '--delete'], /^tern: cli\/usage: tern localnet config requires either a value/],
  [['config', 'eight', '--delete'], /^tern: cli\/usage: the parameter is "eight"/],
  [
    ['config', '8', cell(8, 1).toBoc().toString('hex')],
    /^tern: cli\/localnet-refused: .*parameter value: .*parameter 8/,
  ],
  [['split', 'whole'], /^tern: cli\/localnet-refused: .*parameter shard/],
  [['split', '5:8000000000000000'], /^tern: cli\/localnet-refused: .*parameter workchain/],
  [['snapshot', 'keep', 'x'], /^tern: cli\/usage: tern localnet snapshot takes nothing, or save NAME/],
  [['snapshot', 'save'], /^tern: cli\/usage: tern localnet snapshot takes nothing, or save NAME/],
  [['snapshot', 'load', 'none'], /^tern: cli\/localnet-refused: .*there is no snapshot none/],
  [['snapshot', 'save', '../x'], /^tern: cli\/localnet-refused: .*parameter name/],
  [['status', '--url', 'nowhere'], /^tern: config\/bad-setting: .*--url/],
  [['status', '--loud'], /^tern: cli\/usage: .*--loud/],
];

it.each(wrong)('%j fails with one line', async (args, expected) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(expected);
  expect(err.trimEnd()).not.toContain('\n');
  expect(node.calls.filter(([name]) => name !== 'loadSnapshot')).toEqual([]);
});

describe('where it asks', () => {
  const statusOf = (url: string, environment: Record<string, string> = {}) =>
    runIn(environment, 'status', '--url', url);

  it('is --url, TERN_URL or TERN_PORT, in this order', async () => {
    const gone = 'http://127.0.0.1:1';
    expect((await statusOf(`${server.url}/`, { TERN_URL: gone })).code).toBe(0);
    expect((await runIn({ TERN_URL: server.url, TERN_PORT: '1' }, 'status')).code).toBe(0);
    expect((await runIn({ TERN_PORT: String(server.port) }, 'status')).code).toBe(0);
  });

  it('says what to do where nothing listens, or something else', async () => {
    const closed = createServer();
    await new Promise<void>((listening) => closed.listen(0, '127.0.0.1', listening));
    const nobody = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((ended) => closed.close(ended));
    const gone = await statusOf(nobody);
    expect([gone.code, gone.out]).toEqual([1, '']);
    expect(gone.err).toBe(
      `tern: cli/no-localnet: no server at ${nobody}: ECONNREFUSED. Start a local network with npm start (tern dev), ` +
        'or set its URL with --url or TERN_URL.\n',
    );
    const other = createServer((request, response) => {
      response.statusCode = request.url?.startsWith('/tern/') ? 404 : 200;
      response.end(response.statusCode === 404 ? '{"ok":false,"error":"Not Found","code":404}' : '<html>');
    });
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      for (const [at, status] of [
        [url, 200],
        [`${url}/tern`, 404],
      ] as const) {
        const { err } = await statusOf(at);
        expect(err).toMatch(new RegExp(`^tern: cli/not-local: the server at ${at} .* status ${status}\\.`));
      }
    } finally {
      other.close();
    }
  });

  it('distinguishes failures from refusals', async () => {
    node.problem = fakeNodeErrors.busy({});
    expect((await run('mine')).err).toMatch(
      /^tern: cli\/localnet-failed: the local network failed \(503\): the network has no time\./,
    );
    node.problem = fakeNodeErrors.refused({});
    expect((await run('mine')).err).toMatch(/^tern: cli\/localnet-refused: .*the network does not want it\./);
  });
});
