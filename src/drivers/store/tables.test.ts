import { afterAll, describe, expect, it } from 'vitest';
import {
  ACCOUNTS,
  BLOCKS,
  currenciesJson,
  currenciesOf,
  MESSAGES,
  OPEN_MESSAGES,
  ORPHAN_MESSAGES,
  STAGED_CODES,
  selectAsWritten,
  selectList,
  TOKEN_EVENTS,
  TRACE_ACCOUNTS,
  TRACES,
  TRANSACTIONS,
} from '#drivers/store/tables.js';
import { testDatabase } from '#test/support/test-database.js';

/** How the schema names the type of a column that is copied so. */
const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  bytea: 'bytea',
  numeric: 'numeric',
  jsonb: 'jsonb',
  int8Array: 'bigint[]',
  int4Array: 'integer[]',
};

const test = await testDatabase();
afterAll(() => test.close());

describe('a declared table', () => {
  const tables = [BLOCKS, TRANSACTIONS, MESSAGES, TOKEN_EVENTS, TRACES, TRACE_ACCOUNTS, OPEN_MESSAGES, ORPHAN_MESSAGES];
  it.each([...tables, ACCOUNTS, { ...STAGED_CODES, table: 'codes' }])('$table is that of the schema', async (table) => {
    const client = await test.connect();
    const { rows } = await client.query<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [table.table],
    );
    const declared = Object.entries(table.map).map(([name, { copy }]) => [name, TYPES[copy]]);
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(rows.map(({ name, type }) => [name, type])));
  });

  it('gives the lists of SELECT', () => {
    expect(selectList(TRACE_ACCOUNTS, 'a', 'end_lt')).toBe('a.root, a.account_key, a.end_utime');
    expect(selectAsWritten(TRACE_ACCOUNTS)).toBe('root, account_key, end_lt, end_utime::float8');
  });

  it('keeps extra currencies as JSON with the amounts as text', () => {
    const amounts = new Map([[100, 1n << 200n]]);
    expect(currenciesOf(JSON.parse(currenciesJson(amounts)!))).toEqual(amounts);
    expect([currenciesJson(null), currenciesOf(null)]).toEqual([null, new Map()]);
  });
});
