import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CopyRows, copyBinary } from '#drivers/store/copy.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase('empty');
  client = await database.connect();
});
afterAll(() => database.close());

const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/** Values of a type, with how they are written and how PostgreSQL writes them as text. */
const kinds = {
  boolean: { write: (rows: CopyRows, value: boolean | null) => rows.bool(value), values: [true, false, null] },
  smallint: {
    write: (rows: CopyRows, value: number | null) => rows.int2(value),
    values: [0, 1, -32_768, 32_767, null],
  },
  integer: {
    write: (rows: CopyRows, value: number | null) => rows.int4(value),
    values: [0, -1, -(2 ** 31), 2 ** 31 - 1, null],
  },
  bigint: {
    write: (rows: CopyRows, value: bigint | number | null) => rows.int8(value),
    values: [
      ...[0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1, 0xffffffff, null],
      ...[0n, -1n, smallest, largest, 2n ** 32n, -(2n ** 32n) - 1n],
    ],
  },
  numeric: {
    write: (rows: CopyRows, value: bigint | null) => rows.numeric(value),
    values: [
      ...[0n, 1n, -1n, 9999n, 10_000n, 10_001n, 99_990_000n, 100_000_000n, -(2n ** 53n), 2n ** 53n - 1n, 2n ** 53n],
      ...[10n ** 16n, 10n ** 20n, 2n ** 120n - 1n, -(2n ** 255n), 10n ** 100n + 7n, null],
    ],
  },
  bytea: {
    write: (rows: CopyRows, value: Uint8Array | null) => rows.bytea(value),
    values: [
      new Uint8Array(),
      Uint8Array.of(0),
      Uint8Array.of(255, 0, 10, 13, 92),
      new Uint8Array(5000).fill(200),
      null,
    ],
  },
  text: {
    write: (rows: CopyRows, value: string | null) => rows.text(value),
    values: ['', 'a', 'zażółć € 😀 \\N \t\n', null],
  },
  jsonb: {
    write: (rows: CopyRows, value: string | null) => rows.jsonb(value),
    values: ['{"100": "5"}', '[1, "é"]', null],
  },
  'bigint[]': {
    write: (rows: CopyRows, value: readonly bigint[] | null) => rows.int8Array(value),
    values: [[], [1n], [smallest, 0n, largest], Array.from({ length: 500 }, (_, i) => BigInt(i)), null],
  },
  'integer[]': {
    write: (rows: CopyRows, value: readonly number[] | null) => rows.int4Array(value),
    values: [[], [1], [-(2 ** 31), 0, 2 ** 31 - 1], Array.from({ length: 500 }, (_, i) => i), null],
  },
  'bytea[]': {
    write: (rows: CopyRows, value: readonly Uint8Array[] | null) => rows.byteaArray(value),
    values: [
      [],
      [new Uint8Array()],
      [Uint8Array.of(1, 0), Uint8Array.of(255)],
      Array.from({ length: 500 }, (_, i) => new Uint8Array(i).fill(i)),
      null,
    ],
  },
};

/** As a parameter of a query, which node-postgres turns into text. */
function asParameter(value: unknown): unknown {
  if (Array.isArray(value) && value.every((item) => item instanceof Uint8Array)) return value;
  return Array.isArray(value) ? `{${value.join(',')}}` : typeof value === 'bigint' ? String(value) : value;
}

describe('rows in binary form', () => {
  for (const [type, { write, values }] of Object.entries(kinds)) {
    it(`hold each ${type} as an INSERT does`, async () => {
      await client.query(`CREATE TEMP TABLE typed (id integer, value ${type})`);
      const rows = new CopyRows();
      for (const [index, value] of values.entries()) {
        await client.query('INSERT INTO typed VALUES ($1, $2)', [index, asParameter(value)]);
        rows.row(2);
        rows.int4(index);
        write(rows, value as never);
      }
      expect(rows.rows).toBe(values.length);
      expect(await copyBinary(client, 'typed', ['id', 'value'], [rows.finish()])).toBe(values.length);
      const { rows: found } = await client.query(
        `SELECT id, count(DISTINCT value::text) AS texts, count(value) AS given, count(*) AS rows FROM typed GROUP BY id ORDER BY id`,
      );
      expect(found).toEqual(
        values.map((value, id) => ({ id, texts: value === null ? 0n : 1n, given: value === null ? 0n : 2n, rows: 2n })),
      );
      await client.query('DROP TABLE typed');
    });
  }
});

describe('copying', () => {
  beforeEach(async () => {
    await client.query(
      'DROP TABLE IF EXISTS "odd ""name"; CREATE TABLE "odd ""name" (id bigint PRIMARY KEY, "Boc" bytea)',
    );
  });

  const table = 'odd "name';
  const columns = ['id', 'Boc'];

  function write(rows: CopyRows, from: number, count: number): void {
    for (let id = from; id < from + count; id++) {
      rows.row(2);
      rows.int8(id);
      rows.bytea(new Uint8Array(id % 3000).fill(id));
    }
  }

  it('takes a buffer that grew, and one that is used again', async () => {
    const rows = new CopyRows(1);
    write(rows, 0, 3000);
    expect(await copyBinary(client, table, columns, [rows.finish()])).toBe(3000);
    rows.reset();
    write(rows, 3000, 10);
    expect(await copyBinary(client, table, columns, [rows.finish()])).toBe(10);
    rows.reset();
    expect(await copyBinary(client, table, columns, [rows.finish()])).toBe(0);
    const { rows: found } = await client.query(
      `SELECT count(*) AS all, count(*) FILTER (WHERE length("Boc") = id % 3000 AND
         (length("Boc") = 0 OR get_byte("Boc", length("Boc") - 1) = id % 256)) AS good FROM "odd ""name"`,
    );
    expect(found).toEqual([{ all: 3010n, good: 3010n }]);
  });

  it('takes chunks that are cut anywhere, as they come', async () => {
    const rows = new CopyRows();
    write(rows, 0, 500);
    const bytes = rows.finish();
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += 7919) {
        await null;
        yield bytes.subarray(at, at + 7919);
      }
    }
    expect(await copyBinary(client, table, columns, pieces())).toBe(500);
  });

  it('takes no further chunk while the database is busy', async () => {
    const holder = await database.connect();
    await holder.query('BEGIN; LOCK TABLE "odd ""name"');
    let taken = 0;
    const rows = new CopyRows();
    function* endless() {
      for (let batch = 0; batch < 64; batch++) {
        rows.reset();
        write(rows, batch * 1000, 1000);
        taken++;
        const bytes = rows.finish();
        // Header and end stand once in the whole.
        yield bytes.slice(batch === 0 ? 0 : 19, batch === 63 ? undefined : bytes.length - 2);
      }
    }
    const copied = copyBinary(client, table, columns, endless());
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(taken).toBeLessThan(16);
    await holder.query('COMMIT');
    expect(await copied).toBe(64_000);
  });

  it('leaves a connection that works when the database refuses the rows', async () => {
    const rows = new CopyRows();
    write(rows, 0, 1);
    write(rows, 0, 6000);
    for (const [bytes, code] of [
      [rows.finish(), '23505'],
      [Uint8Array.of(1, 2, 3), '22P04'],
    ] as const) {
      await client.query('BEGIN');
      await expect(copyBinary(client, table, columns, [bytes])).rejects.toMatchObject({ code });
      await client.query('ROLLBACK');
    }
    await expect(copyBinary(client, 'nowhere', columns, [rows.finish()])).rejects.toMatchObject({ code: '42P01' });
    expect((await client.query('SELECT count(*) AS count FROM "odd ""name"')).rows).toEqual([{ count: 0n }]);
  });

  it('leaves a connection that works, and no row, when the chunks throw', async () => {
    const rows = new CopyRows();
    write(rows, 0, 2000);
    function* failing(after: number) {
      for (let i = 0; i < after; i++) yield rows.finish().subarray(0, 100_000);
      throw new RangeError('no more');
    }
    for (const after of [0, 1]) {
      await expect(copyBinary(client, table, columns, failing(after))).rejects.toThrow('no more');
      expect((await client.query('SELECT count(*) AS count FROM "odd ""name"')).rows).toEqual([{ count: 0n }]);
    }
  });

  it('fails when the connection is lost', async () => {
    const victim = await database.connect();
    const { rows: found } = await victim.query('SELECT pg_backend_pid() AS pid');
    const rows = new CopyRows();
    write(rows, 0, 2000);
    const bytes = rows.finish();
    async function* cut() {
      yield bytes.subarray(0, 1000);
      await client.query('SELECT pg_terminate_backend($1, 5000)', [found[0].pid]);
      yield bytes.subarray(1000);
    }
    await expect(copyBinary(victim, table, columns, cut())).rejects.toThrow();
  });
});
