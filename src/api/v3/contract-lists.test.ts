import type { TSchema } from '@sinclair/typebox';
import { describe, expect, it, vi } from 'vitest';
import { decodeAccount } from '#api/v3/parameters.js';
import { ROW_PRICE } from '#api/v3/price.js';
import type { IndexedDnsRecord } from '#drivers/store/read/dns.js';
import type { IndexedMultisig, IndexedMultisigOrder, IndexedVesting } from '#drivers/store/read/multisig-vesting.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { fromBase64 } from '#kernel/bytes.js';
import { WorkSlices } from '#kernel/work-slices.js';
import { FakeIndex, type FakeRows } from '#test/support/fake-index.js';
import { shapeProblems } from '#test/support/json-shape.js';
import { callV3, type V3Call, v3Endpoint } from '#test/support/v3-method.js';

const raw = (digit: string) => `${digit === 'F' ? '-1' : '0'}:${digit.repeat(64)}`;
const at = (digit: string) => decodeAccount(raw(digit));
const bytes = (byte: number) => new Uint8Array(32).fill(byte);
const state = { last_trans_lt: 7n, code_hash: bytes(1), data_hash: null };

const record: IndexedDnsRecord = {
  ...{ ...state, address: at('A'), owner: at('B'), domain: 'a"b.ton', dns_next_resolver: at('C'), dns_wallet: at('D') },
  ...{ dns_site_adnl: bytes(2), dns_storage_bag_id: null },
};

const multisig: IndexedMultisig = {
  ...{ ...state, address: at('A'), next_order_seqno: -1n, threshold: 2n },
  ...{ signers: [at('B'), at('F')], proposers: [at('C')] },
};

/** An order with one message, as a contract has it. */
const ORDER =
  'te6ccgEBAwEATAABAdEBAQrxOB5bAwIAfEIAQnKS/aDW6DJrRPACcmvR3ehCusezJLeMQeARAtdeQRMgF9eEAAAAAAAAAAAAAAAAAAAAAAAAMiBvZiA0';
const DESTINATION = '0:84E525FB41ADD064D689E004E4D7A3BBD085758F66496F1883C02205AEBC8226';

const order: IndexedMultisigOrder = {
  ...{
    ...state,
    address: at('E'),
    multisig: at('A'),
    order_seqno: 2n ** 255n,
    threshold: 2n,
    sent_for_execution: true,
  },
  ...{ approvals_mask: 2n ** 200n, approvals_num: 1n, expiration_date: 1_795_342_719n },
  ...{ order_boc: fromBase64(ORDER)!, signers: [at('B')] },
};

const untold: IndexedMultisigOrder = {
  ...{ ...order, address: at('9'), threshold: null, sent_for_execution: null, approvals_mask: null },
  ...{ approvals_num: null, expiration_date: null, order_boc: null, signers: null, code_hash: null },
};

const vesting: IndexedVesting = {
  ...{
    ...state,
    address: at('A'),
    start_time: 1_795_254_973n,
    total_duration: 3n,
    unlock_period: 2n,
    cliff_duration: 1n,
  },
  ...{ total_amount: 10n ** 20n, sender: null, owner: at('B'), whitelist: [at('D'), at('C'), at('F')] },
};

const full: FakeRows = {
  ...{ dnsRecords: [record], multisigs: [multisig], multisigOrders: [order, untold], vestingContracts: [vesting] },
  next: 'c3Vyc29y',
};

async function ask(method: string, query: string, rows: FakeRows = full, call: V3Call = {}) {
  const index = new FakeIndex(rows);
  const answer = await callV3(method, query, { ...call, network: { index, ...call.network } });
  return { ...answer, asked: index.asked.filter(([name]) => name !== 'addressFacts') };
}

const REQUESTS: readonly [method: string, query: string][] = [
  ['dns/records', `wallet=${raw('D')}`],
  ['dns/records', 'domain=a.ton'],
  ['multisig/wallets', `address=${raw('A')}`],
  ['multisig/wallets', `wallet_address=${raw('B')}&include_orders=false`],
  ['multisig/orders', `address=${raw('E')}`],
  ['multisig/orders', `multisig_address=${raw('A')}&parse_actions=true`],
  ['vesting', `contract_address=${raw('A')}`],
  ['vesting', `wallet_address=${raw('A')}&check_whitelist=true`],
];

describe('answers about contracts', () => {
  it.each(REQUESTS)('of %s?%s are what the document says', async (method, query) => {
    const { status, body, headers } = await ask(method, query);
    expect(status).toBe(200);
    expect(shapeProblems(v3Endpoint(method).result as TSchema, body)).toEqual([]);
    expect(headers).toEqual({ 'X-Tern-Next': 'c3Vyc29y' });
    const empty = await ask(method, query, {}, { profile: 'toncenter' });
    expect(empty.headers).toEqual({});
    expect(Object.values(empty.body)).toEqual([[], {}]);
  });

  it.each(REQUESTS)('of %s?%s have an address book unless it is not wanted, and no metadata', async (method, query) => {
    const { body } = await ask(method, query);
    expect(Object.keys(body.address_book).length).toBeGreaterThan(2);
    expect(body).not.toHaveProperty('metadata');
    const without = await ask(method, query, full, { switches: { noAddressBook: true } });
    expect(without.body.address_book).toEqual({});
  });
});

describe('domains', () => {
  it('are written in both profiles', async () => {
    const { body } = await ask('dns/records', 'domain=a.ton');
    const site = Buffer.from(bytes(2)).toString('base64');
    const written = { nft_item_address: raw('A'), nft_item_owner: raw('B'), domain: 'a"b.ton' };
    const records = { dns_next_resolver: raw('C'), dns_wallet: raw('D'), dns_site_adnl: site };
    expect(body.records).toEqual([{ ...written, ...records }]);
    expect(Object.keys(body.address_book)).toEqual([raw('A'), raw('B'), raw('D')]);
    const live = await ask('dns/records', 'domain=a.ton', full, { profile: 'toncenter' });
    expect(live.body.records).toEqual([{ ...written, ...records, dns_storage_bag_id: null }]);
  });

  it('are asked for as the request says; 100 of them where it does not', async () => {
    const page = { limit: 100, offset: 0, sort: 'desc', cursor: null };
    for (const profile of ['spec', 'toncenter'] as const) {
      const { asked } = await ask('dns/records', `wallet=${raw('D')}`, full, { profile });
      expect(asked).toEqual([['dnsRecords', { wallet: at('D'), domain: undefined }, page]]);
    }
    const { asked } = await ask('dns/records', 'domain=A.ton&limit=3&offset=2');
    expect(asked).toEqual([['dnsRecords', { wallet: undefined, domain: 'A.ton' }, { ...page, limit: 3, offset: 2 }]]);
  });
});

describe('multisigs', () => {
  const query = `address=${raw('A')}`;

  it('are written in both profiles, with their orders', async () => {
    const code = Buffer.from(bytes(1)).toString('base64');
    const { body } = await ask('multisig/wallets', query);
    expect(body.multisigs[0]).toMatchObject({ next_order_seqno: '-1', threshold: 2, signers: [raw('B'), raw('F')] });
    expect(body.multisigs[0]).toMatchObject({ proposers: [raw('C')], last_transaction_lt: '7', code_hash: code });
    expect(body.multisigs[0]).not.toHaveProperty('data_hash');
    expect(body.multisigs[0].orders.map(({ address }: { address: string }) => address)).toEqual([raw('E'), raw('9')]);
    expect(Object.keys(body.address_book).sort()).toEqual([...'9ABCEF'].map(raw).sort());
    const live = await ask('multisig/wallets', query, full, { profile: 'toncenter' });
    expect(live.body.multisigs[0].data_hash).toBeNull();
    expect(live.body.multisigs[0].orders[0].actions).toBeNull();
  });

  it.each([
    ['spec', true, []],
    ['toncenter', true, null],
    ['spec', false, []],
    ['toncenter', false, []],
  ] as const)('without orders say so: %s, include_orders=%s', async (profile, include, orders) => {
    const rows = include ? { ...full, multisigOrders: [] } : full;
    const { body, asked } = await ask('multisig/wallets', `${query}&include_orders=${include}`, rows, { profile });
    expect(body.multisigs[0].orders).toEqual(orders);
    expect(asked.map(([name]) => name)).toEqual(include ? ['multisigs', 'ordersOfMultisigs'] : ['multisigs']);
  });

  it('cost by their orders, between which others get their turns', async () => {
    const isOver = vi.spyOn(WorkSlices.prototype, 'isOver', 'get').mockReturnValue(true);
    const next = vi.spyOn(WorkSlices.prototype, 'next');
    const foreseen: number[] = [];
    const foresee = (price: number) => void foreseen.push(price);
    const orders = new Array(30).fill(order);
    const { body, work } = await ask(
      'multisig/wallets',
      `${query}&limit=1`,
      { ...full, multisigOrders: orders },
      { foresee },
    );
    const turns = next.mock.calls.length;
    for (const spy of [isOver, next]) spy.mockRestore();
    expect(body.multisigs[0].orders).toHaveLength(30);
    expect([foreseen, work]).toEqual([[30 * ROW_PRICE.contract], 30 * ROW_PRICE.contract]);
    expect(turns).toBeGreaterThan(30);
  });

  it('get their own orders only', async () => {
    const other = { ...multisig, address: at('1') };
    const rows = { multisigs: [other, multisig], multisigOrders: [order, { ...untold, multisig: at('1') }] };
    const { body } = await ask('multisig/wallets', query, rows);
    const addresses = body.multisigs.map(({ orders }: { orders: { address: string }[] }) =>
      orders.map(({ address }) => address),
    );
    expect(addresses).toEqual([[raw('9')], [raw('E')]]);
  });

  it('with too many orders together are refused, unless these are not wanted', async () => {
    const rows = { multisigs: [multisig], multisigOrders: Array.from({ length: 5001 }, () => untold) };
    const { status, error } = await ask('multisig/wallets', query, rows);
    expect([status, error]).toEqual([422, expect.stringMatching(/more than 5000 orders/)]);
    expect((await ask('multisig/wallets', `${query}&include_orders=0`, rows)).status).toBe(200);
    const most = { ...rows, multisigOrders: rows.multisigOrders.slice(1) };
    expect((await ask('multisig/wallets', query, most)).body.multisigs[0].orders).toHaveLength(5000);
  });
});

describe('orders', () => {
  const query = `multisig_address=${raw('A')}`;

  it('are written in both profiles', async () => {
    const { body } = await ask('multisig/orders', query);
    expect(body.orders[0]).toEqual({
      ...{ address: raw('E'), multisig_address: raw('A'), order_seqno: String(2n ** 255n), threshold: 2 },
      ...{ sent_for_execution: true, approvals_mask: String(2n ** 200n), approvals_num: 1 },
      ...{ expiration_date: 1_795_342_719, order_boc: ORDER, signers: [raw('B')], last_transaction_lt: '7' },
      code_hash: Buffer.from(bytes(1)).toString('base64'),
    });
    expect(body.orders[1]).toEqual({
      ...{ address: raw('9'), multisig_address: raw('A'), order_seqno: String(2n ** 255n), last_transaction_lt: '7' },
    });
    const live = await ask('multisig/orders', query, full, { profile: 'toncenter' });
    expect(live.body.orders[1]).toMatchObject({ threshold: null, order_boc: null, signers: null, actions: null });
    expect(Object.keys(live.body.orders[0]).sort()).toEqual(Object.keys(live.body.orders[1]).sort());
  });

  it('report what is done, and to whom, when they are asked to', async () => {
    const { body } = await ask('multisig/orders', `${query}&parse_actions=1`, full, { profile: 'toncenter' });
    const [reported, nothing] = body.orders;
    expect(reported.actions).toEqual([
      {
        ...{ destination: DESTINATION, value: '50000000', body_raw: 'te6cckEBAQEADAAAFAAAAAAyIG9mIDTYBSof' },
        ...{ parsed: true, error: null, parsed_body_type: 'ton_transfer', send_mode: 3 },
        parsed_body: { comment: '2 of 4', encrypted: false },
      },
    ]);
    expect(nothing.actions).toBeNull();
    expect(Object.keys(body.address_book).sort()).toEqual([DESTINATION, ...[...'9ABE'].map(raw)].sort());
    const quiet = await ask('multisig/orders', query, full, { profile: 'toncenter' });
    expect(quiet.body.orders[0].actions).toBeNull();
    expect(quiet.body.address_book).not.toHaveProperty([DESTINATION]);
  });

  const boc = (fill: (builder: Builder) => Builder) => serializeBoc(fill(new Builder()).endCell());
  it.each([
    ['no bag of cells', Uint8Array.of(1, 2, 3)],
    ['no bytes', new Uint8Array()],
    ['no dictionary', boc((builder) => builder.storeUint(3, 2))],
    ['several roots', serializeBoc([new Builder().endCell(), new Builder().storeUint(1, 1).endCell()])],
  ])('that are %s have no actions, and are told all the same', async (_, order_boc) => {
    const rows = { multisigOrders: [{ ...order, order_boc }] };
    const { status, body } = await ask('multisig/orders', `${query}&parse_actions=true`, rows, {
      profile: 'toncenter',
    });
    expect([status, body.orders[0].actions]).toEqual([200, null]);
    expect(body.orders[0].order_boc).toBe(Buffer.from(order_boc).toString('base64'));
  });
});

describe('vesting', () => {
  it('is written in both profiles', async () => {
    const { body } = await ask('vesting', `contract_address=${raw('A')}`);
    const written = {
      ...{ address: raw('A'), start_time: 1_795_254_973, total_duration: 3, unlock_period: 2, cliff_duration: 1 },
      ...{ owner_address: raw('B'), total_amount: '100000000000000000000' },
      whitelist: [raw('F'), raw('C'), raw('D')],
    };
    expect(body.vesting_contracts).toEqual([written]);
    expect(Object.keys(body.address_book).sort()).toEqual([...'ABCDF'].map(raw).sort());
    const live = await ask('vesting', `contract_address=${raw('A')}`, full, { profile: 'toncenter' });
    expect(live.body.vesting_contracts).toEqual([{ ...written, sender_address: null }]);
  });
});

describe('requests about contracts', () => {
  const A = raw('A');
  const page = { offset: 0, sort: 'desc', cursor: null };

  it.each<[method: string, query: string, ...asked: unknown[]]>([
    ['multisig/wallets', `address=${A},${raw('B')}&include_orders=0`, 'multisigs', { address: [at('A'), at('B')] }],
    ['multisig/wallets', `wallet_address=${A}&include_orders=0`, 'multisigs', { wallet_address: [at('A')] }],
    [
      'multisig/orders',
      `address=${A}&multisig_address=${A}`,
      'multisigOrders',
      { address: [at('A')], multisig_address: [at('A')] },
    ],
    [
      'vesting',
      `contract_address=${A}&contract_address=${raw('B')}`,
      'vestingContracts',
      { contract_address: [at('A'), at('B')], check_whitelist: false },
    ],
    [
      'vesting',
      `wallet_address=${A}&check_whitelist=true`,
      'vestingContracts',
      { wallet_address: [at('A')], check_whitelist: true },
    ],
    [
      'vesting',
      `wallet_address=${A}&check_whitelist=false`,
      'vestingContracts',
      { wallet_address: [at('A')], check_whitelist: false },
    ],
  ])('%s?%s asks for just that', async (method, query, name, filter) => {
    for (const [profile, limit] of [
      ['spec', 10],
      ['toncenter', 100],
    ] as const) {
      const { asked } = await ask(method, query, full, { profile });
      expect(asked).toEqual([[name, filter, { ...page, limit }]]);
    }
    const more = await ask(method, `${query}&limit=3&offset=9`);
    expect(more.asked).toMatchObject([[name, filter, { limit: 3, offset: 9 }]]);
    const behind = await ask(method, `${query}&cursor=abc`);
    expect(behind.asked).toMatchObject([[name, filter, { cursor: 'abc' }]]);
  });

  it.each(['multisig/wallets', 'multisig/orders'])('%s takes an order and 1,024 rows', async (method) => {
    const sorted = await ask(method, `address=${A}&sort=asc&limit=1024`);
    expect(sorted.asked[0]).toMatchObject([expect.any(String), {}, { sort: 'asc', limit: 1024 }]);
    const live = await ask(method, `address=${A}&limit=1001`, full, { profile: 'toncenter' });
    expect([live.status, live.error]).toEqual([422, expect.stringContaining('limit')]);
    expect((await ask(method, `address=${A}&limit=1000`, full, { profile: 'toncenter' })).status).toBe(200);
  });

  const many = Array.from({ length: 1001 }, (_, i) => `address=0:${i.toString(16).padStart(64, '0')}`).join('&');
  it.each([
    ['dns/records', '', /either wallet address or domain is required/],
    ['dns/records', `wallet=${A}&domain=a.ton`, /either wallet address or domain, not both/],
    ['dns/records', 'domain=', /domain/],
    ['dns/records', 'domain=%00', /domain/],
    ['dns/records', `domain=${'a'.repeat(256)}`, /domain/],
    ['dns/records', 'domain=a.ton&domain=b.ton', /domain/],
    ['dns/records', 'wallet=', /wallet/],
    ['dns/records', 'wallet=junk', /wallet/],
    ['dns/records', `wallet=${A}&limit=1001`, /limit/],
    ['dns/records', `wallet=${A}&sort=asc`, /sort/],
    ['dns/records', `wallet=${A}&cursor=a&offset=1`, /offset/],
    ['multisig/wallets', '', /address or wallet_address/],
    ['multisig/wallets', 'include_orders=true', /address or wallet_address/],
    ['multisig/wallets', 'address=', /address/],
    ['multisig/wallets', `address=${A},junk`, /address/],
    ['multisig/wallets', many, /address/],
    ['multisig/wallets', `address=${A}&include_orders=zz`, /include_orders/],
    ['multisig/wallets', `address=${A}&limit=1025`, /limit/],
    ['multisig/wallets', `address=${A}&sort=up`, /sort/],
    ['multisig/wallets', `address=${A}&parse_actions=true`, /parse_actions/],
    ['multisig/orders', '', /address or multisig_address/],
    ['multisig/orders', 'multisig_address=', /multisig_address/],
    ['multisig/orders', `address=${A}&parse_actions=`, /parse_actions/],
    ['multisig/orders', `address=${A}&offset=-1`, /offset/],
    ['vesting', '', /contract_address or wallet_address is required/],
    ['vesting', 'check_whitelist=true', /contract_address or wallet_address is required/],
    ['vesting', `contract_address=${A}&wallet_address=${A}`, /only one of contract_address or wallet_address/],
    ['vesting', 'contract_address=', /contract_address/],
    ['vesting', 'wallet_address=1:zz', /wallet_address/],
    ['vesting', `wallet_address=${A}&check_whitelist=2`, /check_whitelist/],
  ])('%s?%s is refused, by name', async (method, query, named) => {
    const { status, error, asked } = await ask(method, query);
    expect([status, error]).toEqual([422, expect.stringMatching(named)]);
    expect(asked).toEqual([]);
  });
});
