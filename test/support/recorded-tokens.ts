import type pg from 'pg';
import { addressBytes } from '#drivers/store/keys.js';
import { confirmEvents } from '#drivers/store/write/token-events.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import { parseAddress } from '#formats/address/address.js';
import { readCsv } from '#test/support/csv.js';
import { insert } from '#test/support/indexed-chain.js';
import { readBytes } from '#test/support/vector-files.js';

/** Any of the columns that say of which state a row is. */
const READ_FROM = { last_trans_lt: 1n, mc_seqno: 1 };

/**
 * Puts the jetton wallets and NFT items of a reference index into an index, as those that look for contracts do: with their
 * events confirmed. @param network the folder of the recorded network
 */
export async function addRecordedTokens(client: pg.Client, network: string): Promise<void> {
  const table = (name: string) => [...readCsv(readBytes(`${network}/v3-tables/${name}.csv.br`))];
  const wallets = table('jetton_wallets').map((row) => ({
    ...{ address: bytes(row.address!), ...READ_FROM, balance: BigInt(row.balance!) },
    ...{ owner: bytes(row.owner!), jetton: bytes(row.jetton!) },
  }));
  const items = table('nft_items').map((row) => ({
    ...{ address: bytes(row.address!), ...READ_FROM, init: row.init === 't', index: BigInt(row.index!) },
    collection: row.collection_address ? bytes(row.collection_address) : null,
    ...{ owner: row.owner_address ? bytes(row.owner_address) : null, content: {} },
  }));
  await client.query('BEGIN');
  await lockTraces(client);
  await insertContracts(client, 'jetton_wallets', wallets);
  await insertContracts(client, 'nft_items', items);
  await confirmEvents(
    client,
    wallets.map(({ address, jetton }) => ({ address, master: jetton })),
    items,
  );
  await client.query('COMMIT');
}

async function insertContracts(client: pg.Client, table: string, rows: readonly object[]): Promise<void> {
  await client.query(`DELETE FROM ${table}`);
  await insert(client, table, rows);
}

function bytes(raw: string): Uint8Array {
  return addressBytes(parseAddress(raw).address);
}
