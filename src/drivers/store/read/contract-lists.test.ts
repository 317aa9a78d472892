import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import type { DnsRecordFilter } from '#drivers/store/read/dns.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Page } from '#drivers/store/read/index-types.js';
import type { MultisigFilter, MultisigOrderFilter, VestingFilter } from '#drivers/store/read/multisig-vesting.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { compareCombinations, Dice } from '#test/support/filter-combinations.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const options = { signal: new AbortController().signal, timeoutMs: 10_000 };
const dice = new Dice(7);

function address(kind: number, number: number): Address {
  const hash = new Uint8Array(32).fill(kind);
  new DataView(hash.buffer).setUint32(28, Math.imul(number, 2_654_435_761));
  return Address.ofParts(number % 7 === 3 ? -1 : 0, hash);
}

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const some = (from: readonly Address[], most: number): Address[] => list(dice.below(most + 1), () => dice.pick(from));
const lapsedOf = (at: number): string | null => (at % 9 === 4 ? 'changed' : null);

const wallets = list(14, (at) => address(1, at));
const multisigs = list(90, (at) => ({
  address: address(2, at),
  lapsed: lapsedOf(at),
  signers: some(wallets.slice(0, 10), 4),
  proposers: at % 3 === 0 ? [] : some(wallets.slice(6), 3),
}));
const orders = list(300, (at) => ({
  address: address(3, at),
  lapsed: lapsedOf(at),
  multisig: dice.pick(multisigs.slice(0, 40)).address,
}));
const vestings = list(120, (at) => ({
  address: address(4, at),
  lapsed: lapsedOf(at),
  sender: at % 8 === 1 ? null : dice.pick(wallets),
  owner: at % 11 === 1 ? null : dice.pick(wallets),
  whitelist: some(wallets, 3),
}));
const LETTERS = 'abz09-';
const domains = list(150, (at) => ({
  address: address(5, at),
  lapsed: lapsedOf(at),
  owner: at % 4 === 0 ? null : dice.pick(wallets),
  // Some twice.
  domain: `${list(1 + dice.below(3), () => dice.pick([...LETTERS])).join('')}${dice.pick(['.ton', '.t.me'])}`,
  dns_wallet: at % 5 === 0 ? null : dice.pick(wallets.slice(0, 4)),
}));

let test: TestDatabase;
let database: Database;
let reader: IndexPort;

beforeAll(async () => {
  test = await testDatabase();
  const client = await test.connect();
  const state = { last_trans_lt: 5n, mc_seqno: 1, code_hash: null, data_hash: null };
  const stored = (row: object) => ({ ...state, ...Object.fromEntries(Object.entries(row).map(storedValue)) });
  const numbers = { next_order_seqno: -1n, threshold: 1n };
  await insert(
    client,
    'multisigs',
    multisigs.map((row) => ({ ...stored(row), ...numbers })),
  );
  await insert(
    client,
    'multisig_orders',
    orders.map((row, at) => ({ ...stored(row), order_seqno: BigInt(at) })),
  );
  const times = { start_time: 1n, total_duration: 2n, unlock_period: 1n, cliff_duration: 0n, total_amount: 10n ** 20n };
  await insert(
    client,
    'vesting_contracts',
    vestings.map((row) => ({ ...stored(row), ...times })),
  );
  await insert(client, 'dns_items', domains.map(stored));
  await client.query('ANALYZE');
  database = await Database.open({ url: test.url }, { clock: systemClock });
  reader = indexReads(database);
});
afterAll(async () => {
  await database?.close();
  await test?.close();
});

function storedValue([name, value]: [string, unknown]): [string, unknown] {
  if (value instanceof Address) return [name, addressBytes(value)];
  return [name, Array.isArray(value) ? value.map(addressBytes) : value];
}

const nameOf = (row: { readonly address: Address }) => row.address.toRaw();
const isOf = (of: readonly Address[] | undefined, one: Address | null) =>
  of === undefined || (one !== null && of.some((each) => each.equals(one)));
const meets = (of: readonly Address[] | undefined, all: readonly (Address | null)[]) =>
  of === undefined || all.some((one) => isOf(of, one));
const inOrder = (rows: readonly { readonly address: Address; readonly lapsed: string | null }[], sort: string) => {
  const names = rows.filter(({ lapsed }) => lapsed === null).map(nameOf);
  return sort === 'desc' ? names.reverse() : names;
};
const withOthers = (of: readonly Address[], one: Address | null, dice: Dice): Address[] => [
  ...(one === null ? [] : [one, one]),
  ...list(dice.below(4), () => dice.pick(of)),
];

describe('by every filter, alone and with others, as brute force finds them:', () => {
  it('multisigs', async () => {
    const found = await compareCombinations<(typeof multisigs)[number], MultisigFilter, { address: Address }>(
      {
        facts: multisigs,
        parts: {
          address: (one, dice) => ({
            address: withOthers(
              multisigs.map((each) => each.address),
              one.address,
              dice,
            ),
          }),
          wallet_address: (one, dice) => ({
            wallet_address: withOthers(wallets, one.signers[0] ?? one.proposers[0] ?? null, dice),
          }),
        },
        read: (filter, page) => reader.multisigs(filter, page, options),
        nameOf,
        expected: ({ address, wallet_address }, sort) =>
          inOrder(
            multisigs.filter(
              (one) => isOf(address, one.address) && meets(wallet_address, [...one.signers, ...one.proposers]),
            ),
            sort,
          ),
      },
      dice,
      30,
    );
    expect(found).toBeGreaterThan(30);
  });

  it('orders', async () => {
    const found = await compareCombinations<(typeof orders)[number], MultisigOrderFilter, { address: Address }>(
      {
        facts: orders,
        parts: {
          address: (one, dice) => ({
            address: withOthers(
              orders.map((each) => each.address),
              one.address,
              dice,
            ),
          }),
          multisig_address: (one, dice) => ({
            multisig_address: withOthers(
              multisigs.map((each) => each.address),
              one.multisig,
              dice,
            ),
          }),
        },
        read: (filter, page) => reader.multisigOrders(filter, page, options),
        nameOf,
        expected: ({ address, multisig_address }, sort) =>
          inOrder(
            orders.filter((one) => isOf(address, one.address) && isOf(multisig_address, one.multisig)),
            sort,
          ),
      },
      dice,
      30,
    );
    expect(found).toBeGreaterThan(30);
  });

  it('contracts with vesting', async () => {
    const found = await compareCombinations<(typeof vestings)[number], VestingFilter, { address: Address }>(
      {
        facts: vestings,
        parts: {
          contract_address: (one, dice) => ({
            contract_address: withOthers(
              vestings.map((each) => each.address),
              one.address,
              dice,
            ),
          }),
          wallet_address: (one, dice) => ({
            wallet_address: withOthers(wallets, dice.pick([one.sender, one.owner, one.whitelist[0] ?? null]), dice),
          }),
          check_whitelist: (_, dice) => ({ check_whitelist: dice.below(4) > 0 }),
        },
        read: (filter, page) => reader.vestingContracts(filter, page, options),
        nameOf,
        expected: ({ contract_address, wallet_address, check_whitelist }) =>
          inOrder(
            vestings.filter(
              ({ address, sender, owner, whitelist }) =>
                isOf(contract_address, address) &&
                meets(wallet_address, [sender, owner, ...(check_whitelist === true ? whitelist : [])]),
            ),
            'asc',
          ),
      },
      dice,
      60,
    );
    expect(found).toBeGreaterThan(40);
  });

  it('domains', async () => {
    const inOrderOfDomains = domains.toSorted(
      (a, b) =>
        a.domain.length - b.domain.length ||
        Buffer.compare(Buffer.from(a.domain), Buffer.from(b.domain)) ||
        Buffer.compare(addressBytes(a.address), addressBytes(b.address)),
    );
    const found = await compareCombinations<(typeof domains)[number], DnsRecordFilter, { address: Address }>(
      {
        facts: domains,
        parts: {
          wallet: (one) => (one.dns_wallet === null ? {} : { wallet: one.dns_wallet }),
          domain: ({ domain }) => ({ domain }),
        },
        read: (filter, page) => reader.dnsRecords(filter, page, options),
        nameOf,
        expected: ({ wallet, domain }) =>
          inOrder(
            inOrderOfDomains.filter(
              (one) =>
                isOf(wallet === undefined ? undefined : [wallet], one.dns_wallet) &&
                (domain === undefined || one.domain === domain),
            ),
            'asc',
          ),
      },
      dice,
      30,
    );
    expect(found).toBeGreaterThan(20);
  });
});

describe('lists of contracts', () => {
  const page: Page = { limit: 10, offset: 0, sort: 'desc', cursor: null };

  it('are met by no item of an empty list', async () => {
    const none = { rows: [], next: null };
    expect(await reader.multisigs({ address: [] }, page, options)).toEqual(none);
    expect(await reader.multisigs({ wallet_address: [] }, page, options)).toEqual(none);
    expect(await reader.multisigOrders({ multisig_address: [] }, page, options)).toEqual(none);
    expect(await reader.vestingContracts({ wallet_address: [], check_whitelist: true }, page, options)).toEqual(none);
    expect(await reader.ordersOfMultisigs([], 10, options)).toEqual([]);
  });

  it('give the first orders of multisigs, as many as are wanted', async () => {
    const of = multisigs.slice(0, 12).map((one) => one.address);
    const expected = inOrder(
      orders.filter((one) => isOf(of, one.multisig)),
      'asc',
    );
    for (const most of [1, 5, 1000]) {
      const found = await reader.ordersOfMultisigs([...of, of[0]!], most, options);
      expect(found.map(nameOf), `${most}`).toEqual(expected.slice(0, most));
    }
  });

  it('refuse cursors that are none, and those of other lists and filters', async () => {
    const first = await reader.multisigs({ wallet_address: wallets }, { ...page, limit: 1 }, options);
    const { next } = first;
    expect(next).not.toBeNull();
    const refused = { code: 'store/cursor' };
    for (const cursor of ['x', '', 'AAAAAAAAAAAA', `${next}AA`]) {
      await expect(reader.multisigs({ wallet_address: wallets }, { ...page, cursor }, options)).rejects.toMatchObject(
        refused,
      );
    }
    const behind = { ...page, cursor: next };
    await expect(reader.multisigs({ wallet_address: [wallets[0]!] }, behind, options)).rejects.toMatchObject(refused);
    await expect(
      reader.multisigs({ wallet_address: wallets }, { ...behind, sort: 'asc' }, options),
    ).rejects.toMatchObject(refused);
    await expect(reader.multisigOrders({}, behind, options)).rejects.toMatchObject(refused);
    await expect(reader.dnsRecords({}, behind, options)).rejects.toMatchObject(refused);
  });

  it('take texts of any kind for domains', async () => {
    for (const domain of ["'", '%', '\\', 'ä.ton', '\u{10ffff}']) {
      expect((await reader.dnsRecords({ domain }, page, options)).rows, domain).toEqual([]);
    }
  });
});
