import { describe, expect, it } from 'vitest';
import { decodeAccount } from '#api/v3/parameters.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { callV3, v3Endpoint } from '#test/support/v3-method.js';

const A = `0:${'a'.repeat(64)}`;
const B = `-1:${'b'.repeat(64)}`;
const H = 'c'.repeat(64);
const H2 = 'd'.repeat(64);
const [a, b] = [A, B].map(decodeAccount);
const [h, h2] = [H, H2].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));

const TIME = 'start_utime=1.7e9&end_utime=1700000001.9&start_lt=5&end_lt=6';
const time = { start_utime: 1_700_000_000, end_utime: 1_700_000_001, start_lt: 5n, end_lt: 6n };
const page = { limit: 10, offset: 0, sort: 'desc', cursor: null };

/** What a method asks the index for: each parameter must be in it. */
const rows: [method: string, query: string, ...question: unknown[]][] = [
  ['blocks', '', 'blocks', {}, page],
  [
    'blocks',
    `workchain=-1&shard=C000000000000000&seqno=3&root_hash=${H}&file_hash=${H2}&mc_seqno=4&${TIME}&limit=7&offset=8&sort=asc`,
    'blocks',
    { workchain: -1, shard: 0xcn << 60n, seqno: 3, root_hash: h, file_hash: h2, mc_seqno: 4, ...time },
    { limit: 7, offset: 8, sort: 'asc', cursor: null },
  ],
  ['masterchainBlockShardState', 'seqno=5', 'shardState', 5],
  [
    'masterchainBlockShards',
    'seqno=5&limit=1&offset=2&sort=a',
    'blocks',
    { mc_seqno: 5 },
    { ...page, limit: 1, offset: 2, sort: 'asc' },
  ],
  ['masterchainBlockShards', 'seqno=5&cursor=next', 'blocks', { mc_seqno: 5 }, { ...page, cursor: 'next' }],
  ['masterchainBlockShards', 'seqno=5&include_mc_block=true', 'blocks', { mc_seqno: 5 }, page],
  ['masterchainBlockShards', 'seqno=5&include_mc_block=0', 'blocks', { mc_seqno: 5, shards_only: true }, page],
  [
    'transactions',
    `workchain=0&shard=8000000000000000&seqno=3&mc_seqno=4&account=${A}&account=${B}&exclude_account=${B},${A}&hash=${H},${H2}&lt=9&${TIME}&limit=1000&cursor=x&sort=ASC`,
    'transactions',
    {
      workchain: 0,
      shard: 1n << 63n,
      seqno: 3,
      mc_seqno: 4,
      account: [a, b],
      exclude_account: [b, a],
      hash: [h, h2],
      lt: 9n,
      ...time,
    },
    { limit: 1000, offset: 0, sort: 'asc', cursor: 'x' },
  ],
  ['transactions', `Account[]=${A}`, 'transactions', { account: [a] }, page],
  [
    'transactionsByMasterchainBlock',
    'seqno=5&limit=3&offset=4&sort=asc',
    'transactions',
    { mc_seqno: 5 },
    { limit: 3, offset: 4, sort: 'asc', cursor: null },
  ],
  [
    'transactionsByMessage',
    `msg_hash=${H}&msg_hash=${H2}&body_hash=${H2}&opcode=0x10&source=${A}&destination=${B}&direction=in&limit=2&offset=1&sort=asc`,
    'transactionsByMessage',
    { msg_hash: [h, h2], body_hash: h2, opcode: 16, source: a, destination: b, direction: 'in' },
    { limit: 2, offset: 1, sort: 'asc', cursor: null },
  ],
  ['adjacentTransactions', `hash=${H}&direction=out`, 'adjacentTransactions', h, 'out'],
  ['adjacentTransactions', `hash=${H}`, 'adjacentTransactions', h, undefined],
  ['adjacentTransactions', `hash=${H}&direction=both`, 'adjacentTransactions', h, undefined],
  [
    'messages',
    `msg_hash=${H}&body_hash=${H2}&source=${A}&destination=null&opcode=-1&${TIME}&direction=out&exclude_externals=1&only_externals=false&limit=2&offset=3&sort=asc`,
    'messages',
    {
      msg_hash: [h],
      body_hash: h2,
      source: a,
      destination: null,
      opcode: 0xffff_ffff,
      ...time,
      direction: 'out',
      exclude_externals: true,
      only_externals: false,
    },
    { limit: 2, offset: 3, sort: 'asc', cursor: null },
  ],
  [
    'messages',
    `hash=${H2}&source=null&only_externals=on`,
    'messages',
    { msg_hash: [h2], source: null, only_externals: true },
    page,
  ],
  [
    'traces',
    `account=${A}&mc_seqno=4&${TIME}&limit=1&offset=2&sort=asc`,
    'traces',
    { account: a, mc_seqno: 4, ...time },
    { limit: 1, offset: 2, sort: 'asc', cursor: null },
  ],
  ['traces', `trace_id=${H},${H2}`, 'traces', { trace_id: [h, h2] }, page],
  ['traces', `tx_hash=${H}`, 'traces', { tx_hash: [h] }, page],
  ['events', `msg_hash=${H}&cursor=c`, 'traces', { msg_hash: [h] }, { ...page, cursor: 'c' }],
  ['accountStates', `address=${A},${B}&code_hash=${H}`, 'accounts', { address: [a, b], code_hash: [h] }, { boc: true }],
  ['accountStates', `address=${A}&include_boc=false`, 'accounts', { address: [a] }, { boc: false }],
  ['walletStates', `address=${A}&address=${B}`, 'accounts', { address: [a, b] }, { boc: true }],
  ['addressBook', `address=${A}&address=${B}`, 'addressFacts', [a, b], { domains: true, tokens: false }],
  ['metadata', `address=${A}&address=x`, 'addressFacts', [a], { domains: false, tokens: true }],
  ['topAccountsByBalance', 'limit=3&offset=4', 'topAccounts', { limit: 3, offset: 4, sort: 'desc', cursor: null }],
  ['topAccountsByBalance', 'cursor=t', 'topAccounts', { ...page, cursor: 't' }],
  ['addressInformation', `address=${A}&use_v2=false`, 'accounts', { address: [a] }, { boc: true }],
  ['account', `address=${A}&use_v2=f`, 'accounts', { address: [a] }, { boc: true }],
  ['wallet', `address=${A}&use_v2=0`, 'accounts', { address: [a] }, { boc: true }],
];

describe('what a method asks the index for', () => {
  it.each(rows)('%s?%s', async (method, query, ...question) => {
    const index = new FakeIndex({ bundles: [4, 5] });
    await callV3(method, query, { network: { index } });
    expect(index.asked[0]).toEqual(question);
  });

  it('is as many rows as the profile has by default', async () => {
    const index = new FakeIndex();
    await callV3('transactions', '', { network: { index }, profile: 'toncenter' });
    expect(index.asked[0]).toEqual(['transactions', {}, { ...page, limit: 100 }]);
  });

  it('reads opcodes as the profile writes them', async () => {
    const index = new FakeIndex();
    await callV3('messages', 'opcode=10', { network: { index } });
    await callV3('messages', 'opcode=10', { network: { index }, profile: 'toncenter' });
    expect(index.asked.map(([, filter]) => filter)).toEqual([{ opcode: 10 }, { opcode: 16 }]);
  });
});

/** Refused, with the name of what is wrong. */
const refused: [method: string, query: string, named: string][] = [
  ['blocks', 'limit=0', 'limit'],
  ['blocks', 'limit=1001', 'limit'],
  ['blocks', 'limit=', 'limit'],
  ['blocks', 'limit=1&limit=2', 'limit'],
  ['blocks', 'offset=-1', 'offset'],
  ['blocks', 'offset=1&cursor=c', 'offset'],
  ['blocks', 'cursor=', 'cursor'],
  ['blocks', 'sort=up', 'sort'],
  ['blocks', 'seqno=2147483648', 'seqno'],
  ['blocks', 'seqno=-1', 'seqno'],
  ['blocks', 'workchain=x', 'workchain'],
  ['blocks', 'shard=0x18000000000000000', 'shard'],
  ['blocks', 'file_hash=', 'file_hash'],
  ['blocks', 'end_lt=1e5', 'end_lt'],
  ['blocks', 'start_utime=-1', 'start_utime'],
  ['blocks', 'end_utime=4294967296', 'end_utime'],
  ['blocks', 'start_utime=', 'start_utime'],
  ['blocks', 'nosuch=1', 'nosuch'],
  ['transactions', 'account=', 'account'],
  ['transactions', `account=${A},`, 'account'],
  ['transactions', `account=${A},x`, 'account'],
  ['transactions', 'exclude_account=bad', 'exclude_account'],
  ['transactions', 'hash=zz', 'hash'],
  ['transactions', 'lt=-5', 'lt'],
  ['transactionsByMessage', '', 'msg_hash'],
  ['transactionsByMessage', 'direction=in', 'body_hash'],
  ['transactionsByMessage', `msg_hash=${H}&direction=both`, 'direction'],
  ['transactionsByMessage', 'opcode=', 'opcode'],
  ['adjacentTransactions', '', 'hash'],
  ['adjacentTransactions', `hash=${H}&direction=up`, 'direction'],
  ['adjacentTransactions', `hash=${H}&limit=0`, 'limit'],
  ['adjacentTransactions', `hash=${H}&offset=-1`, 'offset'],
  ['adjacentTransactions', `hash=${H}&sort=none`, 'sort'],
  ['masterchainBlockShards', 'seqno=5&include_mc_block=2', 'include_mc_block'],
  ['masterchainBlockShards', '', 'seqno'],
  ['transactionsByMasterchainBlock', 'seqno=x', 'seqno'],
  ['messages', 'source=NULL', 'source'],
  ['messages', 'only_externals=yes', 'only_externals'],
  ['messages', `hash=${H}&msg_hash=${H}`, 'msg_hash'],
  ['traces', `account=${A}&trace_id=${H}`, 'account'],
  ['traces', `tx_hash=${H}&msg_hash=${H}`, 'tx_hash'],
  ['traces', 'include_actions=yes', 'include_actions'],
  ['accountStates', '', 'address'],
  ['accountStates', 'address=addr_none', 'address'],
  ['accountStates', `address=${A}&include_boc=x`, 'include_boc'],
  ['walletStates', `address=${A}&address=junk`, 'address'],
  ['addressBook', '', 'address'],
  ['addressBook', 'address=addr_none&address=junk', 'address'],
  ['metadata', 'address=junk', 'address'],
  ['topAccountsByBalance', 'limit=1001', 'limit'],
  ['addressInformation', 'address=', 'address'],
  ['addressInformation', `address=${A}&use_v2=q`, 'use_v2'],
  ['decode', 'opcodes=zz', 'opcodes'],
];

describe('what is refused', () => {
  it.each(refused)('%s?%s', async (method, query, named) => {
    const index = new FakeIndex();
    const { status, error } = await callV3(method, query, { network: { index } });
    expect(status).toBe(422);
    expect(error).toContain(named);
    expect(index.asked).toEqual([]);
  });

  it('is 401 in the toncenter profile where what a method is about is missing', async () => {
    for (const [method, given] of [
      ['addressInformation', ''],
      ['walletInformation', ''],
      ['message', {}],
      ['runGetMethod', {}],
      ['runGetMethod', { address: A }],
    ] as const) {
      expect((await callV3(method, given)).status, method).toBe(422);
      expect((await callV3(method, given, { profile: 'toncenter' })).status, method).toBe(401);
    }
  });
});

it('takes a list of as many items as it says', async () => {
  const { params } = v3Endpoint('accountStates');
  const most = params.properties.address.maxItems;
  const index = new FakeIndex();
  const many = (count: number) => Array.from({ length: count }, () => A).join(',');
  expect((await callV3('accountStates', `address=${many(most)}`, { network: { index } })).status).toBe(200);
  expect((await callV3('accountStates', `address=${many(most + 1)}`, { network: { index } })).status).toBe(422);
});
