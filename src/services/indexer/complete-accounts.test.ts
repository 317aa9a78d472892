import { afterEach, beforeEach, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { addressBytes } from '#drivers/store/keys.js';
import { writeClassificationWaits } from '#drivers/store/write/actions.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { Account, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { onlyGrams } from '#formats/tlb/currency.js';
import { systemClock } from '#kernel/clock.js';
import { AccountCompleter } from '#services/indexer/complete-accounts.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';
import { insert } from '#test/support/indexed-chain.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const HASH = new Uint8Array(32).fill(1);
const ADDRESS = Address.ofParts(0, HASH);
const CODE = new Builder().storeUint(1, 8).endCell();
const DATA = new Builder().storeUint(2, 8).endCell();
const ACCOUNT: Account = {
  kind: 'account',
  addr: ADDRESS,
  storage_stat: {
    used: { cells: 1n, bits: 1n },
    storage_extra: { kind: 'storage_extra_none' },
    last_paid: 0,
    due_payment: null,
  },
  storage: {
    last_trans_lt: 20n,
    balance: onlyGrams(7n),
    state: { kind: 'account_active', state_init: stateInitOf(CODE, DATA) },
  },
};
const STATE = encodeCell(Account, ACCOUNT);

/** Sessions that wait for a lock. */
const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let test: TestDatabase;
let database: Database;

beforeEach(async () => {
  test = await testDatabase();
  database = await Database.open({ url: test.url }, { clock: systemClock });
  const identity = { zerostate_root_hash: HASH, zerostate_file_hash: HASH, selection: {} };
  await database.transaction((client) => openIndex(client, identity, 1000));
});
afterEach(async () => {
  await database.close();
  await test.close();
});

const work = () =>
  ({
    database,
    clock: systemClock,
    retries: { run: (once: () => Promise<unknown>) => once() },
    facts: { head: async () => ({ block: { seqno: 30 } }) },
    bundles: { accountAt: async () => ({ account: serializeBoc(STATE) }) },
  }) as unknown as IndexerContext;

it('accounts are completed while a classification records that it waits for them', async () => {
  const client = await test.connect();
  await insert(client, 'accounts', [
    {
      ...{ address: addressBytes(ADDRESS), state_hash: STATE.hash(), status: 1, balance: 7n, last_trans_lt: 20n },
      ...{ last_trans_hash: HASH, mc_seqno: 20, gen_utime: 1n, code_hash: HASH, data_hash: HASH, incomplete: true },
    },
  ]);
  await client.query('BEGIN');
  await lockEvents(client);
  const completed = new AccountCompleter(work()).run({ from: 0, to: 30 }, new AbortController().signal);
  completed.catch(() => {});
  const other = await test.connect();
  await expect.poll(async () => (await other.query(WAITING)).rowCount).toBe(1);
  await writeClassificationWaits(client, [{ root: 5n, address: addressBytes(ADDRESS) }]);
  await client.query('COMMIT');
  expect(await completed).toBe(0);
  const { rows } = await other.query(
    'SELECT incomplete, EXISTS (SELECT FROM classification_waits) AS waits, EXISTS (SELECT FROM contract_queue) AS queued FROM accounts',
  );
  expect(rows).toEqual([{ incomplete: false, waits: true, queued: true }]);
});
