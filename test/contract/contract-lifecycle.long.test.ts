import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addressBytes, addressOfBytes } from '#drivers/store/keys.js';
import { parseAddress } from '#formats/address/address.js';
import { liveReplay, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

const network = vectorPath('collection/recorded-net');

// What happened to them, and when, is in `truth.jsonl.gz`.
const EDITABLE = '0:E13DA43734255046040C4ACB8DAF56785A01A0B94091A4247CEBE7A92FAA0EEC';
const EDITABLE_FROM = '0:68807FCF8D08F06D6136FC66AFE35AE14BEF9F0AD639490B998DE1B6210C3819';
const EDITABLE_TO = '0:FA7EFD0DB3F9CE40A70B80E41FF7349ABF298052AF6ED399CD88EC4B6278DFBD';
const BOUND = '0:370844F786BF2D8C2F52E351D5A7FDF0D2EB1B8861876C7C7AE74037B8C0920E';
const BOUND_OWNER = '0:93B7286F52F889C11524FF8A47307163F2E7DD9BFBBF256844856D2780E12AE5';
const SELLER = '0:BCA72E0A198B64BFFE22BFF4B3A3728F7A1F4D58AE75DCC246EF7A695E6B0DF0';
const BUYER = '0:84FC01762B421C69DA11CC7BC72B6E909407ACF1D2BC4186F0C91573D434FF21';
const SOLD = '0:DABF66473F2FAD6E81906F652B9901738BCB9A41E940CD8649A81650A4EC3345';
const SOLD_BY = '0:A436F76AD64846BD8411162DB6BA0FFBB0D82CE9C2439EFEF7BC83E34442EC1A';
const KEPT = '0:5AB7392183FE973F69ED0A2D4AAF0E99AB84C06CD511E172DA80BE61DFB20F88';
const KEPT_BY = '0:871E2D16BE2E47C186651B4609164795F47FD2382A4715C9F9672E80EAA754A3';
const DOMAIN = '0:BE1F982110AE78A249A3EAB03930F84A0C9EBFF106266073C9E8A2F02B54A131';
const DOMAIN_OWNER = '0:CDC9FC8FE3DBBC0F06D49E6C3752317AFDEE409AE02C1B755DB7100ABF7F7924';
const OWN_ROOT = '0:47414A9DD26A6BB2420AB848D547E2244C71568EB5AEB4DFE82A4807CD35BE2F';

/** A chain that goes on, and its index, whose contracts are looked at as it grows. */
describe('contracts of a chain that goes on', () => {
  let database: TestDatabase;
  let query: (text: string, address: string) => Promise<Record<string, unknown>>;
  let indexTo: (seqno: number) => Promise<void>;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await testDatabase();
    const client = await database.connect();
    query = async (text, address) => {
      const { rows } = await client.query(text, [addressBytes(parseAddress(address).address)]);
      const named = (value: unknown) =>
        value instanceof Uint8Array ? addressOfBytes(value).toRaw().toUpperCase() : value;
      return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, named(value)]));
    };
    const replay = liveReplay(`${network}/chain`, 359);
    const indexed = await replayedIndexer(replay, database.url, {
      from: 1,
      dnsRoots: [{ zone: 'example', collection: parseAddress(OWN_ROOT).address }],
    });
    const running = indexed.indexer.run();
    close = async () => {
      await indexed.close();
      await running;
    };
    indexTo = async (seqno) => {
      replay.ledger.advanceTo(seqno);
      await vi.waitFor(
        async () => {
          const { rows } = await client.query(
            `SELECT rounds @> $1::int AND NOT EXISTS (SELECT FROM contract_queue) AND NOT EXISTS (SELECT FROM changed_contracts)
               AS done FROM index_state`,
            [seqno],
          );
          expect(rows[0].done).toBe(true);
        },
        { timeout: 240_000, interval: 50 },
      );
    };
  });
  afterAll(async () => {
    await close?.();
    await database?.close();
  });

  const item = (address: string) =>
    query('SELECT owner, real_owner, lapsed FROM nft_items WHERE address = $1', address);
  const sale = (address: string) => query('SELECT is_complete, lapsed FROM nft_sales WHERE address = $1', address);
  const domain = (address: string) => query('SELECT owner, domain, lapsed FROM dns_items WHERE address = $1', address);
  const ownedBy = (owner: string | null, real_owner = owner) => ({ owner, real_owner, lapsed: null });
  /** Where a block leaves out a part of a state, it is asked for some seconds later. */
  const expectSoon = (read: () => Promise<unknown>, value: unknown) =>
    vi.waitFor(async () => expect(await read()).toEqual(value), { timeout: 240_000, interval: 100 });

  it('an item goes from hand to hand', async () => {
    await indexTo(359);
    await expectSoon(() => item(EDITABLE), ownedBy(EDITABLE_FROM));
    await indexTo(380);
    await expectSoon(() => item(EDITABLE), ownedBy(EDITABLE_TO));
  });

  it('a bound item is given up', async () => {
    await expectSoon(() => item(BOUND), ownedBy(BOUND_OWNER));
    await indexTo(384);
    await expectSoon(() => item(BOUND), ownedBy(null));
  });

  it('a sale is opened, and ends with a buyer', async () => {
    await indexTo(434);
    await expectSoon(() => item(SOLD), ownedBy(SELLER));
    await indexTo(438);
    await expectSoon(() => item(SOLD), ownedBy(SOLD_BY, SELLER));
    expect(await sale(SOLD_BY)).toEqual({ is_complete: false, lapsed: null });
    await indexTo(470);
    await expectSoon(() => item(SOLD), ownedBy(BUYER));
    expect(await sale(SOLD_BY)).toEqual({ is_complete: true, lapsed: null });
  });

  it('a sale is opened, and called off', async () => {
    await indexTo(492);
    await expectSoon(() => item(KEPT), ownedBy(KEPT_BY, SELLER));
    expect(await sale(KEPT_BY)).toEqual({ is_complete: false, lapsed: null });
    await indexTo(499);
    await expectSoon(() => item(KEPT), ownedBy(SELLER));
    expect(await sale(KEPT_BY)).toEqual({ is_complete: true, lapsed: null });
  });

  it('a domain is released', async () => {
    await indexTo(608);
    const name = 'forgotten.example';
    await expectSoon(() => domain(DOMAIN), { owner: DOMAIN_OWNER, domain: name, lapsed: null });
    await indexTo(610);
    await expectSoon(() => domain(DOMAIN), { owner: null, domain: name, lapsed: null });
    expect(await item(DOMAIN)).toEqual(ownedBy(null));
  });
});
