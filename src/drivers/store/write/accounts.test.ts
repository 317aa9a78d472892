import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openIndex } from '#drivers/store/index-state.js';
import { STAGED_ACCOUNTS } from '#drivers/store/tables.js';
import { createStagingTables, mergeAccounts } from '#drivers/store/write/accounts.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const [ADDRESS, STATE, CODE, DATA] = [Uint8Array.of(0, ...hash(1)), hash(2), hash(3), hash(4)];
const BOC = Uint8Array.of(7);

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await testDatabase();
  client = await database.connect();
  await openIndex(client, { zerostate_root_hash: hash(9), zerostate_file_hash: hash(9), selection: {} }, 1000);
  await client.query('INSERT INTO codes (code_hash, boc, methods_read) VALUES ($1, $2, true)', [CODE, BOC]);
});
afterEach(() => database.close());

/** A state with one extra currency. */
const state = (mc_seqno: number, more: object = {}) => ({
  ...{ address: ADDRESS, state_hash: STATE, status: 1, balance: 1n, last_trans_lt: 20n, last_trans_hash: hash(5) },
  ...{ mc_seqno, gen_utime: 1n, code_hash: CODE, data_hash: DATA, data_boc: BOC, extra_currencies: { '7': '5' } },
  ...{ incomplete: false, ...more },
});
const LACKS_DATA = { data_boc: null, incomplete: true };
const LACKS_CURRENCIES = { extra_currencies: {}, incomplete: true };

async function merge(staged: object): Promise<void> {
  await client.query('BEGIN');
  await createStagingTables(client);
  await insert(client, STAGED_ACCOUNTS.table, [staged]);
  await mergeAccounts(client, []);
  await client.query('COMMIT');
}

async function account() {
  const { rows } = await client.query(
    `SELECT incomplete, data_boc IS NOT NULL AS "hasData", extra_currencies, mc_seqno, EXISTS (SELECT FROM contract_queue) AS queued
     FROM accounts`,
  );
  return rows[0];
}

it.each([
  ['data', LACKS_DATA],
  ['extra currencies', LACKS_CURRENCIES],
])('an account whose %s are not known becomes complete by an import of the same state', async (_, lacking) => {
  await insert(client, 'accounts', [state(20, lacking)]);
  await merge(state(100));
  const extra_currencies = { '7': '5' };
  expect(await account()).toEqual({ incomplete: false, hasData: true, extra_currencies, mc_seqno: 20, queued: true });
});

it('an account whose data come with an older state still lacks its extra currencies', async () => {
  await insert(client, 'accounts', [state(20, { ...LACKS_DATA, ...LACKS_CURRENCIES })]);
  await merge(state(10, { last_trans_lt: 10n, state_hash: hash(6) }));
  expect(await account()).toMatchObject({ incomplete: true, hasData: true, extra_currencies: {}, queued: false });
});
