import { expect, it } from 'vitest';
import { openIndex } from '#drivers/store/index-state.js';
import { accountKey, addressBytes, firstIdOf } from '#drivers/store/keys.js';
import { type NewClassification, numberLayouts, writeClassifications } from '#drivers/store/write/actions.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { Address } from '#formats/address/address.js';
import { testDatabase } from '#test/support/test-database.js';

const account = (n: number) => Address.ofParts(0, new Uint8Array(32).fill(n));
const keysOf = (...accounts: readonly number[]) => accounts.map((n) => accountKey(addressBytes(account(n)))).sort();

const FIRST = firstIdOf(1);
const SECOND = FIRST + 1n;

/** A trace with one action. */
const trace = (root: bigint, accounts: readonly number[]): NewClassification => ({
  ...{ root, end_lt: 9n, version: 1, state: 'ok', external_hash: null, external_hash_norm: null },
  actions: [
    {
      ...{ type: 'transfer', ancestor_types: [], action_id: new Uint8Array(32), parent_action_id: null, success: true },
      ...{ start_lt: 8n, end_lt: 9n, start_utime: 1, end_utime: 1, transactions: [], details: {} },
      accounts: accounts.map(account),
    },
  ],
});

it('participants that a trace has no more are told when it is classified again', async () => {
  const database = await testDatabase();
  try {
    const client = await database.connect();
    const hash = new Uint8Array(32);
    await openIndex(client, { zerostate_root_hash: hash, zerostate_file_hash: hash, selection: {} }, 1000);
    await ensurePartitions(client, { from: 1, to: 1 }, 1000);
    await client.query('BEGIN');
    const layouts = await numberLayouts(client, [{ name: 'transfer', fields: {} }]);
    const write = async (...traces: readonly NewClassification[]) =>
      [...(await writeClassifications(client, traces, layouts))].sort();
    expect(await write(trace(FIRST, [1, 2]), trace(SECOND, [3]))).toEqual(keysOf(1, 2, 3));
    expect(await write(trace(FIRST, [2, 4]))).toEqual(keysOf(1, 2, 4));
    expect(await write({ ...trace(FIRST, []), actions: [] })).toEqual(keysOf(2, 4));
    expect(await write(trace(FIRST, [5]))).toEqual(keysOf(5));
    await client.query('COMMIT');
  } finally {
    await database.close();
  }
});
