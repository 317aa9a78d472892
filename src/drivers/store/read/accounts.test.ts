import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { TokenFacts, WantedFacts } from '#drivers/store/read/index-types.js';
import { setCodeMethods } from '#drivers/store/write/accounts.js';
import { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { explain, recordingDatabase, type SentStatement } from '#test/support/explained-plans.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const everything: WantedFacts = { domains: true, tokens: true };

const at = (fill: number, workchain = 0) => Address.ofParts(workchain, new Uint8Array(32).fill(fill));
const hash = (fill: number) => new Uint8Array(32).fill(fill);
const raw = (fill: number) => at(fill).toRaw();
const key = (fill: number) => addressBytes(at(fill));

let own: TestDatabase;
let client: pg.Client;
let database: Database;
let reader: IndexPort;

beforeAll(async () => {
  own = await testDatabase();
  client = await own.connect();
  database = await Database.open({ url: own.url, writeConnections: 1 }, { clock: systemClock });
});
afterAll(async () => {
  await database?.close();
  await own?.close();
});

const zeros = hash(0);
function account(fill: number, code: number | null): object {
  return {
    ...{ address: key(fill), state_hash: zeros, status: code === null ? 0 : 1, balance: 0n, last_trans_lt: 1n },
    ...{
      last_trans_hash: zeros,
      mc_seqno: 1,
      gen_utime: 1,
      code_hash: code === null ? null : hash(code),
      incomplete: false,
    },
  };
}

const state = (fill: number, lapsed: string | null = null) => ({
  ...{ address: key(fill), lapsed, last_trans_lt: 1n, mc_seqno: 1 },
});

/** Rows of a table of contracts, whose ids are given by the database. */
const add = (table: string, ...rows: object[]) => insert(client, table, rows);

const master = (fill: number, content: object, lapsed: string | null = null) => ({
  ...state(fill, lapsed),
  ...{ total_supply: 5n, mintable: true, content, jetton_wallet_code_hash: zeros },
});
const wallet = (fill: number, jetton: number, lapsed: string | null = null) => ({
  ...state(fill, lapsed),
  ...{ balance: 10n ** 30n, owner: key(90), jetton: key(jetton) },
});
const item = (fill: number, content: object, lapsed: string | null = null) => ({
  ...state(fill, lapsed),
  ...{ init: true, index: 2n ** 255n, content },
});
const domain = (fill: number, owner: number, name: string, points: number | null, lapsed: string | null = null) => ({
  ...state(fill, lapsed),
  ...{ owner: key(owner), domain: name, dns_wallet: points === null ? null : key(points) },
});

beforeAll(async () => {
  await add('accounts', account(1, 11), account(2, null), account(3, 13), account(4, 14), account(90, null));
  await add(
    'codes',
    { code_hash: hash(11), boc: zeros, methods: [0, 85_143], methods_read: true },
    { code_hash: hash(13), boc: zeros, methods: null, methods_read: false },
  );
  await add('jetton_masters', master(20, { name: 'Twenty' }), master(21, {}, 'destroyed'), master(22, { uri: 'u' }));
  await add('jetton_wallets', wallet(30, 20), wallet(31, 21), wallet(32, 20, 'changed'), wallet(33, 22));
  await add('nft_collections', { ...state(40), next_item_index: 7n, content: { name: 'Forty' } });
  await add('nft_items', item(50, { uri: 'x' }), item(51, {}), item(52, {}, 'refused'), item(20, {}));
  await add(
    'dns_items',
    ...[domain(51, 3, 'fifty-one.ton', 3), domain(60, 3, 'sixty.ton', 3), domain(61, 3, 'a.ton', 4)],
    ...[domain(62, 4, 'b.ton', 3), domain(63, 3, 'c.ton', 3, 'changed'), domain(64, 3, 'd.example', 3)],
    ...[domain(65, 80, 'late.t.me', 80), domain(66, 80, 'early.t.me', 80), domain(67, 80, 'e.ton', null)],
  );
  const document = { symbol: 'S' };
  await add('token_metadata', { address: key(22), kind: 'jetton_masters', uri: 'u', document, attempts: 1 });
  await add('token_metadata', {
    ...{
      address: key(50),
      kind: 'nft_items',
      uri: 'x',
      failure: { code: 'c' },
      override: { is_scam: true },
      attempts: 2,
    },
  });
  // Of another kind.
  await add('token_metadata', { address: key(40), kind: 'nft_items', uri: 'y', attempts: 0 });
  reader = indexReads(database);
});

const facts = (fills: readonly number[], wanted = everything) =>
  reader.addressFacts(
    fills.map((fill) => at(fill)),
    wanted,
    options,
  );

/** A token with its addresses as texts. */
function withRaw(token: TokenFacts): object {
  if (token.kind !== 'jetton_wallets') return token;
  return { ...token, owner: token.owner.toRaw(), jetton: token.jetton.toRaw() };
}

describe('what is known of addresses', () => {
  it('is the code of those that have a state, and its methods where these are known', async () => {
    const { accounts } = await facts([1, 2, 3, 4, 5, 1]);
    expect(Object.fromEntries(accounts)).toEqual({
      [raw(1)]: { code_hash: Buffer.from(hash(11)), methods: [0, 85_143] },
      [raw(2)]: { code_hash: null, methods: null },
      [raw(3)]: { code_hash: Buffer.from(hash(13)), methods: null },
      [raw(4)]: { code_hash: Buffer.from(hash(14)), methods: null },
    });
    expect((await facts([])).accounts.size).toBe(0);
    expect((await reader.addressFacts([at(1, -1)], everything, options)).accounts.size).toBe(0);
  });

  it('follows methods that become known, and does not read those again that are', async () => {
    await setCodeMethods(client, hash(13), [7]);
    expect((await facts([3])).accounts.get(raw(3))?.methods).toEqual([7]);
    // It never happens that methods of a code change; what is kept is seen by this.
    await setCodeMethods(client, hash(11), [1]);
    expect((await facts([1])).accounts.get(raw(1))?.methods).toEqual([0, 85_143]);
    await setCodeMethods(client, hash(11), [0, 85_143]);
  });

  it('is the shortest domain that is theirs and leads to them', async () => {
    const { domains } = await facts([1, 3, 4, 80, 90]);
    // That of 80 has no state. 3 owns a.ton, which leads to 4; b.ton leads to 3, and 4 owns it.
    expect([...domains]).toEqual([
      [raw(3), 'sixty.ton'],
      [raw(80), 'late.t.me'],
    ]);
    expect((await facts([3], { domains: false, tokens: false })).domains.size).toBe(0);
  });

  it('is what they are as tokens, with the masters of wallets', async () => {
    const { tokens } = await facts([30, 31, 32, 33, 40, 50, 51, 52, 99]);
    const reported = Object.fromEntries([...tokens].map(([each, { tokens: of }]) => [each, of.map(withRaw)]));
    const ofWallet = { kind: 'jetton_wallets', balance: 10n ** 30n, owner: raw(90) };
    expect(reported).toEqual({
      [raw(30)]: [{ ...ofWallet, jetton: raw(20) }],
      [raw(31)]: [{ ...ofWallet, jetton: raw(21) }],
      [raw(33)]: [{ ...ofWallet, jetton: raw(22) }],
      [raw(20)]: [{ kind: 'jetton_masters', content: { name: 'Twenty' }, metadata: null }],
      [raw(22)]: [
        {
          ...{ kind: 'jetton_masters', content: { uri: 'u' } },
          metadata: { uri: 'u', document: { symbol: 'S' }, override: null, failed: false },
        },
      ],
      [raw(40)]: [{ kind: 'nft_collections', content: { name: 'Forty' }, metadata: null }],
      [raw(50)]: [
        {
          ...{ kind: 'nft_items', index: 2n ** 255n, content: { uri: 'x' } },
          metadata: { uri: 'x', document: null, override: { is_scam: true }, failed: true },
        },
      ],
      [raw(51)]: [{ kind: 'nft_items', index: 2n ** 255n, content: { domain: 'fifty-one.ton' }, metadata: null }],
    });
    for (const { address } of tokens.values()) expect(tokens.get(address.toRaw())?.address).toBe(address);
    expect((await facts([20])).tokens.get(raw(20))?.tokens.map(({ kind }) => kind)).toEqual([
      'jetton_masters',
      'nft_items',
    ]);
    expect((await facts([30], { domains: true, tokens: false })).tokens.size).toBe(0);
  });
});

describe('what is known of a page of addresses in a large index', () => {
  it('is read by keys, in two statements, and in one when its codes have come before', async () => {
    const many = `SELECT sha256(i::text::bytea) AS h, ('\\x00' || right(sha256(i::text::bytea)::text, 64))::bytea AS a, i
      FROM generate_series(1, 20000) i`;
    const named = 'address, last_trans_lt, mc_seqno';
    for (const statement of [
      `INSERT INTO codes (code_hash, boc, methods_read) SELECT h, h, true FROM (${many}) m`,
      `INSERT INTO accounts (${named}, state_hash, status, balance, last_trans_hash, gen_utime, code_hash, incomplete)
       SELECT a, 1, 1, h, 1, 0, h, 1, h, false FROM (${many}) m`,
      `INSERT INTO dns_items (id, ${named}, owner, domain, dns_wallet)
       SELECT i, a, 1, 1, CASE WHEN i % 3 = 0 THEN '\\x01'::bytea ELSE a END, i || '.ton', CASE WHEN i % 2 = 0 THEN '\\x01'::bytea ELSE a END
       FROM (${many}) m`,
      `INSERT INTO jetton_masters (id, ${named}, total_supply, mintable, content, jetton_wallet_code_hash)
       SELECT i, a, 1, 1, 1, true, '{}', h FROM (${many}) m`,
      `INSERT INTO jetton_wallets (id, ${named}, balance, owner, jetton)
       SELECT i, '\\x01'::bytea || a, 1, 1, 1, a, a FROM (${many}) m`,
      `INSERT INTO nft_collections (id, ${named}, next_item_index, content) SELECT i, a, 1, 1, 1, '{}' FROM (${many}) m`,
      `INSERT INTO nft_items (id, ${named}, init, index, content) SELECT i, a, 1, 1, true, 1, '{}' FROM (${many}) m`,
      `INSERT INTO token_metadata (address, kind) SELECT a, 'nft_items' FROM (${many}) m`,
      ...['codes', 'accounts', 'dns_items', 'jetton_masters', 'jetton_wallets', 'nft_items'].map(
        (table) => `ANALYZE ${table}`,
      ),
    ]) {
      await client.query(`${statement} ${statement.startsWith('INSERT') ? 'ON CONFLICT DO NOTHING' : ''}`);
    }
    const { rows } = await client.query<{ a: Uint8Array }>(`SELECT a FROM (${many}) m LIMIT 1000`);
    const page = rows.map(({ a }) => Address.ofParts(0, a.slice(1)));
    const run = async ({ text, values }: SentStatement) => (await client.query(text, [...values])).rows;
    const { database: recording, sent } = recordingDatabase(run);
    const fresh = indexReads(recording);
    const found = await fresh.addressFacts(page, everything, options);
    expect([found.accounts.size, found.tokens.size]).toEqual([1000, 1000]);
    expect(found.domains.size).toBe(Math.floor(1000 / 3));
    expect(sent.length).toBe(2);
    await fresh.addressFacts(page, everything, options);
    expect(sent.length).toBe(3);
    for (const statement of sent.slice(0, 2)) {
      expect(statement.isPrepared).toBe(true);
      for (const mode of ['force_generic_plan', 'force_custom_plan'] as const) {
        const { scanned, buffers } = await explain(client, statement, mode);
        expect(scanned, statement.text).toEqual([]);
        // Some blocks for each address and table.
        expect(buffers, statement.text).toBeLessThan(1000 * 48);
      }
    }
  });
});
