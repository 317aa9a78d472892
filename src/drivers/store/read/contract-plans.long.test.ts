import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import type { Page } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { explain, recordingDatabase } from '#test/support/explained-plans.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';

const options = { signal: new AbortController().signal, timeoutMs: 1000 };

/** Rows of each table, and how many of them the busy wallet has. */
const ROWS = 60_000;
const OF_BUSY = 600;

/** Blocks of 8 kB that a page of 100 may look at. */
const MOST_BUFFERS = 2_500;

const busy = Address.ofParts(0, new Uint8Array(32).fill(1));
const rare = Address.ofParts(0, new Uint8Array(32).fill(2));
const nobody = Address.ofParts(0, new Uint8Array(32).fill(3));
const several = [busy, rare, nobody];

const literal = ({ hash }: Address) => `'\\x00${toHex(hash)}'::bytea`;
const spread = (text: string) => `'\\x00'::bytea || sha256((${text})::text::bytea)`;
/** The busy wallet in one of a hundred rows, the rare one in one of twenty thousand. */
const wallet = (salt: string) =>
  `CASE WHEN n % ${ROWS / OF_BUSY} = 7 THEN ${literal(busy)} WHEN n % 20000 = 9 THEN ${literal(rare)} ELSE ${spread(`'${salt}' || n % 5000`)} END`;
const LAPSED = `CASE WHEN n % 50 = 3 THEN 'changed' END`;
const STATE = 'id, address, lapsed, last_trans_lt, mc_seqno';

let test: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  test = await testDatabase();
  client = await test.connect();
  const rows = `FROM generate_series(1, ${ROWS}) n`;
  await client.query(
    `INSERT INTO multisigs (${STATE}, next_order_seqno, threshold, signers, proposers)
     SELECT n, ${spread(`'m' || n`)}, ${LAPSED}, n, 1, 0, 1, ARRAY[${wallet('a')}, ${spread(`'b' || n % 3000`)}], ARRAY[${spread(`'c' || n`)}] ${rows}`,
  );
  await client.query(
    `INSERT INTO multisig_orders (${STATE}, multisig, order_seqno)
     SELECT n, ${spread(`'o' || n`)}, ${LAPSED}, n, 1, ${wallet('m')}, n ${rows}`,
  );
  await client.query(
    `INSERT INTO vesting_contracts (${STATE}, start_time, total_duration, unlock_period, cliff_duration, total_amount,
       sender, owner, whitelist)
     SELECT n, ${spread(`'v' || n`)}, ${LAPSED}, n, 1, 0, 0, 0, 0, 0, ${wallet('s')}, ${spread(`'w' || n`)},
       ARRAY[${wallet('l')}] ${rows}`,
  );
  await client.query(
    `INSERT INTO dns_items (${STATE}, domain, dns_wallet)
     SELECT n, ${spread(`'d' || n`)}, ${LAPSED}, n, 1, n || '.ton', ${wallet('x')} ${rows}`,
  );
  await client.query('VACUUM ANALYZE');
});
afterAll(() => test?.close());

type Read = (reads: IndexPort, page: Page) => Promise<unknown>;

const cases: Record<string, Read> = {
  'multisigs by address': (reads, page) => reads.multisigs({ address: several }, page, options),
  'multisigs of a busy wallet': (reads, page) => reads.multisigs({ wallet_address: [busy] }, page, options),
  'multisigs of a rare wallet': (reads, page) => reads.multisigs({ wallet_address: [rare] }, page, options),
  'multisigs of several wallets': (reads, page) => reads.multisigs({ wallet_address: several }, page, options),
  'multisigs by address and wallet': (reads, page) =>
    reads.multisigs({ address: several, wallet_address: several }, page, options),
  'orders by address': (reads, page) => reads.multisigOrders({ address: several }, page, options),
  'orders of a busy multisig': (reads, page) => reads.multisigOrders({ multisig_address: [busy] }, page, options),
  'orders of several multisigs': (reads, page) => reads.multisigOrders({ multisig_address: several }, page, options),
  'orders by address and multisig': (reads, page) =>
    reads.multisigOrders({ address: several, multisig_address: several }, page, options),
  'orders of the multisigs of a page': (reads) => reads.ordersOfMultisigs(several, 5000, options),
  'vesting by address': (reads, page) => reads.vestingContracts({ contract_address: several }, page, options),
  'vesting of a busy wallet': (reads, page) => reads.vestingContracts({ wallet_address: [busy] }, page, options),
  'vesting of several wallets': (reads, page) => reads.vestingContracts({ wallet_address: several }, page, options),
  'vesting with whitelists': (reads, page) =>
    reads.vestingContracts({ wallet_address: [rare], check_whitelist: true }, page, options),
  'vesting with whitelists of a busy wallet': (reads, page) =>
    reads.vestingContracts({ wallet_address: several, check_whitelist: true }, page, options),
  'a domain': (reads, page) => reads.dnsRecords({ domain: '500.ton' }, page, options),
  'domains of a busy wallet': (reads, page) => reads.dnsRecords({ wallet: busy }, page, options),
};

describe(`plans on tables of ${ROWS} rows scan none of them, and look at few of their blocks:`, () => {
  for (const [name, read] of Object.entries(cases)) {
    // Of others there is one page.
    const pages = /busy|several/.test(name) ? (['first', 'next'] as const) : (['first'] as const);
    it.each(pages)(`${name}, the %s page`, async (which) => {
      const page = { limit: 100, offset: 0, sort: 'desc' as const, cursor: null };
      const { database, sent } = recordingDatabase(async ({ text, values }) => {
        const { rows } = await client.query(text, [...values]);
        return rows;
      });
      const first = (await read(indexReads(database), page)) as { readonly next?: string | null };
      if (which === 'next') {
        expect(first.next).toEqual(expect.any(String));
        sent.length = 0;
        await read(indexReads(database), { ...page, cursor: first.next ?? null });
      }
      expect(sent.length).toBeGreaterThan(0);
      for (const statement of sent) {
        const modes = statement.isPrepared
          ? (['force_generic_plan', 'force_custom_plan'] as const)
          : (['force_custom_plan'] as const);
        for (const mode of modes) {
          const { scanned, buffers, ms } = await explain(client, statement, mode);
          if (process.env.TERN_SHOW_PLANS !== undefined) console.log(name, which, mode, buffers, ms);
          expect(scanned, `${mode}: ${statement.text}`).toEqual([]);
          expect(buffers, `${mode}: ${statement.text}`).toBeLessThan(MOST_BUFFERS);
        }
      }
    });
  }
});
