import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { FULL } from '#test/support/full-depth.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { liveReplay } from '#test/support/replayed-indexer.js';
import { copyOfIndex, RECORDED_NET, sharedIndex } from '#test/support/shared-index.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { callV3 } from '#test/support/v3-method.js';
import { fill, followAndFill } from '../sim/fill-order.js';

interface Filled {
  /** How. */
  readonly way: string;
  readonly database: Database;
  readonly index: IndexPort;
}

/** Fills the index of an empty database. */
type Fill = (folder: string, to: number, test: TestDatabase) => Promise<void>;

/** Each comes upon transactions and contracts in another order. */
const fillBackwards: Fill = async (folder, to, test) => {
  const chain = liveReplay(folder, null, to);
  const part = Math.ceil(to / 4);
  for (let from = to - part + 1; from > 1; from -= part) {
    await fill(chain, test, { from, to: from + part - 1, workers: 3, batchMcBlocks: 7 });
  }
  await fill(chain, test, { workers: 3, batchMcBlocks: 7 });
};
const fillWhole: Fill = (folder, to, test) =>
  fill(liveReplay(folder, null, to), test, { workers: 1, batchMcBlocks: 100 });

/** Gives contracts the numbers that a version gave them which listed them as they were found, and lets today's list them. */
async function renumber(folder: string, to: number, url: string): Promise<void> {
  const client = new pg.Client(connectionConfig(url));
  await client.connect();
  try {
    await client.query('UPDATE accounts SET first_tx = NULL');
    for (const { table } of CONTRACT_INTERFACES) {
      await client.query(
        `UPDATE ${table.name} t SET id = n.n FROM (SELECT address, row_number() OVER (ORDER BY md5(address)) AS n FROM ${table.name}) n
         WHERE n.address = t.address`,
      );
    }
    await client.query(`DELETE FROM derivations WHERE name = 'first_transactions'`);
  } finally {
    await client.end();
  }
  await fill(liveReplay(folder, null, to), { url }, { deriveOnly: true });
}

const closers: (() => Promise<void>)[] = [];

/** URL of an empty database with the index of a chain. */
async function filledIndex(how: Fill, folder: string, to: number): Promise<string> {
  const test = await testDatabase();
  closers.push(() => test.close());
  await how(folder, to, test);
  await (await test.connect()).query('ANALYZE');
  return test.url;
}

/** Prepared by one writer, without an indexer, from bundles in their order. */
const RECORDED = { folder: RECORDED_NET.folder, to: RECORDED_NET.to! };

/** URLs of indexes of a chain by how they were filled: all ways for the small one, those that differ most for the large one. */
const CHAINS = [
  {
    ...{ name: 'the development chain', fewest: 300, takesLong: false },
    fillAll: async (): Promise<Readonly<Record<string, string>>> => {
      const made = (how: Fill) => filledIndex(how, DEV_CHAIN, 380);
      const renumbered = await made(fillWhole);
      await renumber(DEV_CHAIN, 380, renumbered);
      return {
        'followed from the middle while it was filled': await made((folder, to, test) =>
          followAndFill(liveReplay(folder, Math.floor(to / 2), to), test),
        ),
        'backwards, with three threads': await made(fillBackwards),
        'in its order by a version that listed contracts as they were found': renumbered,
      };
    },
  },
  {
    ...{ name: 'the recorded network', fewest: 750, takesLong: true },
    fillAll: async (): Promise<Readonly<Record<string, string>>> => {
      const renumbered = await copyOfIndex(RECORDED_NET, 'list_order');
      await renumber(RECORDED.folder, RECORDED.to, renumbered);
      return {
        'in its order': await sharedIndex(RECORDED_NET),
        'backwards, with three threads': await filledIndex(fillBackwards, RECORDED.folder, RECORDED.to),
        'by a version that listed contracts as they were found': renumbered,
      };
    },
  },
];

describe.each(CHAINS.filter(({ takesLong }) => FULL || !takesLong))('two indexes of $name', ({ fillAll, fewest }) => {
  let filled: Filled[] = [];
  beforeAll(async () => {
    for (const [way, url] of Object.entries(await fillAll())) {
      const database = await Database.open({ url }, { clock: systemClock });
      filled.push({ way, database, index: indexReads(database) });
    }
  }, 1_200_000);
  afterAll(async () => {
    for (const { database } of filled) await database.close();
    for (const close of closers.splice(0)) await close();
    filled = [];
  });

  it('answer every list with the same bytes, by offsets and by cursors', async () => {
    const requests = await listRequests(filled[0]!.index);
    expect(requests.length).toBeGreaterThan(fewest);
    const differing: string[] = [];
    const refused: string[] = [];
    for (const [method, query] of requests) {
      const [first, ...others] = await Promise.all(filled.map(({ index }) => pagesOf(index, method, query)));
      if (first!.includes('status ')) refused.push(`${method}?${query}`);
      for (const [i, other] of others.entries()) {
        if (other !== first) differing.push(`${filled[i + 1]!.way}: ${method}?${query}`);
      }
    }
    expect([differing, refused]).toEqual([[], []]);
  }, 1_200_000);
});

/** Pages of small limits that are read by cursors, at most; of large ones, one. */
const MOST_PAGES = 4;

/** An answer, and those behind it. */
async function pagesOf(index: IndexPort, method: string, query: string): Promise<string> {
  const pages: string[] = [];
  const most = query.startsWith('limit=200') ? 2 : MOST_PAGES;
  for (let cursor: string | undefined = '', rest = query; cursor !== undefined && pages.length < most; ) {
    const { status, body, headers } = await callV3(method, rest, { network: { index } });
    pages.push(status === 200 ? JSON.stringify(body) : `status ${status}`);
    cursor = headers['X-Tern-Next'];
    rest = `${query.replace(/&offset=\d+/, '')}&cursor=${encodeURIComponent(cursor ?? '')}`;
  }
  return pages.join('\n');
}

/** A row of an answer. */
type Answered = Readonly<Record<string, string | number | null>>;

const textOf = (value: unknown) => (value instanceof Address ? value.toRaw() : String(value));

/** Calls of all lists, with filters that match. */
async function listRequests(index: IndexPort): Promise<readonly (readonly [method: string, query: string])[]> {
  const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
  const page = { limit: 1000, offset: 0, cursor: null, sort: 'asc' } as const;
  const { rows: masters } = await index.jettonMasters({}, page, options);
  const { rows: wallets } = await index.jettonWallets({}, page, options);
  const { rows: collections } = await index.nftCollections({}, page, options);
  const { rows: items } = await index.nftItems({}, page, options);
  const { rows: multisigs } = await index.multisigs({}, page, options);
  const { rows: orders } = await index.multisigOrders({}, page, options);
  const { rows: vestings } = await index.vestingContracts({}, page, options);
  const { rows: domains } = await index.dnsRecords({}, page, options);
  const { body } = await callV3('transactions', 'limit=1000', { network: { index } });
  const transactions: readonly Answered[] = body.transactions;
  const messages: readonly Answered[] = (await callV3('messages', 'limit=1000', { network: { index } })).body.messages;
  const { rows: accounts } = await index.topAccounts(page, options);
  const some = <Row>(from: readonly Row[], column: keyof Row, most = 4) =>
    [...new Set(from.flatMap((row) => (row[column] == null ? [] : [textOf(row[column])])))]
      .filter((_, i, all) => i % Math.ceil(all.length / most) === 0)
      .map((value) => encodeURIComponent(value));
  const each = (name: string, values: readonly string[]) => [
    ...values.map((value) => `${name}=${value}`),
    ...(values.length > 1 ? [values.map((value) => `${name}=${value}`).join('&')] : []),
  ];
  const owners = some(wallets, 'owner');
  const both = owners.flatMap((owner) =>
    some(wallets, 'jetton', 2).map((jetton) => `owner_address=${owner}&jetton_address=${jetton}`),
  );
  const sorts = ['sort=asc', 'sort=desc'];
  const lists: Readonly<Record<string, readonly string[]>> = {
    'jetton/masters': [
      '',
      ...each('admin_address', some(masters, 'admin')),
      ...each('address', some(masters, 'address')),
    ],
    'jetton/wallets': [
      '',
      ...each('owner_address', owners),
      ...some(wallets, 'jetton').map((jetton) => `jetton_address=${jetton}`),
      ...both,
    ].flatMap((filter) =>
      ['', ...sorts].flatMap((sort) => [`${filter}&${sort}`, `${filter}&${sort}&exclude_zero_balance=true`]),
    ),
    'nft/collections': ['', ...each('owner_address', some(collections, 'owner'))],
    'nft/items': [
      '',
      ...each('owner_address', some(items, 'owner')),
      ...some(items, 'collection_address').map((collection) => `collection_address=${collection}`),
    ].flatMap((filter) =>
      ['', 'sort_by_last_transaction_lt=true', 'include_on_sale=true'].map((more) => `${filter}&${more}`),
    ),
    'dns/records': each('wallet', some(domains, 'dns_wallet')),
    'multisig/wallets': [...each('address', some(multisigs, 'address'))].flatMap((filter) =>
      sorts.map((sort) => `${filter}&${sort}&include_orders=true`),
    ),
    'multisig/orders': [...each('multisig_address', some(orders, 'multisig'))].flatMap((filter) =>
      sorts.map((sort) => `${filter}&${sort}`),
    ),
    vesting: [
      ...each('wallet_address', some(vestings, 'owner')),
      ...each('contract_address', some(vestings, 'address')),
    ],
    'jetton/transfers': ['', ...each('owner_address', owners)].flatMap((filter) =>
      sorts.map((sort) => `${filter}&${sort}`),
    ),
    'jetton/burns': sorts,
    'nft/transfers': ['', ...each('owner_address', some(items, 'owner'))].flatMap((filter) =>
      sorts.map((sort) => `${filter}&${sort}`),
    ),
    transactions: [
      '',
      ...['workchain=0', 'workchain=-1', `end_utime=${some(transactions, 'now', 1)}`],
      ...each('account', some(transactions, 'account')),
      ...some(transactions, 'mc_block_seqno').map((seqno) => `mc_seqno=${seqno}`),
    ].flatMap((filter) => sorts.map((sort) => `${filter}&${sort}`)),
    messages: [
      '',
      ...['exclude_externals=true', 'only_externals=true', 'direction=in', 'direction=out'],
      ...some(messages, 'source').map((source) => `source=${source}`),
      ...some(messages, 'destination').map((destination) => `destination=${destination}`),
      ...some(messages, 'opcode').map((opcode) => `opcode=${opcode}`),
    ].flatMap((filter) => sorts.map((sort) => `${filter}&${sort}`)),
    traces: ['', ...some(transactions, 'account').map((account) => `account=${account}`)].flatMap((filter) =>
      sorts.map((sort) => `${filter}&${sort}`),
    ),
    blocks: ['', 'workchain=0'].flatMap((filter) => sorts.map((sort) => `${filter}&${sort}`)),
    topAccountsByBalance: [''],
  };
  const pages = ['limit=1', 'limit=7&offset=3', 'limit=200'];
  const paged = Object.entries(lists).flatMap(([method, filters]) =>
    filters.flatMap((filter) =>
      pages.map((page): [string, string] => [method, `${page}&${filter}`.replace(/&+/g, '&').replace(/&$/, '')]),
    ),
  );
  const all = accounts.map(({ address }) => `address=${address.toRaw()}`);
  const byAddress = ['addressBook', 'metadata', 'accountStates', 'walletStates'].flatMap((method) =>
    [all.slice(0, 200), all.slice(0, 200).reverse()].map((addresses): [string, string] => [
      method,
      addresses.join('&'),
    ]),
  );
  return [...paged, ...byAddress, ['nft/sales', all.slice(0, 500).join('&')]];
}
