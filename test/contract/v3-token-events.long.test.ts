import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionConfig } from '#drivers/store/connection.js';
import { coreChain } from '#test/contract/against-chain/core-chain.js';
import { V3Client } from '#test/contract/against-chain/v3-client.js';
import { chainFacts } from '#test/contract/against-chain/v3-facts.js';
import { describeLists, type ListSubject } from '#test/contract/against-chain/v3-list-suite.js';
import { type KnownTokens, TOKEN_LISTS } from '#test/contract/against-chain/v3-token-lists.js';
import { compareCalls, type RecordedCall, readRecordings, readRules } from '#test/contract/recorded-calls.js';
import { type Columns, type Json, text } from '#test/contract/v3-columns.js';
import { askV3, callOf } from '#test/contract/v3-recorded.js';
import { readCsv } from '#test/support/csv.js';
import { FULL } from '#test/support/full-depth.js';
import { addRecordedTokens } from '#test/support/recorded-tokens.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';
import { copyOfIndex, RECORDED_NET } from '#test/support/shared-index.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const METHODS = /^\/(jetton\/(transfers|burns)|nft\/transfers)$/;
/** Rules about these methods alone. */
const OWN_RULES = /^\^\/\(?(\|?(jetton\/(transfers|burns)|nft\/transfers))+\)?\$$/;
const RULES = readRules(`${import.meta.dirname}/v3-rules.json`);
const network = vectorPath('collection/recorded-net');

/** What is said of accounts is not the matter here: which of them are named is left. */
function withoutFacts(response: unknown): unknown {
  const { address_book, metadata: _, ...rest } = response as Json;
  if (address_book === undefined) return response;
  return { ...rest, address_book: Object.fromEntries(Object.keys(address_book).map((name) => [name, true])) };
}

describe('what a reference index says of jettons and NFTs that moved', () => {
  let served: ServedV3;
  let subject: ListSubject;
  beforeAll(async () => {
    const url = await copyOfIndex(RECORDED_NET, 'recorded_tokens');
    const client = new pg.Client(connectionConfig(url));
    await client.connect();
    await addRecordedTokens(client, network);
    await client.end();
    served = await serveV3(RECORDED_NET, url);
    const read = coreChain(RECORDED_NET.folder, { globalVersion: 13, to: RECORDED_NET.to });
    subject = { client: new V3Client(served.url), facts: chainFacts(read) };
  }, 600_000);
  afterAll(() => served?.close());

  it('is answered, but for what the rules say', async () => {
    const asked = readRecordings(`${network}/v3-recordings.jsonl.br`)
      .filter(({ path }) => METHODS.test(path))
      .map((recording) => callOf({ ...recording, response: withoutFacts(recording.response) }));
    const answer = async ({ recording }: RecordedCall) => {
      const { status, response } = await askV3(served.url, recording);
      return { status, response: withoutFacts(response) };
    };
    const compared = await compareCalls(asked, RULES, answer, 'body');
    expect(compared.differences).toEqual([]);
    expect(compared.equal + compared.skipped).toBe(asked.length);
    expect(compared.equal).toBeGreaterThan(110);
    const own = RULES.filter(({ path }) => OWN_RULES.test(path)).map(({ reason }) => reason);
    expect(own.length).toBeGreaterThan(4);
    expect(own.filter((reason) => compared.stale.includes(reason))).toEqual([]);
  });

  /** All pages of a list, by cursors. */
  async function allOf(method: string, member: string): Promise<Json[]> {
    const items: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const behind = cursor === '' ? '' : `&cursor=${cursor}`;
      const answer = await fetch(`${served.url}/toncenter/api/v3/${method}?limit=50&sort=asc${behind}`);
      expect(answer.status).toBe(200);
      items.push(...((await answer.json()) as Json)[member]);
      cursor = answer.headers.get('x-tern-next');
    }
    return items;
  }

  const table = (name: string) => [...readCsv(readBytes(`${network}/v3-tables/${name}.csv.br`))];

  /** Every row of a table is one of ours, and there is no other. */
  async function expectTable(rows: readonly Columns[], ours: readonly Columns[], unlike: readonly string[]) {
    expect(rows.length).toBeGreaterThan(20);
    const byHash = new Map(ours.map((row) => [row.tx_hash, row]));
    const differences = rows.flatMap((row) => {
      const found = byHash.get(row.tx_hash);
      if (found === undefined) return [`${row.tx_hash} is not there`];
      return Object.entries(row)
        .filter(([column, value]) => !unlike.includes(column) && found[column] !== value)
        .map(([column, value]) => `${row.tx_hash} ${column}: ${value} there, ${found[column]} here`);
    });
    expect(differences).toEqual([]);
    expect(ours.length).toBe(rows.length);
    return byHash;
  }

  /** Where the reference has a payload, it is ours; where it has none, ours stands in the message itself. */
  async function expectPayloads(
    rows: readonly Columns[],
    ours: ReadonlyMap<string | undefined, Columns>,
  ): Promise<void> {
    const dropped = rows.filter(
      ({ forward_payload, tx_hash }) => forward_payload !== ours.get(tx_hash)!.forward_payload,
    );
    expect(dropped.filter(({ forward_payload }) => forward_payload !== '')).toEqual([]);
    expect(dropped.length).toBeGreaterThan(10);
  }

  const columns = (row: Json, names: Readonly<Record<string, string>>): Columns => ({
    tx_hash: row.transaction_hash,
    tx_lt: row.transaction_lt,
    tx_now: text(row.transaction_now),
    tx_aborted: row.transaction_aborted ? 't' : 'f',
    ...Object.fromEntries(
      ['query_id', 'amount', 'response_destination', 'custom_payload', 'forward_payload', 'trace_id'].map((name) => [
        name,
        text(row[name]),
      ]),
    ),
    ...Object.fromEntries(Object.entries(names).map(([column, name]) => [column, text(row[name])])),
  });

  it('is the table jetton_transfers', async () => {
    const rows = table('jetton_transfers').filter(({ tx_aborted }) => tx_aborted === 'f');
    const names = { source: 'source', destination: 'destination', jetton_wallet_address: 'source_wallet' };
    const ours = (await allOf('jetton/transfers', 'jetton_transfers')).map((row) =>
      columns(row, { ...names, jetton_master_address: 'jetton_master', forward_ton_amount: 'forward_ton_amount' }),
    );
    await expectPayloads(rows, await expectTable(rows, ours, ['mc_seqno', 'forward_payload']));
  });

  it('is the table jetton_burns', async () => {
    const names = { owner: 'owner', jetton_wallet_address: 'jetton_wallet', jetton_master_address: 'jetton_master' };
    const ours = await allOf('jetton/burns', 'jetton_burns');
    const rows = table('jetton_burns');
    await expectTable(
      rows,
      ours.map((row) => columns(row, names)),
      ['mc_seqno'],
    );
    expect(rows.some(({ tx_aborted }) => tx_aborted === 't')).toBe(true);
  });

  it('is the table nft_transfers', async () => {
    const names = { nft_item_address: 'nft_address', nft_collection_address: 'nft_collection', old_owner: 'old_owner' };
    const ours = (await allOf('nft/transfers', 'nft_transfers')).map((row) =>
      columns(row, { ...names, new_owner: 'new_owner', forward_amount: 'forward_amount' }),
    );
    const rows = table('nft_transfers');
    await expectPayloads(rows, await expectTable(rows, ours, ['mc_seqno', 'nft_item_index', 'forward_payload']));
    expect(rows.some(({ nft_collection_address }) => nft_collection_address === '')).toBe(true);
  });

  const known = (): KnownTokens => ({
    wallets: new Map(table('jetton_wallets').map((row) => [row.address!, row.jetton!])),
    items: new Map(table('nft_items').map((row) => [row.address!, row.collection_address || null])),
  });
  if (FULL)
    describeLists(
      () => subject,
      Object.fromEntries(Object.entries(TOKEN_LISTS).map(([name, make]) => [name, (facts) => make(facts, known())])),
    );

  it('whichever way, where no owner is given', async () => {
    const { client } = subject;
    for (const method of ['jetton/transfers', 'nft/transfers']) {
      const { body } = await client.ask(`${method}?limit=500`);
      for (const direction of ['in', 'out', 'both']) {
        expect((await client.ask(`${method}?limit=500&direction=${direction}`)).body).toEqual(body);
      }
    }
    const refused = await fetch(`${served.url}/api/v3/jetton/burns?direction=in`, {
      headers: { 'x-tern-profile': 'spec' },
    });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toEqual({ code: 422, error: expect.stringContaining('direction') });
  });

  it('with transfers that failed in the index, and mints where the master was the sender', async () => {
    const count = async (condition: string) => {
      const [row] = await served.database.query<{ count: bigint }>({
        text: `SELECT count(*) FROM token_events WHERE ${condition}`,
      });
      return Number(row!.count);
    };
    expect(await count('kind = 5 AND confirmed AND aborted')).toBe(
      table('jetton_transfers').filter(({ tx_aborted }) => tx_aborted === 't').length,
    );
    expect(await count('kind = 3 AND confirmed AND source_key <> token_key')).toBe(0);
    expect(await count('kind = 3 AND confirmed')).toBeGreaterThan(40);
    expect(await count('kind = 3 AND NOT confirmed')).toBeGreaterThan(50);
  });
});
