import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { decodeAccount } from '#api/v3/parameters.js';
import { ROW_PRICE } from '#api/v3/price.js';
import type {
  IndexedAccount,
  IndexedBlock,
  IndexedMessage,
  IndexedTrace,
  IndexedTransaction,
} from '#drivers/store/read/index-types.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { fromBase64, fromHex } from '#kernel/bytes.js';
import { recordedAccounts } from '#test/support/contract-accounts.js';
import { FakeIndex, type FakeRows } from '#test/support/fake-index.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { vectorTransactions } from '#test/support/recorded-v3.js';
import { callV3, type V3Call, v3Endpoint } from '#test/support/v3-method.js';

const A = `0:${'a'.repeat(64)}`;
const B = `-1:${'b'.repeat(64)}`;
const H = 'c'.repeat(64);
const bytes = (byte: number) => new Uint8Array(32).fill(byte);

const block: IndexedBlock = {
  mc_seqno: 9,
  workchain: 0,
  shard: 0xcn << 60n,
  seqno: 8,
  root_hash: bytes(1),
  file_hash: bytes(2),
  global_id: -239,
  version: 0,
  after_merge: true,
  before_split: false,
  after_split: false,
  want_merge: true,
  want_split: false,
  key_block: false,
  vert_seqno_incr: false,
  flags: 1,
  gen_utime: 1_700_000_000,
  start_lt: 10n,
  end_lt: 2n ** 60n,
  validator_list_hash_short: 4_000_000_000,
  gen_catchain_seqno: 3,
  min_ref_mc_seqno: 4,
  prev_key_block_seqno: 5,
  vert_seqno: 0,
  master_ref_seqno: 7,
  rand_seed: bytes(3),
  created_by: bytes(4),
  tx_count: 2,
  prev_blocks: [
    { workchain: 0, shard: 0xan << 60n, seqno: 6 },
    { workchain: 0, shard: 0xen << 60n, seqno: 7 },
  ],
};

const account: IndexedAccount = {
  address: decodeAccount(A),
  state_hash: bytes(5),
  status: 'active',
  balance: 123n,
  extra_currencies: new Map([[239, 5n]]),
  frozen_hash: null,
  code_hash: bytes(6),
  data_hash: bytes(7),
  last_trans_lt: 11n,
  last_trans_hash: bytes(8),
  mc_seqno: 9,
  gen_utime: 1,
  data_boc: null,
  code_boc: null,
  incomplete: false,
};

const [first, second] = vectorTransactions().map(({ transaction }) => transaction) as [
  IndexedTransaction,
  IndexedTransaction,
];

const message: IndexedMessage = {
  hash: bytes(1),
  sent_by: { id: 1n, cell: first.cell },
  received_by: null,
  global_version: 13,
  out_index: 0,
};

const trace: IndexedTrace = {
  root: 1n,
  trace_id: first.trace_id as Uint8Array,
  mc_seqno_start: 4,
  mc_seqno_end: 5,
  start_lt: 1n,
  start_utime: 2,
  end_lt: 3n,
  end_utime: 4,
  nodes: 1,
  edges: 1,
  pending_edges: 1,
  state: 'pending',
  classification_state: 'unclassified',
};

const full: FakeRows = {
  head: { first: block, last: block },
  bundles: [9],
  blocks: [block],
  transactions: [first, second],
  messages: [message],
  traces: [trace],
  ofTraces: new Map([[1n, [first]]]),
  accounts: [account],
  balances: [{ address: decodeAccount(A), balance: 5n }],
  next: 'c3Vyc29y',
};

const ask = (method: string, query: string, rows: FakeRows = {}, call: V3Call = {}) =>
  callV3(method, query, { ...call, network: { index: new FakeIndex(rows), ...call.network } });

describe('answers', () => {
  const lists: [method: string, query: string][] = [
    ['masterchainInfo', ''],
    ['blocks', ''],
    ['masterchainBlockShardState', 'seqno=9'],
    ['masterchainBlockShards', 'seqno=9'],
    ['transactions', ''],
    ['transactionsByMasterchainBlock', 'seqno=9'],
    ['transactionsByMessage', `msg_hash=${H}`],
    ['adjacentTransactions', `hash=${H}`],
    ['messages', ''],
    ['traces', 'include_actions=true'],
    ['events', ''],
    ['accountStates', `address=${A}`],
    ['walletStates', `address=${A}`],
    ['addressBook', `address=${A}`],
    ['metadata', `address=${A}`],
    ['topAccountsByBalance', ''],
    ['addressInformation', `address=${A}&use_v2=false`],
    ['decode', 'opcodes=0x0f8a7ea5,12345678&bodies=zz'],
  ];

  it.each(lists)('of %s?%s are what the document says', async (method, query) => {
    const { status, body } = await ask(method, query, full);
    expect(status).toBe(200);
    expect(shapeProblems(v3Endpoint(method).result as TSchema, body)).toEqual([]);
  });

  it('have nulls in the toncenter profile only', async () => {
    const inSpec = await ask('accountStates', `address=${A}`, full);
    const live = await ask('accountStates', `address=${A}`, full, { profile: 'toncenter' });
    expect(inSpec.body.accounts[0]).not.toHaveProperty('contract_methods');
    expect(live.body.accounts[0].contract_methods).toBeNull();
    expect(live.body.address_book[A.toUpperCase()].domain).toBeNull();
  });

  it('name the next page where there is one', async () => {
    const paged = ['blocks', 'transactions', 'messages', 'traces', 'topAccountsByBalance'];
    for (const method of paged) {
      expect((await ask(method, '', full)).headers, method).toEqual({ 'X-Tern-Next': 'c3Vyc29y' });
      expect((await ask(method, '')).headers, method).toEqual({});
    }
  });
});

describe('blocks', () => {
  it('are written in both profiles', async () => {
    const { body } = await ask('blocks', '', full);
    const live = await ask('blocks', '', full, { profile: 'toncenter' });
    expect(body.blocks[0]).toMatchObject({
      shard: '-4611686018427387904',
      gen_utime: '1700000000',
      end_lt: '1152921504606846976',
      validator_list_hash_short: -294_967_296,
      masterchain_block_ref: { workchain: -1, shard: '-9223372036854775808', seqno: 9 },
      prev_blocks: [{ workchain: 0, shard: '-6917529027641081856', seqno: 6 }, { seqno: 7 }],
    });
    expect(live.body.blocks[0]).toMatchObject({
      shard: 'C000000000000000',
      masterchain_block_ref: { workchain: -1, shard: '8000000000000000', seqno: 9 },
      prev_blocks: [{ shard: 'A000000000000000' }, { shard: 'E000000000000000' }],
    });
  });

  it('of the masterchain refer to masterchain block 0', async () => {
    const { body } = await ask('blocks', '', { blocks: [{ ...block, master_ref_seqno: null }] });
    expect(body.blocks[0].master_ref_seqno).toBe(0);
  });
});

describe('adjacent transactions', () => {
  it.each([
    ['', [1n, 2n]],
    ['&limit=1', [1n]],
    ['&offset=1', [2n]],
    ['&sort=desc', [2n, 1n]],
    ['&sort=desc&limit=1&offset=1', [1n]],
    ['&offset=2', []],
  ])('come by rising time, in pages or as wanted: %s', async (query, order) => {
    const { body } = await ask('adjacentTransactions', `hash=${H}${query}`, full);
    const hashes = (await ask('transactions', '', full)).body.transactions.map((one: { hash: string }) => one.hash);
    expect(body.transactions.map((one: { hash: string }) => one.hash)).toEqual(order.map((n) => hashes[Number(n) - 1]));
  });
});

it('adjacent transactions cost by their number, where the request does not limit it', async () => {
  const many = { ...full, transactions: [0, 1, 2, 3].flatMap(() => full.transactions!) };
  const work = async (query: string) => (await ask('adjacentTransactions', `hash=${H}${query}`, many)).work;
  expect(await work('')).toBeCloseTo(4 * ROW_PRICE.transaction);
  expect(await work('&limit=8')).toBe(0);
  expect(await work('&offset=6')).toBe(0);
});

describe('what is not found', () => {
  it('is an error where a method asks for something by name', async () => {
    const found: [string, string, number, string][] = [
      ['masterchainInfo', '', 503, 'v3/nothing-indexed'],
      ['masterchainBlockShardState', 'seqno=9', 404, 'v3/blocks-not-found'],
      ['masterchainBlockShards', 'seqno=9', 404, 'v3/blocks-not-found'],
      ['transactions', 'mc_seqno=9', 404, 'v3/masterchain-block-not-found'],
      ['transactionsByMasterchainBlock', 'seqno=9', 404, 'v3/masterchain-block-not-found'],
      ['traces', 'mc_seqno=9', 404, 'v3/masterchain-block-not-found'],
      ['adjacentTransactions', `hash=${H}`, 404, 'v3/adjacent-not-found'],
    ];
    for (const profile of ['spec', 'toncenter'] as const) {
      for (const [method, query, status, code] of found) {
        const answer = await ask(method, query, {}, { profile });
        expect([answer.status, answer.code], `${method} ${profile}`).toEqual([status, code]);
      }
    }
  });

  it('is an empty list elsewhere, also in an indexed masterchain block', async () => {
    expect(
      (await ask('masterchainBlockShards', 'seqno=9&include_mc_block=false', { bundles: [9] })).body.blocks,
    ).toEqual([]);
    expect((await ask('masterchainBlockShards', 'seqno=9&include_mc_block=false')).code).toBe('v3/blocks-not-found');
    expect((await ask('transactions', 'mc_seqno=9', { bundles: [9] })).body).toEqual({
      transactions: [],
      address_book: {},
    });
    expect((await ask('traces', 'mc_seqno=9', { bundles: [9] })).body.traces).toEqual([]);
    expect((await ask('messages', '')).body).toEqual({ messages: [], address_book: {}, metadata: {} });
  });
});

describe('the address book', () => {
  const WALLET = fromHex('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599') as Uint8Array;
  const accounts = new Map([
    [A, { code_hash: WALLET, methods: null }],
    [B, { code_hash: bytes(1), methods: null }],
  ]);
  const facts = { accounts };
  const forms = async (rows: FakeRows, call: V3Call = {}) => {
    const { body } = await ask('addressBook', `address=${A}&address=${B}&address=x`, rows, call);
    return [A, B, 'x'].map((key) => body[key].user_friendly?.slice(0, 2));
  };

  it('has the bounceable form for contracts that are no wallets', async () => {
    expect(await forms({ facts })).toEqual(['UQ', 'Ef', undefined]);
    expect(await forms({})).toEqual(['UQ', 'Uf', undefined]);
  });

  it('says which network it is of', async () => {
    const network = { index: new FakeIndex({ facts }), isTestnet: true };
    expect(await forms({}, { network })).toEqual(['0Q', 'kf', undefined]);
  });

  it('of a page is read once, and not at all when it is not wanted', async () => {
    const reads = async (call: V3Call) => {
      const index = new FakeIndex(full);
      const { body } = await callV3('transactions', '', { ...call, network: { index } });
      return [
        Object.keys(body.address_book).length > 1,
        index.asked.filter(([name]) => name === 'addressFacts').length,
      ];
    };
    expect(await reads({})).toEqual([true, 1]);
    expect(await reads({ switches: { noAddressBook: true } })).toEqual([false, 0]);
  });
});

describe('traces', () => {
  it('have a tree, and no list of children where no message arrived but in the toncenter profile', async () => {
    const inSpec = await ask('traces', '', full);
    const live = await ask('traces', '', full, { profile: 'toncenter' });
    expect(inSpec.body.traces[0].trace.children).toEqual([]);
    expect(live.body.traces[0].trace.children).toBeNull();
    expect(live.body.traces[0]).not.toHaveProperty('actions');
    expect(Object.keys(live.body.traces[0].transactions)).toEqual(live.body.traces[0].transactions_order);
  });

  it('have an empty list of actions when these are wanted', async () => {
    const [asked] = (await ask('traces', 'include_actions=true', full)).body.traces;
    expect([asked.actions, asked.trace_info.classification_state]).toEqual([[], 'unclassified']);
    expect((await ask('events', '', full)).body.events[0].actions).toEqual([]);
  });

  it('that are too large come without transactions', async () => {
    const index = new FakeIndex({
      ...full,
      traces: [{ ...trace, nodes: 4_001 }],
      ofTraces: new Map(),
      transactions: [{ ...first, id: 1n }],
    });
    const { body } = await callV3('traces', '', { network: { index }, profile: 'toncenter' });
    const [large] = body.traces;
    expect(large).toMatchObject({ is_incomplete: true, warning: 'trace is too large' });
    expect(large.external_hash).toHaveLength(44);
    for (const member of ['trace', 'transactions_order', 'transactions'])
      expect(large, member).not.toHaveProperty(member);
  });

  it('that are broken do not name their first transaction', async () => {
    const { body } = await ask(
      'traces',
      '',
      { ...full, traces: [{ ...trace, state: 'broken' }] },
      { profile: 'toncenter' },
    );
    expect(body.traces[0].external_hash).toBeNull();
  });
});

describe('wallets', () => {
  const known = recordedAccounts.filter(({ wallet }) => wallet?.wallet_type !== undefined);
  const indexed = ({ code, data }: (typeof known)[number]): IndexedAccount => ({
    ...account,
    extra_currencies: new Map(),
    code_hash: code?.hash() ?? null,
    code_boc: code === null ? null : serializeBoc(code),
    data_boc: data === null ? null : serializeBoc(data),
  });

  it('are reported with what they keep', async () => {
    const accounts = known.map(indexed);
    const { body } = await ask('walletStates', `address=${A}`, { accounts });
    expect(known.length).toBeGreaterThan(5);
    for (const [at, { wallet }] of known.entries()) {
      expect(body.wallets[at], String(at)).toMatchObject({ is_wallet: true, ...wallet });
      expect(body.wallets[at]).not.toHaveProperty('extra_currencies');
      const one = await ask('walletInformation', `address=${A}&use_v2=false`, {
        accounts: [accounts[at] as IndexedAccount],
      });
      expect(one.body, String(at)).toMatchObject({ status: 'active', balance: '123', ...wallet });
    }
  });

  it('whose data is not known whole are reported without it', async () => {
    const accounts = known.map((one) => ({ ...indexed(one), data_boc: null, incomplete: true }));
    const { body } = await ask('walletStates', `address=${A}`, { accounts });
    for (const [at, { wallet }] of known.entries()) {
      const { wallet_type } = wallet ?? {};
      expect(body.wallets[at], String(at)).toMatchObject({ is_wallet: true, wallet_type });
      expect(body.wallets[at], String(at)).not.toHaveProperty('seqno');
    }
  });

  it('are not other contracts', async () => {
    const { body } = await ask('walletStates', `address=${A}`, full);
    expect(body.wallets[0]).toMatchObject({ is_wallet: false, extra_currencies: { 239: '5' } });
    const { status, error } = await ask('wallet', `address=${A}&use_v2=false`, full);
    expect([status, error]).toEqual([409, 'not a wallet']);
  });

  it('may be made of accounts without code', async () => {
    const unknown = await ask('wallet', `address=${A}&use_v2=false`);
    expect(unknown.body).toEqual({
      balance: '0',
      last_transaction_lt: '0',
      last_transaction_hash: `${'A'.repeat(43)}=`,
      status: 'uninit',
    });
    const gone = { ...account, status: 'nonexist', code_hash: null } as const;
    expect((await ask('wallet', `address=${A}&use_v2=false`, { accounts: [gone] })).status).toBe(409);
  });
});

it('decode names opcodes and decodes bodies, from a query and from a body', async () => {
  const comment = 'te6cckEBAQEAFQAAJgAAAABoZWxsbyBmcm9tIHYycjKg2+GP';
  const expected = {
    opcodes: ['jetton_transfer', 'unknown'],
    bodies: [{ '@type': 'text_comment', text: 'hello from v2r2' }, { error: expect.stringMatching(/^unknown: /) }],
  };
  const query = `opcodes=0x0f8a7ea5&opcodes=0x12345679&bodies=${encodeURIComponent(comment)}&bodies=zz`;
  expect((await callV3('decode', query)).body).toEqual(expected);
  const given = { opcodes: ['0x0f8a7ea5', '0x12345679'], bodies: [comment, 'zz'] };
  expect((await callV3('decode', given)).body).toEqual(expected);
  expect(fromBase64(comment)).not.toBeNull();
});
