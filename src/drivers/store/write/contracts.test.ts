import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeTouched } from '#drivers/store/event-log.js';
import { openIndex } from '#drivers/store/index-state.js';
import { accountKey, addressBytes, listedLast } from '#drivers/store/keys.js';
import { createStagingTables, mergeAccounts } from '#drivers/store/write/accounts.js';
import { type ContractFindings, type FoundInterface, writeContracts } from '#drivers/store/write/contracts.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { toHex } from '#kernel/bytes.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const MASTER = {
  name: 'jetton_masters',
  columns: {
    total_supply: 'numeric',
    mintable: 'boolean',
    admin: 'address',
    content: 'jsonb',
    jetton_wallet_code_hash: 'bytea',
  },
} as const;
const WALLET = {
  name: 'jetton_wallets',
  columns: { balance: 'numeric', owner: 'address', jetton: 'address', mintless_is_claimed: 'boolean' },
} as const;
const ITEM = {
  name: 'nft_items',
  columns: { init: 'boolean', index: 'numeric', collection: 'address', owner: 'address', content: 'jsonb' },
} as const;
const SALE = {
  name: 'nft_sales',
  columns: {
    is_complete: 'boolean',
    created_at: 'int8',
    marketplace: 'address',
    nft: 'address',
    nft_owner: 'address',
    full_price: 'numeric',
    marketplace_fee_address: 'address',
    marketplace_fee: 'numeric',
    royalty_address: 'address',
    royalty_amount: 'numeric',
  },
} as const;
const DNS = { name: 'dns_items', columns: { owner: 'address', domain: 'text' } } as const;
const ORDER = {
  name: 'multisig_orders',
  columns: { multisig: 'address', order_seqno: 'numeric', threshold: 'int8', order_boc: 'boc', signers: 'addresses' },
} as const;

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await testDatabase();
  client = await database.connect();
  const hash = new Uint8Array(32);
  await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 1000);
});
afterEach(() => database.close());

const hashOf = (n: number) => new Uint8Array(32).fill(n);
const at = (n: number) => Address.ofParts(0, hashOf(n));

function found(
  n: number,
  lt: bigint,
  rows: readonly FoundInterface[],
  more: Partial<ContractFindings> = {},
): ContractFindings {
  const state = {
    address: at(n),
    last_trans_lt: lt,
    mc_seqno: Number(lt),
    code_hash: hashOf(200),
    data_hash: hashOf(201),
  };
  return { ...state, rows, refused: {}, supersededReason: 'changed', ...more };
}

/** An account, as stored. */
const account = (n: number, first_tx: bigint | null) => ({
  ...{ address: addressBytes(at(n)), state_hash: hashOf(n), status: 1, balance: 1n, last_trans_lt: 5n },
  ...{ last_trans_hash: hashOf(n), mc_seqno: 1, gen_utime: 1n, incomplete: false, first_tx },
});

const wallet = (balance: bigint, owner = 50): FoundInterface => ({
  kind: 'jetton_wallet',
  table: WALLET,
  values: { balance, owner: at(owner), jetton: at(60), mintless_is_claimed: null },
});
const master = (content: object): FoundInterface => ({
  kind: 'jetton_master',
  table: MASTER,
  values: {
    total_supply: 5n,
    mintable: true,
    admin: null,
    content: JSON.stringify(content),
    jetton_wallet_code_hash: hashOf(7),
  },
});
const item = (owner: number | null): FoundInterface => ({
  kind: 'nft_item',
  table: ITEM,
  values: { init: true, index: 1n, collection: null, owner: owner === null ? null : at(owner), content: '{}' },
});
const sale = (nft: number, nft_owner: number, created_at: bigint | number = 1): FoundInterface => ({
  kind: 'nft_sale',
  table: SALE,
  values: {
    is_complete: false,
    created_at,
    nft: at(nft),
    nft_owner: at(nft_owner),
    full_price: 1n,
    marketplace_fee: 0n,
    royalty_amount: 0n,
  },
});

async function write(...contracts: ContractFindings[]) {
  await client.query('BEGIN');
  const written = await writeContracts(client, contracts);
  await client.query('COMMIT');
  return written;
}

async function rowsOf(query: string): Promise<readonly unknown[]> {
  const { rows } = await client.query(query);
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [key, Buffer.isBuffer(value) ? nameOf(value) : value]),
    ),
  );
}

/** Addresses of this test are one number, 32 times. */
function nameOf(bytes: Uint8Array): unknown {
  return bytes.length === 33 && bytes[0] === 0 && bytes.every((byte, i) => i === 0 || byte === bytes[1])
    ? bytes[1]
    : toHex(bytes);
}

const changes = async () =>
  Number((await client.query<{ n: bigint }>('SELECT contract_changes AS n FROM index_state')).rows[0]!.n);
const dump = async () => [
  await rowsOf('SELECT address, lapsed, last_trans_lt, balance, owner FROM jetton_wallets ORDER BY address'),
  await rowsOf('SELECT address, lapsed, last_trans_lt, nft, nft_owner FROM nft_sales ORDER BY address'),
  await rowsOf('SELECT address, lapsed, last_trans_lt, owner, real_owner FROM nft_items ORDER BY address'),
  await rowsOf('SELECT address, last_trans_lt, kinds, refused FROM contracts ORDER BY address'),
];

describe('rows of contracts', () => {
  it('have the place of the first transaction of their account, the others come last in a fixed order', async () => {
    await insert(
      client,
      'accounts',
      [9, 3, 8].map((n, i) => account(n, i === 0 ? null : BigInt(30 - n))),
    );
    await write(found(3, 20n, [wallet(1n)]), found(9, 10n, [wallet(1n)]), found(8, 10n, [wallet(1n)]));
    await write(found(8, 30n, [wallet(4n)]), found(2, 5n, [wallet(1n)]));
    const last = [2, 9].sort((a, b) => Number(listedLast(addressBytes(at(a))) - listedLast(addressBytes(at(b)))));
    const rows = await rowsOf('SELECT address, balance, last_trans_lt FROM jetton_wallets ORDER BY id');
    expect(rows).toEqual([
      { address: 8, balance: 4n, last_trans_lt: 30n },
      { address: 3, balance: 1n, last_trans_lt: 20n },
      ...last.map((n) => ({ address: n, balance: 1n, last_trans_lt: n === 2 ? 5n : 10n })),
    ]);
  });

  it('move when a batch has an older transaction of their account', async () => {
    await insert(
      client,
      'accounts',
      [1, 2, 3].map((n) => account(n, n === 3 ? null : 100n * BigInt(n))),
    );
    await write(found(1, 10n, [wallet(1n), master({})]), found(2, 10n, [wallet(1n)]), found(3, 10n, [wallet(1n)]));
    await createStagingTables(client);
    await client.query('BEGIN');
    const staged = [account(1, 150n), account(2, 50n), account(3, 75n), account(4, 80n)];
    await insert(
      client,
      'staged_accounts',
      staged.map((row) => ({ ...row, incomplete: false })),
    );
    await mergeAccounts(client, []);
    await client.query('COMMIT');
    expect(await rowsOf('SELECT address, id FROM jetton_wallets ORDER BY id')).toEqual([
      { address: 2, id: 50n },
      { address: 3, id: 75n },
      { address: 1, id: 100n },
    ]);
    expect(await rowsOf('SELECT id FROM jetton_masters')).toEqual([{ id: 100n }]);
    expect(await rowsOf('SELECT address, first_tx FROM accounts ORDER BY address')).toEqual([
      { address: 1, first_tx: 100n },
      { address: 2, first_tx: 50n },
      { address: 3, first_tx: 75n },
      { address: 4, first_tx: 80n },
    ]);
  });

  it('have every type of column, and what PostgreSQL refuses in texts is replaced', async () => {
    const cell = new Builder().storeUint(7, 8).endCell();
    const dns: FoundInterface = { kind: 'dns_item', table: DNS, values: { owner: null, domain: 'a\0b.ton' } };
    const order: FoundInterface = {
      kind: 'multisig_order',
      table: ORDER,
      values: {
        multisig: Address.ofParts(-1, hashOf(1)),
        order_seqno: (1n << 256n) - 1n,
        threshold: 2,
        order_boc: cell,
        signers: [at(1), at(2)],
      },
    };
    await write(found(1, 1n, [dns, order, master({ name: 'x\0\ud800y', '\0k': '\u{1f600}' })]));
    const { rows } = await client.query(
      `SELECT d.domain, m.content, m.mintable, m.total_supply, m.admin, o.*
       FROM dns_items d JOIN jetton_masters m USING (address) JOIN multisig_orders o USING (address)`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      domain: 'a\ufffdb.ton',
      content: { name: 'x\ufffd\ufffdy', '\ufffdk': '\u{1f600}' },
      mintable: true,
      total_supply: 5n,
      admin: null,
      multisig: Buffer.from(addressBytes(Address.ofParts(-1, hashOf(1)))),
      order_seqno: (1n << 256n) - 1n,
      threshold: 2n,
      order_boc: Buffer.from(serializeBoc(cell)),
      signers: [Buffer.from(addressBytes(at(1))), Buffer.from(addressBytes(at(2)))],
      sent_for_execution: null,
    });
    expect(await rowsOf('SELECT kinds FROM contracts')).toEqual([
      { kinds: ['dns_item', 'jetton_master', 'multisig_order'] },
    ]);
  });

  it('are not written over by older states, whatever the order', async () => {
    const states = [
      found(1, 10n, [wallet(1n)]),
      found(1, 20n, [wallet(2n, 51)]),
      found(1, 30n, []),
      found(1, 40n, [wallet(4n)], { refused: { nft_item: 'not-verified' } }),
    ];
    let expected: unknown;
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ]) {
      await client.query('TRUNCATE jetton_wallets, contracts');
      for (const n of order) await write(states[n]!);
      const content = await dump();
      expected ??= content;
      expect(content).toEqual(expected);
    }
    expect(await write(states[1]!)).toEqual({ older: 1, changed: 0, superseded: 0 });
  });

  it('lapse with their reason and come back', async () => {
    expect(await write(found(1, 10n, [wallet(1n), master({})]))).toEqual({ older: 0, changed: 2, superseded: 0 });
    expect(await write(found(1, 20n, [master({})], { supersededReason: 'refused' }))).toEqual({
      older: 0,
      changed: 1,
      superseded: 1,
    });
    expect(await rowsOf('SELECT address, lapsed, last_trans_lt FROM jetton_wallets')).toEqual([
      { address: 1, lapsed: 'refused', last_trans_lt: 10n },
    ]);
    expect(await rowsOf('SELECT lapsed, last_trans_lt FROM jetton_masters')).toEqual([
      { lapsed: null, last_trans_lt: 20n },
    ]);
    expect(await write(found(1, 30n, [], { supersededReason: 'destroyed', code_hash: null }))).toEqual({
      older: 0,
      changed: 0,
      superseded: 1,
    });
    expect(await rowsOf('SELECT lapsed FROM jetton_masters')).toEqual([{ lapsed: 'destroyed' }]);
    // What lapsed before keeps its reason.
    expect(await rowsOf('SELECT lapsed FROM jetton_wallets')).toEqual([{ lapsed: 'refused' }]);
    expect(await rowsOf('SELECT kinds, code_hash FROM contracts')).toEqual([{ kinds: [], code_hash: null }]);
    expect(await write(found(1, 25n, [wallet(7n)]))).toEqual({ older: 1, changed: 0, superseded: 0 });
    await write(found(1, 40n, [wallet(8n)]));
    expect(await rowsOf('SELECT id, lapsed, balance FROM jetton_wallets')).toEqual([
      { id: listedLast(addressBytes(at(1))), lapsed: null, balance: 8n },
    ]);
  });

  it('are not written again as they are', async () => {
    const states = [
      found(1, 10n, [wallet(1n), master({ uri: 'ipfs://a' })]),
      found(2, 10n, [item(5)]),
      found(3, 10n, [sale(2, 4)]),
    ];
    await write(...states);
    const places = () =>
      rowsOf(`SELECT ctid, xmin FROM jetton_wallets UNION ALL SELECT ctid, xmin FROM jetton_masters
        UNION ALL SELECT ctid, xmin FROM nft_items UNION ALL SELECT ctid, xmin FROM nft_sales
        UNION ALL SELECT ctid, xmin FROM contracts UNION ALL SELECT ctid, xmin FROM token_metadata`);
    const [before, count] = [await places(), await changes()];
    expect(before).toHaveLength(8);
    expect(await write(...states)).toEqual({ older: 0, changed: 0, superseded: 0 });
    expect(await places()).toEqual(before);
    expect(await changes()).toBe(count);
    // A state that differs in its time only is followed.
    await write(found(1, 11n, [wallet(1n), master({ uri: 'ipfs://a' })]));
    expect(await rowsOf('SELECT last_trans_lt FROM jetton_wallets')).toEqual([{ last_trans_lt: 11n }]);
    expect(await changes()).toBe(count + 1);
  });

  it('can be written twice in one transaction', async () => {
    await client.query('BEGIN');
    await writeContracts(client, [found(1, 10n, [wallet(1n)])]);
    expect(await writeContracts(client, [found(2, 10n, [wallet(2n)])])).toEqual({
      older: 0,
      changed: 1,
      superseded: 0,
    });
    await client.query('COMMIT');
    expect(await rowsOf('SELECT address FROM jetton_wallets ORDER BY address')).toEqual([
      { address: 1 },
      { address: 2 },
    ]);
  });

  it('report nothing of accounts of which there is nothing to report', async () => {
    await write(found(1, 10n, []), found(2, 10n, [], { refused: { jetton_wallet: 'not-verified' } }));
    expect(await rowsOf('SELECT address, kinds, refused FROM contracts')).toEqual([
      { address: 2, kinds: [], refused: { jetton_wallet: 'not-verified' } },
    ]);
    expect(await changes()).toBe(0);
    await write(found(2, 20n, []));
    expect(await rowsOf('SELECT address, last_trans_lt, refused FROM contracts')).toEqual([
      { address: 2, last_trans_lt: 20n, refused: null },
    ]);
  });

  it('that do not fit are refused, beside others', async () => {
    await write(found(3, 1n, [sale(2, 4, 5)]));
    const far = sale(2, 4, 1n << 63n);
    expect(await write(found(3, 2n, [far, wallet(3n)]), found(4, 2n, [far]))).toEqual({
      older: 0,
      changed: 1,
      superseded: 1,
    });
    expect(await rowsOf('SELECT address, created_at, lapsed FROM nft_sales')).toEqual([
      { address: 3, created_at: 5n, lapsed: 'changed' },
    ]);
    expect(await rowsOf('SELECT address, kinds, refused FROM contracts ORDER BY address')).toEqual([
      { address: 3, kinds: ['jetton_wallet'], refused: { nft_sale: 'value-range' } },
      { address: 4, kinds: [], refused: { nft_sale: 'value-range' } },
    ]);
  });
});

describe('the real owner of an item', () => {
  const owners = () => rowsOf('SELECT owner, real_owner FROM nft_items');

  it('is the one of the sale that owns it, whichever is seen first', async () => {
    await write(found(1, 10n, [item(5)]));
    expect(await owners()).toEqual([{ owner: 5, real_owner: 5 }]);
    await write(found(1, 20n, [item(3)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 3 }]);
    await write(found(3, 15n, [sale(1, 5)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 5 }]);
    await write(found(1, 30n, [item(6)]));
    expect(await owners()).toEqual([{ owner: 6, real_owner: 6 }]);
    await write(found(1, 40n, [item(3)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 5 }]);
    await write(found(1, 50n, [item(null)]));
    expect(await owners()).toEqual([{ owner: null, real_owner: null }]);
  });

  it('is found when both come together', async () => {
    await write(found(1, 10n, [item(3)]), found(3, 15n, [sale(1, 5)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 5 }]);
  });

  it('is the owner again when the sale lapses or is one of another item', async () => {
    await write(found(1, 10n, [item(3)]), found(3, 15n, [sale(1, 5)]));
    await write(found(3, 20n, [sale(2, 5)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 3 }]);
    await write(found(3, 30n, [sale(1, 7)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 7 }]);
    const before = await changes();
    await write(found(3, 40n, [], { supersededReason: 'destroyed' }));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 3 }]);
    expect(await changes()).toBe(before + 1);
  });

  it('does not follow a sale of something else', async () => {
    await write(found(1, 10n, [item(3)]), found(3, 15n, [sale(9, 5)]));
    expect(await owners()).toEqual([{ owner: 3, real_owner: 3 }]);
  });
});

describe('the event of a change', () => {
  /** Writes, and reads which accounts the new events name. */
  const namedAfter = async (...contracts: ContractFindings[]) => {
    const { rows: before } = await client.query<{ last: bigint }>('SELECT last_event AS last FROM index_state');
    await write(...contracts);
    const { rows } = await client.query<{ touched: Uint8Array }>('SELECT touched FROM index_events WHERE id > $1', [
      before[0]!.last,
    ]);
    const named = (list: 'owners' | 'tokens') => {
      const keys = rows.flatMap(({ touched }) => decodeTouched(touched)![list]);
      return Array.from({ length: 256 }, (_, n) => n).filter((n) => keys.includes(accountKey(addressBytes(at(n)))));
    };
    return { owners: named('owners'), tokens: named('tokens') };
  };
  const ownersAfter = async (...contracts: ContractFindings[]) => (await namedAfter(...contracts)).owners;

  it('names the owners of wallets, items and masters before it and after it', async () => {
    expect(await ownersAfter(found(1, 10n, [wallet(5n)]), found(2, 10n, [item(51)]))).toEqual([50, 51]);
    expect(await ownersAfter(found(1, 11n, [wallet(6n)]))).toEqual([50]);
    expect(await ownersAfter(found(1, 11n, [wallet(6n)]))).toEqual([]);
    expect(await ownersAfter(found(2, 11n, [item(52)]))).toEqual([51, 52]);
    const admin = { ...master({}), values: { ...master({}).values, admin: at(53) } };
    expect(await ownersAfter(found(3, 10n, [admin]))).toEqual([53]);
    expect(await ownersAfter(found(1, 12n, []), found(3, 12n, [master({})]))).toEqual([50, 53]);
  });

  it('names the jetton masters of wallets and the collections of items before it and after it', async () => {
    const walletOf = (jetton: number) => ({ ...wallet(5n), values: { ...wallet(5n).values, jetton: at(jetton) } });
    const itemOf = (collection: number) => ({
      ...item(51),
      values: { ...item(51).values, collection: at(collection) },
    });
    expect(await namedAfter(found(1, 10n, [walletOf(61)]))).toEqual({ owners: [50], tokens: [61] });
    expect(await namedAfter(found(1, 10n, [walletOf(61)]))).toEqual({ owners: [], tokens: [] });
    expect(await namedAfter(found(1, 12n, [walletOf(62)]))).toEqual({ owners: [50], tokens: [61, 62] });
    expect(await namedAfter(found(2, 10n, [itemOf(63)]))).toEqual({ owners: [51], tokens: [63] });
    expect(await namedAfter(found(4, 10n, [sale(2, 54)]))).toMatchObject({ tokens: [63] });
    expect(await namedAfter(found(1, 13n, []), found(2, 13n, []))).toEqual({ owners: [50, 51], tokens: [62, 63] });
  });

  it('names the owners of items whose sale changes', async () => {
    await write(found(2, 10n, [item(40)]));
    expect(await ownersAfter(found(40, 10n, [sale(2, 54)]))).toEqual([40, 54]);
    expect(await ownersAfter(found(40, 11n, [sale(2, 55)]))).toEqual([40, 54, 55]);
    expect(await ownersAfter(found(40, 12n, []))).toEqual([40, 55]);
  });
});

describe('metadata', () => {
  const links = () =>
    rowsOf(
      `SELECT address, kind, uri, document, attempts, failure, due_at IS NOT NULL AS due FROM token_metadata ORDER BY 1`,
    );
  const due = { kind: 'jetton_masters', document: null, attempts: 0, failure: null, due: true };

  it('is due when the content names a link, and again when it is another one', async () => {
    await write(
      found(1, 10n, [master({ uri: 'https://a' })]),
      found(2, 10n, [master({ name: 'x' })]),
      found(3, 10n, [wallet(1n)]),
    );
    expect(await links()).toEqual([{ address: 1, uri: 'https://a', ...due }]);
    await client.query(
      `UPDATE token_metadata SET document = '{}', attempts = 3, failure = '{}', due_at = NULL, fetched_at = 1`,
    );
    await write(found(1, 20n, [master({ uri: 'https://a', name: 'y' })]));
    expect(await links()).toEqual([
      { address: 1, uri: 'https://a', kind: 'jetton_masters', document: {}, attempts: 3, failure: {}, due: false },
    ]);
    await write(found(1, 30n, [master({ uri: 'https://b' })]));
    expect(await links()).toEqual([{ address: 1, uri: 'https://b', ...due }]);
  });

  it('goes with the link and with the contract, but for what was set here', async () => {
    await write(...[1, 2, 3].map((n) => found(n, 10n, [master({ uri: 'https://a' })])));
    await client.query(`UPDATE token_metadata SET override = '{"name": "o"}', document = '{}' WHERE address = $1`, [
      addressBytes(at(3)),
    ]);
    await write(
      found(1, 20n, [master({})]),
      found(2, 20n, [], { supersededReason: 'destroyed' }),
      found(3, 20n, [master({ uri: '' })]),
    );
    expect(await links()).toEqual([{ address: 3, ...due, uri: null, due: false }]);
    expect(await rowsOf('SELECT override FROM token_metadata')).toEqual([{ override: { name: 'o' } }]);
    await write(found(2, 30n, [master({ uri: 'https://a' })]), found(3, 30n, [master({ uri: 'https://c' })]));
    expect(await links()).toEqual([
      { address: 2, uri: 'https://a', ...due },
      { address: 3, uri: 'https://c', ...due },
    ]);
  });
});
