import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { decodeAccount } from '#api/v3/parameters.js';
import type {
  IndexedJettonMaster,
  IndexedJettonWallet,
  IndexedNftCollection,
  IndexedNftItem,
  IndexedSale,
} from '#drivers/store/read/index-types.js';
import { FakeIndex, type FakeRows } from '#test/support/fake-index.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { callV3, type V3Call, v3Endpoint } from '#test/support/v3-method.js';

const raw = (digit: string) => `${digit === 'F' ? '-1' : '0'}:${digit.repeat(64)}`;
const at = (digit: string) => decodeAccount(raw(digit));
const repeated = (times: number, text: string) => new Array(times).fill(text).join(',');
const bytes = (byte: number) => new Uint8Array(32).fill(byte);
const base64 = (byte: number) => Buffer.from(bytes(byte)).toString('base64');
const state = { last_trans_lt: 7n, code_hash: bytes(1), data_hash: bytes(2) };
const written = { last_transaction_lt: '7', code_hash: base64(1), data_hash: base64(2) };

const master: IndexedJettonMaster = {
  ...{ ...state, address: at('A'), total_supply: 2n ** 70n, mintable: false, admin: null },
  ...{ content: { uri: '<b>"', decimals: '9' }, jetton_wallet_code_hash: bytes(3) },
};
const wallet: IndexedJettonWallet = {
  ...{ ...state, address: at('B'), balance: 0n, owner: at('F'), jetton: at('A'), mintless_is_claimed: null },
};
const collection: IndexedNftCollection = {
  ...{ ...state, address: at('C'), next_item_index: -1n, owner: at('D'), content: {} },
};
const item: IndexedNftItem = {
  ...{ ...state, address: at('1'), init: true, index: 2n ** 255n, collection_address: at('C'), owner: at('2') },
  ...{ content: { name: 'x' }, collection, sale: { kind: 'auction', nft_owner: at('3') } },
};
const lone: IndexedNftItem = {
  ...{ ...item, address: at('4'), collection_address: null, owner: null, collection: null, sale: null },
};
const sale: IndexedSale = {
  ...{ ...state, address: at('2'), nft: at('1'), nft_owner: at('3'), marketplace: at('5'), created_at: 9n, item },
  details: {
    ...{ kind: 'sale', is_complete: false, full_price: 10n, marketplace_fee_address: at('6'), marketplace_fee: 1n },
    ...{ royalty_address: null, royalty_amount: 0n },
  } as IndexedSale['details'],
};
const auction: IndexedSale = {
  ...{ ...sale, address: at('7'), nft_owner: null, item: null },
  details: {
    ...{ kind: 'auction', end_flag: false, end_time: 11n, last_bid: 0n, last_member: null, min_step: 5n },
    ...{ mp_fee_address: at('6'), mp_fee_factor: 5n, mp_fee_base: 100n, royalty_fee_address: at('8') },
    ...{ royalty_fee_factor: 1n, royalty_fee_base: 10n, max_bid: 0n, min_bid: 1n, last_bid_at: 0n, is_canceled: true },
  } as IndexedSale['details'],
};
const telemint: IndexedSale = {
  ...{ ...state, address: at('9'), nft: at('9'), nft_owner: null, marketplace: null, created_at: null, item: lone },
  details: {
    ...{ kind: 'telemint', token_name: 'a"b', bidder_address: null, bid: null, bid_ts: null, min_bid: null },
    ...{ end_time: 12n, beneficiary_address: at('E'), initial_min_bid: 1n, max_bid: 2n, min_bid_step: 5n },
    ...{ min_extend_time: 6n, duration: 7n, royalty_numerator: 5n, royalty_denominator: 100n },
    royalty_destination: at('8'),
  } as IndexedSale['details'],
};

const full: FakeRows = {
  ...{ jettonMasters: [master], jettonWallets: [wallet], nftCollections: [collection], nftItems: [item, lone] },
  ...{ nftSales: [sale, auction, telemint], next: 'c3Vyc29y' },
};

async function ask(method: string, query: string, rows: FakeRows = full, call: V3Call = {}) {
  const index = new FakeIndex(rows);
  const answer = await callV3(method, query, { ...call, network: { index, ...call.network } });
  return { ...answer, asked: index.asked.filter(([name]) => name !== 'addressFacts') };
}

const LISTS: readonly [method: string, query: string, named: string][] = [
  ['jetton/masters', '', 'A'],
  ['jetton/wallets', `address=${raw('B')}`, 'ABF'],
  ['nft/collections', '', 'CD'],
  ['nft/items', `owner_address=${raw('2')}`, '124C'],
  ['nft/sales', `address=${raw('2')}`, '123456789CE'],
];

describe('answers about tokens', () => {
  it.each(LISTS)('of %s?%s are what the document says, and name their accounts', async (method, query, named) => {
    const { status, body, headers } = await ask(method, query);
    expect(status).toBe(200);
    expect(shapeProblems(v3Endpoint(method).result as TSchema, body)).toEqual([]);
    expect(headers).toEqual(method === 'nft/sales' ? {} : { 'X-Tern-Next': 'c3Vyc29y' });
    expect(Object.keys(body.address_book).sort()).toEqual([...named].map(raw).sort());
    const empty = await ask(method, query, {}, { profile: 'toncenter' });
    expect(empty.headers).toEqual({});
    expect(Object.values(empty.body)).toEqual([[], {}, {}]);
  });

  it('have null for what there is not, where the live service has', async () => {
    const live = { profile: 'toncenter' } as const;
    const masters = await ask('jetton/masters', '', full, live);
    expect(masters.body.jetton_masters).toEqual([
      {
        ...{ ...written, address: raw('A'), total_supply: String(2n ** 70n), mintable: false, admin_address: null },
        ...{ jetton_content: { decimals: '9', uri: '<b>"' }, jetton_wallet_code_hash: base64(3) },
      },
    ]);
    expect((await ask('jetton/masters', '')).body.jetton_masters[0]).not.toHaveProperty('admin_address');
    const items = await ask('nft/items', '', full, live);
    const reported = { ...written, init: true, index: String(2n ** 255n), content: { name: 'x' } };
    const place = { address: raw('C'), owner_address: raw('D'), next_item_index: '-1', collection_content: {} };
    expect(items.body.nft_items).toEqual([
      {
        ...{ ...reported, address: raw('1'), collection_address: raw('C'), owner_address: raw('2'), on_sale: true },
        ...{ collection: { ...written, ...place }, auction_contract_address: raw('2'), real_owner: raw('3') },
      },
      {
        ...{ ...reported, address: raw('4'), collection_address: null, owner_address: null, on_sale: false },
        collection: null,
      },
    ]);
  });

  it('about sales say what each kind of them has', async () => {
    const { body } = await ask('nft/sales', `address=${raw('2')}`);
    const [first, second, third] = body.nft_sales;
    expect(first).toMatchObject({ type: 'getgems_sale', nft_owner_address: raw('3'), created_at: 9 });
    expect(first.details).toEqual({
      ...{ is_complete: false, full_price: '10', marketplace_fee_address: raw('6'), marketplace_fee: '1' },
      royalty_amount: '0',
    });
    expect(first.nft_item.address).toBe(raw('1'));
    expect(second).toMatchObject({
      type: 'getgems_auction',
      details: { min_step: 5, last_bid: '0', is_canceled: true },
    });
    expect(second).not.toHaveProperty('nft_owner_address');
    expect(second).not.toHaveProperty('nft_item');
    expect(third).toMatchObject({
      type: 'telemint',
      nft_address: raw('9'),
      details: { token_name: 'a"b', end_time: 12 },
    });
    expect(third.details).toMatchObject({ min_extend_time: '6', royalty_numerator: 5, min_bid_step: '5' });
    expect(third.details).not.toHaveProperty('bid');
  });
});

describe('requests about tokens', () => {
  const page = { limit: 10, offset: 0, sort: 'desc', cursor: null };

  it('ask the index for all that they say', async () => {
    const wallets = await ask('jetton/wallets', `owner_address=${raw('F')}&jetton_address=${raw('A')},${raw('B')}`);
    const filter = { address: undefined, owner: [at('F')], jetton: [at('A'), at('B')] };
    expect(wallets.asked).toEqual([
      ['jettonWallets', { ...filter, exclude_zero_balance: undefined, by_balance: false }, page],
    ]);
    const sorted = await ask('jetton/wallets', 'sort=ASC&exclude_zero_balance=true&limit=3');
    expect(sorted.asked).toEqual([
      [
        'jettonWallets',
        { address: undefined, owner: undefined, jetton: undefined, exclude_zero_balance: true, by_balance: true },
        { ...page, sort: 'asc', limit: 3 },
      ],
    ]);
    const query = `collection_address=${raw('C')}&index=0,7&index=${2n ** 256n}&include_on_sale=1&sort_by_last_transaction_lt=t`;
    const items = await ask('nft/items', query, full, { profile: 'toncenter' });
    expect(items.asked).toEqual([
      [
        'nftItems',
        {
          ...{ address: undefined, owner: undefined, collection: [at('C')], index: [0n, 7n, 2n ** 256n] },
          ...{ include_on_sale: true, by_lt: true },
        },
        { ...page, limit: 100 },
      ],
    ]);
  });

  it('name at most 1,000 items by collection and index', async () => {
    const of = (collections: number, indexes: number) =>
      ask(
        'nft/items',
        `owner_address=${raw('D')}&collection_address=${repeated(collections, raw('C'))}&index=${repeated(indexes, '1')}`,
      );
    expect((await of(100, 10)).status).toBe(200);
    const { status, error, asked } = await of(143, 7);
    expect([status, asked]).toEqual([422, []]);
    expect(error).toContain('collection_address and index name 1,001 items, and at most 1,000 are allowed');
  });

  it.each([
    ['jetton/wallets', `jetton_address=${raw('A')}&jetton_address=${raw('B')}`, 'exact one owner_address'],
    [
      'jetton/wallets',
      `jetton_address=${raw('A')},${raw('B')}&owner_address=${raw('1')},${raw('2')}`,
      'exact one owner',
    ],
    ['jetton/wallets', 'owner_address=', 'owner_address'],
    ['jetton/wallets', 'sort=up', 'sort'],
    ['jetton/wallets', 'exclude_zero_balance=z', 'exclude_zero_balance'],
    ['jetton/masters', 'limit=1001', 'limit'],
    ['jetton/masters', 'admin_address=x', 'admin_address'],
    ['jetton/masters', 'sort=asc', 'unknown parameter sort'],
    ['nft/items', 'index=1', 'index parameter is not allowed without the collection_address'],
    ['nft/items', `collection_address=${raw('C')}&index=-1`, 'index should contain digits only'],
    ['nft/items', `collection_address=${raw('C')}&index=${'9'.repeat(79)}`, 'index should contain digits only'],
    ['nft/items', `collection_address=${raw('C')},${raw('D')}`, 'exact one owner_address'],
    ['nft/collections', 'cursor=x&offset=2', 'offset'],
    ['nft/sales', '', 'address'],
    ['nft/sales', `address=${Array.from({ length: 1001 }, () => raw('A')).join(',')}`, 'address'],
  ])('%s?%s are refused by what is wrong with them', async (method, query, problem) => {
    const { status, error } = await ask(method, query);
    expect(status).toBe(422);
    expect(error).toContain(problem);
  });
});
