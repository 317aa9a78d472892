import { afterAll, expect, it } from 'vitest';
import { type ColumnKind, columnKind } from '#domain/contracts/contract-interface.js';
import { CONTRACT_INTERFACES } from '#domain/contracts/interface-registry.js';
import { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import { multisig } from '#domain/contracts/interfaces/multisig.js';
import { addressBytes } from '#drivers/store/keys.js';
import { contractReader } from '#drivers/store/read/contract-rows.js';
import { Address } from '#formats/address/address.js';
import { testDatabase } from '#test/support/test-database.js';

const SQL_TYPES: Readonly<Record<ColumnKind, string>> = {
  ...{ address: 'bytea', addresses: 'bytea[]', bytea: 'bytea', boc: 'bytea', numeric: 'numeric', int8: 'bigint' },
  ...{ int4: 'integer', boolean: 'boolean', text: 'text', jsonb: 'jsonb' },
};

/** Of all contract tables, and the column that is derived from other tables. */
const COMMON = ['id', 'address', 'lapsed', 'last_trans_lt', 'mc_seqno', 'code_hash', 'data_hash', 'real_owner'];

const test = await testDatabase();
afterAll(() => test.close());

it.each(CONTRACT_INTERFACES)('the columns of $name are those of the schema', async ({ table }) => {
  const client = await test.connect();
  const { rows } = await client.query<{ name: string; type: string; required: boolean }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL($2) ORDER BY attname`,
    [table.name, COMMON],
  );
  const declared = Object.entries(table.columns).map(([name, type]) => ({
    ...{ name, type: SQL_TYPES[columnKind(type)], required: !type.endsWith('?') },
  }));
  expect(declared.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(rows);
});

it('rows are read by the columns of the interface', () => {
  const [a, b] = [Address.ofParts(0, new Uint8Array(32).fill(1)), Address.ofParts(-1, new Uint8Array(32).fill(2))];
  const state = { last_trans_lt: 5n, code_hash: null, data_hash: new Uint8Array(32) };
  const own = { next_order_seqno: -1n, threshold: 2n };
  const found = { id: 7n, address: addressBytes(a), ...state, ...own, signers: [addressBytes(b)], proposers: [] };
  const { columns, row } = contractReader(multisig);
  expect(row(found)).toEqual({ address: a, ...state, ...own, signers: [b], proposers: [] });
  expect(columns('m')).toMatch(/^m\.id AS id, m\.address AS address, .*, m\.proposers AS proposers$/);
  const { prefixedRow } = contractReader(jettonMaster);
  const names = ['address', 'admin', 'content', 'total_supply'] as const;
  const prefixed = { x_address: addressBytes(a), x_admin: null, x_content: { uri: 'u' }, x_total_supply: 3n };
  const read = prefixedRow(prefixed, 'x_');
  expect(names.map((name) => read[name])).toEqual([a, null, { uri: 'u' }, 3n]);
});
