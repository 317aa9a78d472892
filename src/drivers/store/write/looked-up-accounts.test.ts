import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '#drivers/store/database.js';
import { claimRange, openIndex, recreateIndex } from '#drivers/store/index-state.js';
import { readAccountKnowledge } from '#drivers/store/read/known-accounts.js';
import type { ImportedAccountRow } from '#drivers/store/write/accounts.js';
import { addLookedUpAccounts, type LookedUpAccounts } from '#drivers/store/write/looked-up-accounts.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { completeState } from '#drivers/store/write/state-imports.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const hash = (byte: number) => new Uint8Array(32).fill(byte);
const IDENTITY = { zerostate_root_hash: hash(1), zerostate_file_hash: hash(1), selection: {} };
const OPTIONS = { plain: [hash(9)], mostAbsent: 4 };

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await testDatabase();
  database = await Database.open({ url: server.url }, { clock: systemClock });
  await database.transaction((client) => openIndex(client, IDENTITY, 100));
  await database.withWriter((client) => ensurePartitions(client, { from: 900, to: 990 }, 100));
  await index(900, 905);
});

afterEach(async () => {
  await database.close();
  await server.close();
});

/** Indexes masterchain blocks whose root hash is their seqno. */
async function index(from: number, to: number): Promise<void> {
  await database.transaction(async (client) => {
    await lockTraces(client);
    await claimRange(client, { from, to }, 1);
    for (let seqno = from; seqno <= to; seqno++) await insertBlock(client, seqno);
  });
}

function insertBlock(client: pg.ClientBase, seqno: number) {
  return client.query(
    `INSERT INTO blocks SELECT $1, -1, 0, $2, $3, $3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, $3, $3, 0, 0, '{}', NULL`,
    [BigInt(seqno) << 24n, seqno, hash(seqno % 256)],
  );
}

const address = (byte: number) => Uint8Array.of(0, ...hash(byte));

function row(byte: number, code_hash: Uint8Array | null = hash(77)): ImportedAccountRow {
  return {
    account: {
      address: address(byte),
      state_hash: hash(2),
      status: 1,
      balance: 5n,
      extra_currencies: null,
      last_trans_lt: 10n,
      last_trans_hash: hash(3),
      mc_seqno: 905,
      gen_utime: 1,
      code_hash,
      data_hash: null,
      frozen_hash: null,
      data_boc: null,
      first_tx: null,
    },
    code: null,
  };
}

const looked = (seqno: number, given: Partial<LookedUpAccounts>): LookedUpAccounts => ({
  block: { seqno, root_hash: hash(seqno % 256) },
  found: [],
  absent: [],
  ...given,
});

const add = (accounts: LookedUpAccounts) =>
  database.transaction((client) => addLookedUpAccounts(client, accounts, OPTIONS));

async function knowledge(...bytes: number[]): Promise<string[]> {
  const found = await database.read((reader) => readAccountKnowledge(reader, bytes.map(address)));
  return found.map(
    ({ address: [, byte], known, undetected }) =>
      `${byte} ${known ? 'known' : 'unknown'}${undetected ? ' undetected' : ''}`,
  );
}

describe('accounts that were looked up', () => {
  it('enter the index, and contracts the queue', async () => {
    expect(await knowledge(1, 2, 3)).toEqual(['1 unknown', '2 unknown', '3 unknown']);
    expect(await add(looked(905, { found: [row(2), row(1, null)], absent: [address(3)] }))).toBe(true);
    expect(await knowledge(1, 2, 3)).toEqual(['1 known', '2 known undetected', '3 known']);
  });

  it('enter it when blocks were indexed meanwhile, which did not show them', async () => {
    await index(906, 910);
    expect(await add(looked(905, { found: [row(1)] }))).toBe(true);
  });

  it('leave alone what a block has shown meanwhile', async () => {
    await database.transaction((client) => addLookedUpAccounts(client, looked(905, { found: [row(1)] }), OPTIONS));
    const newer = { ...row(1), account: { ...row(1).account, balance: 9n, last_trans_lt: 12n } };
    expect(await add(looked(905, { found: [newer] }))).toBe(true);
    const [stored] = await database.query<{ balance: bigint }>({ text: 'SELECT balance FROM accounts' });
    expect(stored?.balance).toBe(5n);
  });

  it('wait for a batch that is being written, and see what it wrote', async () => {
    const client = await server.connect();
    await client.query('BEGIN');
    await lockTraces(client);
    await claimRange(client, { from: 906, to: 906 }, 1);
    await insertBlock(client, 906);
    const adding = add(looked(905, { found: [row(1)] }));
    const queries = await server.connect();
    await expect
      .poll(
        async () => (await queries.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).rowCount,
      )
      .toBe(1);
    await client.query(
      `INSERT INTO accounts (address, state_hash, status, balance, last_trans_lt, last_trans_hash, mc_seqno, gen_utime, incomplete)
       VALUES ($1, $2, 1, 7, 11, $2, 906, 1, false)`,
      [address(1), hash(4)],
    );
    await client.query('COMMIT');
    expect(await adding).toBe(true);
    const [stored] = await database.query<{ balance: bigint }>({ text: 'SELECT balance FROM accounts' });
    expect(stored?.balance).toBe(7n);
  });

  it.each([
    ['of a block that the index does not have', async () => looked(899, { found: [row(1)] })],
    [
      'of a block of another branch',
      async () => ({ ...looked(905, { found: [row(1)] }), block: { seqno: 905, root_hash: hash(0) } }),
    ],
    [
      'when blocks between it and the head are missing',
      async () => {
        await index(907, 910);
        return looked(905, { found: [row(1)] });
      },
    ],
    [
      'when the index was created again',
      async () => {
        await database.transaction((client) => recreateIndex(client, IDENTITY, 100));
        return looked(905, { found: [row(1)] });
      },
    ],
  ])('do not enter it %s', async (_, prepare) => {
    expect(await add(await prepare())).toBe(false);
    expect(await knowledge(1)).toEqual(['1 unknown']);
  });

  it('that do not exist are known as that until blocks are missing', async () => {
    await add(looked(905, { absent: [address(3)] }));
    await index(906, 906);
    expect(await knowledge(3)).toEqual(['3 known']);
    await index(908, 908);
    expect(await knowledge(3)).toEqual(['3 unknown']);
    await index(907, 907);
    expect(await knowledge(3)).toEqual(['3 known']);
  });

  it('that do not exist are forgotten, the oldest first, when there are too many', async () => {
    await add(looked(904, { absent: [address(1), address(2)] }));
    await add(looked(905, { absent: [address(3), address(4)] }));
    await add(looked(905, { absent: [address(5)] }));
    expect(await knowledge(1, 2, 3, 4, 5)).toEqual(['1 unknown', '2 unknown', '3 known', '4 known', '5 known']);
    await database.transaction((client) => completeState(client, 905));
    const rows = await database.query({ text: 'SELECT FROM absent_accounts' });
    expect(rows).toEqual([]);
  });
});
