import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database, type SqlValue } from '#drivers/store/database.js';
import { systemClock } from '#kernel/clock.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await testDatabase('empty');
  // One connection, so that all statements share what it knows.
  database = await Database.open({ url: test.url, readConnections: 1 }, { clock: systemClock });
});
afterAll(async () => {
  await database.close();
  await test.close();
});

describe('a named statement', () => {
  const text = 'SELECT $1::bigint AS n, $2::bytea AS bytes, $3::text AS "__proto__"';
  const ask = (n: SqlValue) => database.query({ name: 'described', text, values: [n, Uint8Array.of(1, 2), null] });
  const row = (n: bigint) => ({ n, bytes: Buffer.of(1, 2), ['__proto__']: null });

  it('is answered alike when its columns are described and when they are known', async () => {
    expect(await ask(1n)).toEqual([row(1n)]);
    expect(await ask(2n)).toEqual([row(2n)]);
    expect(await Promise.all([ask(3n), ask(4n)])).toEqual([[row(3n)], [row(4n)]]);
  });

  it('that failed before its columns were known is described the next time', async () => {
    const half = (values: readonly SqlValue[]) =>
      database.query({ name: 'failed once', text: 'SELECT $1::bigint AS n', values });
    await expect(half(['no number'])).rejects.toThrow(/bigint/);
    expect(await half([5])).toEqual([{ n: 5n }]);
    await expect(half(['no number'])).rejects.toThrow(/bigint/);
    expect(await half([6])).toEqual([{ n: 6n }]);
  });

  it('is refused with another text, and the connection goes on', async () => {
    await ask(1n);
    await expect(database.query({ name: 'described', text: 'SELECT 1 AS one' })).rejects.toThrow(/another text/);
    expect(await ask(7n)).toEqual([row(7n)]);
  });

  it('has columns of its own where two have the same names', async () => {
    expect(await database.query({ name: 'as text', text: "SELECT '1'::text AS x" })).toEqual([{ x: '1' }]);
    expect(await database.query({ name: 'as a number', text: "SELECT '1'::bigint AS x" })).toEqual([{ x: 1n }]);
  });
});

describe('parameters', () => {
  const echo = async (value: SqlValue, type: string): Promise<unknown> =>
    (await database.query<{ v: unknown }>({ text: `SELECT $1::${type} AS v`, values: [value] }))[0]!.v;

  it('in arrays are read as they were given', async () => {
    const texts = ['plain', 'a "quote"', 'back\\slash', '{,}', '', 'NULL', 'ü\n'];
    expect(await echo(texts, 'text[]')).toEqual(texts);
    expect(await echo([null, 'x', undefined], 'text[]')).toEqual([null, 'x', null]);
    expect(await echo([Uint8Array.of(), Uint8Array.of(92, 34, 0)], 'bytea[]')).toEqual([
      Buffer.of(),
      Buffer.of(92, 34, 0),
    ]);
    expect(await echo([true, false], 'boolean[]')).toEqual([true, false]);
    const nested = [
      [1, 2],
      [3, 4],
    ];
    expect(await echo(nested, 'int[]')).toEqual(nested);
    expect(await echo([], 'bigint[]')).toEqual([]);
  });

  it('of a part of a buffer are that part', async () => {
    expect(await echo(Uint8Array.of(1, 2, 3, 4).subarray(1, 3), 'bytea')).toEqual(Buffer.of(2, 3));
  });
});

describe('a statement', () => {
  it('without rows, without text and with a copy ends', async () => {
    expect(await database.query({ text: 'SELECT WHERE false' })).toEqual([]);
    expect(await database.query({ text: 'SET LOCAL work_mem = 1024' })).toEqual([]);
    expect(await database.query({ text: '' })).toEqual([]);
    expect(await database.query({ text: 'COPY (SELECT 1) TO STDOUT' })).toEqual([]);
    expect(await database.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
  });

  it('whose row cannot be read fails alone', async () => {
    await expect(database.query({ text: "SELECT 'Infinity'::numeric AS n" })).rejects.toThrow(SyntaxError);
    expect(await database.query({ text: 'SELECT 1::numeric AS n' })).toEqual([{ n: 1n }]);
  });
});
