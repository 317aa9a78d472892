import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import type {
  AddressAccount,
  AddressFacts,
  AddressTokens,
  IndexedAccount,
  IndexedMessage,
  IndexedTrace,
  IndexedTransaction,
} from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { fromHex } from '#kernel/bytes.js';
import { FakeIndex, type FakeRows } from '#test/support/fake-index.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { vectorTransactions } from '#test/support/recorded-v3.js';
import { callV3, type V3Call, v3Endpoint } from '#test/support/v3-method.js';

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const at = (fill: number) => Address.ofParts(0, bytes(fill));
const key = (fill: number) => at(fill).toRaw().toUpperCase();

const WALLET_V4R2 = fromHex('feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0')!;
const ids = (...names: string[]) => names.map(methodIdOf).sort((a, b) => a - b);

const [transaction] = vectorTransactions().map((each) => each.transaction) as [IndexedTransaction];
const sender = Address.ofParts(transaction.block.workchain, decodeCell(Transaction, transaction.cell).account_addr);

/** One of each sort that answers tell apart. */
const known: Record<string, readonly [fill: number, account: AddressAccount | null]> = {
  wallet: [1, { code_hash: WALLET_V4R2, methods: [0, ...ids('seqno')] }],
  master: [2, { code_hash: bytes(0x22), methods: ids('get_jetton_data', 'get_wallet_address') }],
  'of no kind': [3, { code_hash: bytes(0x23), methods: [0, 1] }],
  'without a table of methods': [4, { code_hash: bytes(0x24), methods: null }],
  'without code': [5, { code_hash: null, methods: null }],
  unknown: [6, null],
};
const facts: AddressFacts = {
  accounts: new Map(
    Object.values(known).flatMap(([fill, account]) => (account === null ? [] : [[at(fill).toRaw(), account] as const])),
  ),
  domains: new Map([[at(1).toRaw(), 'alice.ton']]),
  tokens: new Map<string, AddressTokens>([
    [
      at(2).toRaw(),
      { address: at(2), tokens: [{ kind: 'jetton_masters', content: { symbol: 'S', name: 'N' }, metadata: null }] },
    ],
    [
      sender.toRaw(),
      { address: sender, tokens: [{ kind: 'jetton_wallets', balance: 1n, owner: at(1), jetton: at(2) }] },
    ],
  ]),
};
const METADATA = {
  [key(2)]: {
    is_indexed: true,
    token_info: [
      { valid: true, type: 'jetton_masters', symbol: 'S', name: 'N', is_nsfw: false, is_scam: false, extra: {} },
    ],
  },
};

const account = (fill: number, code_hash: Uint8Array | null): IndexedAccount => ({
  ...{ address: at(fill), state_hash: bytes(9), status: code_hash === null ? 'uninit' : 'active', balance: 1n },
  ...{ extra_currencies: new Map(), frozen_hash: null, code_hash, data_hash: null, last_trans_lt: 1n },
  ...{ last_trans_hash: bytes(8), mc_seqno: 1, gen_utime: 1, data_boc: null, code_boc: null, incomplete: false },
});

const message: IndexedMessage = {
  ...{
    hash: bytes(1),
    sent_by: { id: 1n, cell: transaction.cell },
    received_by: null,
    global_version: 13,
    out_index: 0,
  },
};
const trace: IndexedTrace = {
  ...{ root: 1n, trace_id: bytes(2), mc_seqno_start: 4, mc_seqno_end: 5, start_lt: 1n, start_utime: 2, end_lt: 3n },
  ...{ end_utime: 4, nodes: 1, edges: 1, pending_edges: 0, state: 'complete', classification_state: 'ok' },
};
const rows: FakeRows = {
  facts,
  transactions: [transaction],
  messages: [message],
  traces: [trace],
  ofTraces: new Map([[1n, [transaction]]]),
  accounts: Object.values(known).flatMap(([fill, one]) => (one === null ? [] : [account(fill, one.code_hash)])),
};

async function ask(method: string, query: string, call: V3Call = {}) {
  const index = new FakeIndex(rows);
  const { status, body } = await callV3(method, query, { ...call, network: { index } });
  expect(status).toBe(200);
  if (call.profile === undefined) expect(shapeProblems(v3Endpoint(method).result as TSchema, body)).toEqual([]);
  return { body, reads: index.asked.filter(([name]) => name === 'addressFacts') };
}

const ALL = Object.values(known)
  .map(([fill]) => `address=${key(fill)}`)
  .join('&');
const LIVE = { profile: 'toncenter' } as const;

describe('the address book', () => {
  it('reports interfaces: null where methods are known and of no kind, and without code; [] where nothing is known', async () => {
    const { body } = await ask('addressBook', `${ALL}&address=junk`, LIVE);
    const interfaces = Object.entries(known).map(([name, [fill]]) => [name, body[key(fill)].interfaces]);
    expect(Object.fromEntries(interfaces)).toEqual({
      wallet: ['wallet_v4r2'],
      master: ['jetton_master'],
      'of no kind': null,
      'without a table of methods': [],
      'without code': null,
      unknown: [],
    });
    expect(body.junk).toEqual({ user_friendly: null, domain: null, interfaces: [] });
    expect([body[key(1)].domain, body[key(2)].domain]).toEqual(['alice.ton', null]);
  });

  it('leaves out what is null where the document is followed', async () => {
    const { body } = await ask('addressBook', `${ALL}&address=junk`);
    expect(Object.keys(body[key(1)])).toEqual(['user_friendly', 'domain', 'interfaces']);
    expect(Object.keys(body[key(3)])).toEqual(['user_friendly']);
    expect(Object.keys(body.junk)).toEqual(['interfaces']);
  });

  it('has a row for each text as it was given', async () => {
    const friendly = at(1).toFriendly({ bounceable: true, testnet: false });
    const { body } = await ask('addressBook', `address=${friendly}&address=${key(1).toLowerCase()}`);
    expect(Object.keys(body)).toEqual([friendly, key(1).toLowerCase()]);
    expect(body[friendly]).toEqual(body[key(1).toLowerCase()]);
  });
});

describe('accountStates', () => {
  it('reports methods, and interfaces: [] also without code', async () => {
    const { body, reads } = await ask('accountStates', ALL, LIVE);
    expect(body.accounts.map(({ interfaces }: { interfaces: unknown }) => interfaces)).toEqual([
      ['wallet_v4r2'],
      ['jetton_master'],
      ...[null, [], []],
    ]);
    const methods = body.accounts.map(({ contract_methods: of }: { contract_methods: unknown }) => of);
    expect(methods).toEqual([known.wallet![1]!.methods, known.master![1]!.methods, [0, 1], null, null]);
    expect(body.address_book[key(5)].interfaces).toBeNull();
    expect(reads.length).toBe(1);
  });

  it('reports them also where the address book and metadata are not wanted', async () => {
    const { body, reads } = await ask('accountStates', ALL, { switches: { noAddressBook: true, noMetadata: true } });
    expect([body.address_book, body.metadata]).toEqual([{}, {}]);
    expect(body.accounts[1]).toMatchObject({ interfaces: ['jetton_master'] });
    expect(reads.map(([, , wanted]) => wanted)).toEqual([{ domains: false, tokens: false }]);
    expect(body.accounts[2]).not.toHaveProperty('interfaces');
  });
});

describe('metadata', () => {
  it.each([
    ['messages', ''],
    ['traces', ''],
    ['events', ''],
    ['accountStates', ALL],
    ['walletStates', ALL],
  ])('are in %s, unless they are not wanted', async (method, query) => {
    const with_ = await ask(method, query);
    // A jetton wallet brings the metadata of its master.
    expect(with_.body.metadata).toMatchObject(METADATA);
    expect(with_.reads.map(([, , wanted]) => wanted)).toEqual([{ domains: true, tokens: true }]);
    const without = await ask(method, query, { switches: { noMetadata: true } });
    expect(without.body.metadata).toEqual({});
    expect(Object.keys(without.body.address_book).length).toBeGreaterThan(0);
    expect(without.reads.map(([, , wanted]) => wanted)).toEqual([{ domains: true, tokens: false }]);
    const alone = await ask(method, query, { switches: { noAddressBook: true } });
    expect(alone.body.address_book).toEqual({});
    expect(alone.body.metadata).toEqual(with_.body.metadata);
  });

  it.each([
    ['transactions', ''],
    ['transactionsByMessage', `msg_hash=${'c'.repeat(64)}`],
    ['adjacentTransactions', `hash=${'c'.repeat(64)}`],
  ])('are not in %s', async (method, query) => {
    const { body, reads } = await ask(method, query);
    expect(body).not.toHaveProperty('metadata');
    expect(reads.map(([, , wanted]) => wanted)).toEqual([{ domains: true, tokens: false }]);
    expect((await ask(method, query, { switches: { noAddressBook: true } })).reads).toEqual([]);
  });

  it('of accounts that are asked for by themselves', async () => {
    const { body, reads } = await ask('metadata', `${ALL}&address=junk`);
    expect(body).toMatchObject(METADATA);
    expect(reads.length).toBe(1);
  });
});
