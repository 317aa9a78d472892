import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyBinary } from '#drivers/store/copy.js';
import type { BlockRow, MessageRow, TransactionRow } from '#drivers/store/tables.js';
import { createStagingTables } from '#drivers/store/write/accounts.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import { BatchEncoder } from '#drivers/store/write/write-batch.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase('schema');
  client = await database.connect();
  await ensurePartitions(client, { from: 1, to: 1 }, 100);
  await createStagingTables(client);
});
afterAll(() => database.close());

const id = (1n << 24n) | 5n;
const bytes = (fill: number, length = 32) => new Uint8Array(length).fill(fill);

const block: BlockRow = {
  ...{ id, workchain: -1, shard: -(2n ** 63n), seqno: 1, root_hash: bytes(1), file_hash: bytes(2), global_id: -239 },
  ...{ version: 0, bits: 127, flags: 1, gen_utime: 4_000_000_000, start_lt: 7n, end_lt: 2n ** 62n },
  ...{ validator_list_hash_short: 4_000_000_001, gen_catchain_seqno: 3, min_ref_mc_seqno: 4, prev_key_block_seqno: 5 },
  ...{ vert_seqno: 6, master_ref_seqno: null, rand_seed: bytes(3), created_by: bytes(4), global_version: 9 },
  ...{ tx_count: 8, prev_blocks: [-1n, -(2n ** 63n), 0n], shard_tops: [0n, 2n ** 62n, 11n, 0n, -(2n ** 62n), 12n] },
};
const transaction: TransactionRow = {
  ...{ id, lt: 11n, now: 12, account_key: -13n, hash_key: 14n, trace_root: 15n, in_msg_key: null, shard: 2n ** 62n },
  ...{ workchain: 0, block_seqno: 17, global_version: 9, state_after: bytes(5, 2), boc: bytes(6, 3000) },
};
const message: MessageRow = {
  ...{ tx_id: id, msg_key: 21n, body_key: 22n, norm_key: 23n, source_key: -24n, destination_key: 25n, created_lt: 26n },
  ...{ created_at: 27, opcode: -28, position: 255 },
};

/** A row of each table, with fields that differ from each other. */
const samples = {
  blocks: [block, { ...block, id: id + 1n, workchain: 0, master_ref_seqno: 9, shard_tops: null }],
  transactions: [transaction, { ...transaction, id: id + 1n, in_msg_key: 16n, state_after: null }],
  messages: [
    message,
    {
      ...message,
      norm_key: null,
      source_key: null,
      destination_key: null,
      created_lt: null,
      created_at: null,
      opcode: null,
    },
  ],
  traces: [
    {
      ...{
        root: id,
        start_lt: 31n,
        start_utime: 32,
        end_lt: 33n,
        end_utime: 34,
        mc_seqno_end: 35,
        nodes: 36,
        edges: 37,
      },
      ...{ pending_edges: 38, state: 1, trace_id: bytes(7) },
    },
  ],
  trace_accounts: [{ root: id, account_key: -41n, end_lt: 42n, end_utime: 43 }],
  open_messages: [{ msg_hash: bytes(8), trace_root: 51n }],
  orphan_messages: [{ msg_hash: bytes(9), tx_id: 52n }],
  accounts: [
    {
      ...{ address: bytes(10, 33), state_hash: bytes(11), status: 1, balance: 2n ** 100n, last_trans_lt: 61n },
      ...{ extra_currencies: new Map([[100, 2n ** 70n]]), last_trans_hash: bytes(12), mc_seqno: 62, gen_utime: 63 },
      ...{ code_hash: bytes(13), data_hash: bytes(14), frozen_hash: null, data_boc: bytes(15, 5), incomplete: false },
      first_tx: 67n,
    },
    {
      ...{ address: bytes(16, 36), state_hash: bytes(17), status: 2, balance: 0n, last_trans_lt: 64n },
      ...{ extra_currencies: null, last_trans_hash: bytes(18), mc_seqno: 65, gen_utime: 66 },
      ...{ code_hash: null, data_hash: null, frozen_hash: bytes(19), data_boc: null, incomplete: true },
      first_tx: null,
    },
  ],
  token_events: [
    {
      ...{ tx_id: id, lt: 61n, now: 62, account_key: -63n, token_key: 64n, source_key: 65n, destination_key: -66n },
      ...{ kind: 1, aborted: false, confirmed: true },
    },
    {
      ...{
        tx_id: id + 1n,
        lt: 71n,
        now: 72,
        account_key: 73n,
        token_key: null,
        source_key: 75n,
        destination_key: null,
      },
      ...{ kind: 4, aborted: true, confirmed: false },
    },
  ],
  codes: [
    { code_hash: bytes(20), boc: bytes(21, 7), methods: [0, 524_287], methods_read: true },
    { code_hash: bytes(22), boc: bytes(23, 7), methods: null, methods_read: false },
  ],
} as const;

/** A field as the tests of both sides can compare it. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, amount]) => [key, String(amount)]));
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  return value;
}

const fields = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, comparable(value)]));

describe('an encoded batch', () => {
  it('is in the tables as it was given, the space being used again', async () => {
    const encoder = new BatchEncoder();
    encoder.add('blocks', block);
    encoder.reset();
    for (const [name, rows] of Object.entries(samples)) encoder.addAll(name as keyof typeof samples, rows as never);
    await client.query('BEGIN');
    for (const { table, columns, bytes: encoded, rows } of encoder.finish()) {
      await copyBinary(client, table, columns, [encoded]);
      const name = table.replace('staged_', '') as keyof typeof samples;
      expect(rows, table).toBe(samples[name].length);
      const { rows: found } = await client.query(`SELECT * FROM ${table}`);
      const wanted = samples[name].map(fields);
      expect(found.map(fields), table).toEqual(expect.arrayContaining(wanted));
      expect(found.length, table).toBe(wanted.length);
      expect(Object.keys(found[0]).sort(), table).toEqual([...columns].sort());
    }
    await client.query('COMMIT');
  });
});
