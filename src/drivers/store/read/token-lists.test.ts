import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type {
  JettonMasterFilter,
  JettonWalletFilter,
  NftCollectionFilter,
  NftItemFilter,
  Page,
} from '#drivers/store/read/index-types.js';
import { knownNftItems } from '#drivers/store/read/known-accounts.js';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { compareCombinations, Dice } from '#test/support/filter-combinations.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const options = { signal: new AbortController().signal, timeoutMs: 10_000 };
const dice = new Dice(11);

function address(kind: number, number: number): Address {
  const hash = new Uint8Array(32).fill(kind);
  new DataView(hash.buffer).setUint32(0, Math.imul(number + 1, 2_654_435_761));
  return Address.ofParts(number % 9 === 5 ? -1 : 0, hash);
}

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const lapsedOf = (at: number): string | null => (at % 11 === 4 ? 'changed' : null);

const owners = list(9, (at) => address(1, at));
const jettons = list(7, (at) => address(2, at));
const places = list(6, (at) => address(3, at));
/** Ids are given in this order. */
const wallets = list(260, (at) => ({
  id: BigInt(at + 1),
  address: address(4, at),
  lapsed: lapsedOf(at),
  balance: dice.pick([0n, 0n, 1n, 5n, 5n, 10n ** 30n, BigInt(at)]),
  // Of the first owner there are most.
  owner: dice.pick([owners[0]!, owners[0]!, ...owners]),
  jetton: dice.pick([jettons[0]!, ...jettons]),
}));
const masters = list(60, (at) => ({
  id: BigInt(at + 1),
  address: address(5, at),
  lapsed: lapsedOf(at),
  admin: at % 6 === 2 ? null : dice.pick(owners),
}));
const collections = places.map((place, at) => ({
  id: BigInt(at + 1),
  address: place,
  lapsed: at === 4 ? 'changed' : null,
  owner: at === 1 ? null : dice.pick(owners.slice(0, 3)),
}));
const sales = list(4, (at) => address(7, at));
const items = list(260, (at) => {
  const owner = at % 17 === 3 ? null : at % 13 === 2 ? dice.pick(sales) : dice.pick([owners[0]!, ...owners]);
  return {
    id: BigInt(at + 1),
    address: address(6, at),
    lapsed: lapsedOf(at),
    index: dice.pick([BigInt(at), 2n ** 255n + BigInt(at), 7n]),
    collection: at % 7 === 1 ? null : dice.pick([places[0]!, ...places]),
    owner,
    real_owner: owner !== null && sales.includes(owner) ? dice.pick(owners) : owner,
    last_trans_lt: BigInt(dice.below(60)),
  };
});

let test: TestDatabase;
let database: Database;
let reader: IndexPort;

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const bytes = (value: Address | null) => (value === null ? null : addressBytes(value));
const state = { last_trans_lt: 3n, mc_seqno: 1, code_hash: hash(9), data_hash: hash(8) };

beforeAll(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  reader = indexReads(database);
  const client = await test.connect();
  await insert(
    client,
    'jetton_wallets',
    wallets.map((row) => ({
      ...{ ...state, ...row, address: bytes(row.address) },
      ...{ owner: bytes(row.owner), jetton: bytes(row.jetton) },
    })),
  );
  await insert(
    client,
    'jetton_masters',
    masters.map((row) => ({
      ...{ ...state, ...row, address: bytes(row.address), admin: bytes(row.admin) },
      ...{ total_supply: 5n, mintable: true, content: { name: 'x' }, jetton_wallet_code_hash: hash(1) },
    })),
  );
  await insert(
    client,
    'nft_collections',
    collections.map((row) => ({
      ...{ ...state, ...row, address: bytes(row.address), owner: bytes(row.owner) },
      ...{ next_item_index: -1n, content: { uri: 'y' } },
    })),
  );
  await insert(
    client,
    'nft_items',
    items.map((row) => ({
      ...{ ...state, ...row, address: bytes(row.address), owner: bytes(row.owner), real_owner: bytes(row.real_owner) },
      ...{ collection: bytes(row.collection), init: true, content: {} },
    })),
  );
});
afterAll(async () => {
  await database?.close();
  await test?.close();
});

const nameOf = ({ address: of }: { readonly address: Address }) => of.toRaw();
const oneOf = (wanted: readonly Address[] | undefined, value: Address | null) =>
  wanted === undefined || (value !== null && wanted.some((one) => one.equals(value)));
/** Among the fact's own, a few others, and one twice. */
const with_ = (own: Address | null, others: readonly Address[], die: Dice): readonly Address[] => {
  const more = list(die.below(4), () => die.pick(others));
  return own === null ? [die.pick(others), ...more] : [own, ...more, own];
};

/** Of no item. */
const ABSENT = { collection: places[0]!, index: 2n ** 200n };

type Key = bigint | string;

/** By several keys, each rising or falling. */
function sorted<Row>(rows: readonly Row[], keys: readonly ((row: Row) => Key)[], falling = false): readonly Row[] {
  return rows.toSorted((a, b) => {
    for (const key of keys) {
      const [x, y] = [key(a), key(b)];
      if (x !== y) return x < y !== falling ? -1 : 1;
    }
    return 0;
  });
}

/** As addresses are sorted: by their bytes, none last. */
const place = (value: Address | null) => (value === null ? 'g' : Buffer.from(addressBytes(value)).toString('hex'));

type Wallet = (typeof wallets)[number];
type Item = (typeof items)[number];

function walletsOf(filter: JettonWalletFilter, sort: 'asc' | 'desc'): readonly Wallet[] {
  const found = wallets.filter(
    (row) =>
      row.lapsed === null &&
      oneOf(filter.address, row.address) &&
      oneOf(filter.owner, row.owner) &&
      oneOf(filter.jetton, row.jetton) &&
      !(filter.exclude_zero_balance === true && row.balance === 0n),
  );
  const id = (row: Wallet) => row.id;
  const first = (rows: readonly Wallet[], more: ((row: Wallet) => Key)[], falling: boolean) => {
    const whole = sorted(rows, more, falling);
    const byOwner = new Set(filter.owner?.map((owner) => owner.toRaw())).size > 1;
    return byOwner ? sorted(whole, [(row) => place(row.owner)]) : whole;
  };
  if (filter.by_balance === true) return first(found, [(row) => row.balance, id], sort === 'desc');
  const onlyAddresses = filter.address !== undefined && filter.owner === undefined && filter.jetton === undefined;
  return onlyAddresses ? sorted(found, [(row) => place(row.address)]) : first(found, [id], false);
}

function itemsOf(filter: NftItemFilter): readonly Item[] {
  const ownerOf = (row: Item) => (filter.include_on_sale === true ? row.real_owner : row.owner);
  const found = items.filter(
    (row) =>
      row.lapsed === null &&
      oneOf(filter.address, row.address) &&
      oneOf(filter.owner, ownerOf(row)) &&
      oneOf(filter.collection, row.collection) &&
      (filter.index === undefined || filter.index.includes(row.index)),
  );
  const id = (row: Item) => row.id;
  if (filter.by_lt === true) return sorted(found, [(row) => row.last_trans_lt, id], true);
  if (filter.address !== undefined) return sorted(found, [id]);
  const keys: ((row: Item) => Key)[] = filter.owner === undefined ? [] : [(row) => place(ownerOf(row))];
  if (filter.owner !== undefined || filter.collection !== undefined) {
    keys.push(
      (row) => place(row.collection),
      (row) => row.index,
    );
  }
  return sorted(found, [...keys, id]);
}

const walletParts = {
  address: (fact: Wallet, die: Dice) => ({
    address: [...with_(fact.address, owners, die), ...list(40, () => die.pick(wallets).address)],
  }),
  owner: (fact: Wallet, die: Dice) => ({ owner: with_(fact.owner, owners, die) }),
  one_owner: (fact: Wallet) => ({ owner: [fact.owner] }),
  jetton: (fact: Wallet, die: Dice) => ({ jetton: with_(fact.jetton, jettons, die) }),
  one_jetton: (fact: Wallet) => ({ jetton: [fact.jetton] }),
  exclude_zero_balance: () => ({ exclude_zero_balance: true }),
  by_balance: () => ({ by_balance: true }),
};

const itemParts = {
  address: (fact: Item, die: Dice) => ({
    address: [...with_(fact.address, owners, die), ...list(40, () => die.pick(items).address)],
  }),
  owner: (fact: Item, die: Dice) => ({ owner: with_(fact.owner, [...owners, ...sales], die) }),
  one_owner: (fact: Item) => ({ owner: [fact.real_owner ?? owners[0]!] }),
  collection: (fact: Item, die: Dice) => ({ collection: with_(fact.collection, places, die) }),
  one_collection: (fact: Item) => ({ collection: [fact.collection ?? places[0]!] }),
  // The API refuses it without a collection.
  index: (fact: Item, die: Dice) => ({
    index: [fact.index, 7n, ...list(die.below(20), () => die.pick(items).index)],
    collection: with_(fact.collection, places, die),
  }),
  include_on_sale: () => ({ include_on_sale: true }),
  by_lt: () => ({ by_lt: true }),
};

describe('lists of tokens are those by brute force, with any filters, page by page:', () => {
  it('jetton wallets', async () => {
    const found = await compareCombinations<Wallet, JettonWalletFilter, { address: Address }>(
      {
        ...{ parts: walletParts, facts: wallets, nameOf },
        read: (filter, page) => reader.jettonWallets(filter, page, options),
        expected: (filter, sort) => walletsOf(filter, sort).map(nameOf),
      },
      dice,
      40,
    );
    expect(found).toBeGreaterThan(70);
  });

  it('NFTs', async () => {
    const found = await compareCombinations<Item, NftItemFilter, { address: Address }>(
      {
        ...{ parts: itemParts, facts: items, nameOf },
        read: (filter, page) => reader.nftItems(filter, page, options),
        expected: (filter) => itemsOf(filter).map(nameOf),
      },
      dice,
      40,
    );
    expect(found).toBeGreaterThan(70);
  });

  it('jettons', async () => {
    type Fact = (typeof masters)[number];
    const found = await compareCombinations<Fact, JettonMasterFilter, { address: Address }>(
      {
        parts: {
          address: (fact, die) => ({ address: [...with_(fact.address, owners, die), die.pick(masters).address] }),
          admin: (fact, die) => ({ admin: with_(fact.admin, owners, die) }),
        },
        ...{ facts: masters, nameOf },
        read: (filter, page) => reader.jettonMasters(filter, page, options),
        expected: (filter) =>
          masters
            .filter(
              (row) => row.lapsed === null && oneOf(filter.address, row.address) && oneOf(filter.admin, row.admin),
            )
            .map(nameOf),
      },
      dice,
      20,
    );
    expect(found).toBeGreaterThan(20);
  });

  it('collections', async () => {
    type Fact = (typeof collections)[number];
    const found = await compareCombinations<Fact, NftCollectionFilter, { address: Address }>(
      {
        parts: {
          address: (fact, die) => ({ address: with_(fact.address, places, die) }),
          owner: (fact, die) => ({ owner: with_(fact.owner, owners, die) }),
        },
        ...{ facts: collections, nameOf },
        read: (filter, page) => reader.nftCollections(filter, page, options),
        expected: (filter) =>
          collections
            .filter(
              (row) => row.lapsed === null && oneOf(filter.address, row.address) && oneOf(filter.owner, row.owner),
            )
            .map(nameOf),
      },
      dice,
      20,
    );
    expect(found).toBeGreaterThan(15);
  });
});

/** A row with addresses and hashes as texts. */
function plain(row: object): object {
  const text = (value: unknown) =>
    value instanceof Address ? value.toRaw() : value instanceof Uint8Array ? toHex(value) : value;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, text(value)]));
}

describe('rows', () => {
  const page: Page = { limit: 1000, offset: 0, sort: 'desc', cursor: null };

  it('report what is stored', async () => {
    const { rows: found } = await reader.jettonWallets({ address: [wallets[7]!.address] }, page, options);
    const { address: of, balance, owner, jetton } = wallets[7]!;
    const contract = { last_trans_lt: 3n, code_hash: toHex(hash(9)), data_hash: toHex(hash(8)) };
    expect(found.map(plain)).toEqual([
      {
        ...contract,
        mintless_is_claimed: null,
        address: of.toRaw(),
        balance,
        owner: owner.toRaw(),
        jetton: jetton.toRaw(),
      },
    ]);
    const { rows: listed } = await reader.jettonMasters({ address: [masters[2]!.address] }, page, options);
    expect(listed.map(plain)).toEqual([
      {
        ...{ ...contract, address: masters[2]!.address.toRaw(), total_supply: 5n, mintable: true, admin: null },
        ...{ content: { name: 'x' }, jetton_wallet_code_hash: toHex(hash(1)) },
      },
    ]);
  });

  it('of items have their collections, unless these have lapsed', async () => {
    const { rows: found } = await reader.nftItems({}, page, options);
    for (const row of found) {
      const at = collections.find(({ address: of }) => row.collection_address?.equals(of));
      if (at === undefined || at.lapsed !== null) expect(row.collection).toBeNull();
      else {
        const { address: of, owner, content } = row.collection!;
        expect([of.toRaw(), owner?.toRaw(), content]).toEqual([at.address.toRaw(), at.owner?.toRaw(), { uri: 'y' }]);
      }
    }
    expect(found.filter(({ collection }) => collection !== null).length).toBeGreaterThan(100);
  });
});

it('items are known by collection and index, unless they have lapsed', async () => {
  const asked = [...items.map(({ collection, index }) => ({ collection: collection ?? places[0]!, index })), ABSENT];
  const stored = asked.map(({ collection, index }) => ({ collection: addressBytes(collection), index }));
  const known = await database.read((lent) => knownNftItems(lent, stored), options);
  const expected = asked.flatMap(({ collection, index }, at) => {
    const item = items.find((one) => one.lapsed === null && one.collection?.equals(collection) && one.index === index);
    return item === undefined ? [] : [[at, place(item.address)]];
  });
  expect([...known].map(([at, found]) => [at, toHex(found)]).sort()).toEqual(expected.sort());
  expect(known.size).toBeGreaterThan(100);
  expect(known.size).toBeLessThan(asked.length);
});
