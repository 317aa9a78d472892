import pg from 'pg';
import { connectionConfig } from '#drivers/store/connection.js';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { systemClock } from '#kernel/clock.js';
import { BatchWriter } from '#services/indexer/write/batch-writer.js';
import { TEMPLATE } from '#test/support/database-server.js';
import { recordedBundles } from '#test/support/recorded-bundles.js';
import { liveReplay, replayedIndexer } from '#test/support/replayed-indexer.js';
import { testServerUrl } from '#test/support/test-database.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Several partitions, also of the shortest chain. */
const PARTITION_ROUNDS = 256;
const BATCH_ROUNDS = 100;
/** First key of the advisory locks of those who make such databases; the second one is the name. */
const LOCK = 7_243_391;

/** A chain that is indexed from its zerostate on. */
export interface IndexedChainOptions {
  /** Of the database, unlike those of other chains. */
  readonly name: string;
  readonly folder: string;
  /** The last masterchain seqno; null: that of the recording. */
  readonly to: number | null;
}

/** The recorded network up to where the index of the reference stood. */
export const RECORDED_NET: IndexedChainOptions = {
  name: 'recorded_net',
  folder: vectorPath('collection/recorded-net/chain'),
  to: 1060,
};

/**
 * URL of a database with the index of a recorded chain. It is made once in the server of a test run, by whoever asks first;
 * all who ask read the same one, so nobody may write to it.
 */
export async function sharedIndex(chain: IndexedChainOptions): Promise<string> {
  return withIndex(chain, async () => chain.name);
}

/** URL of a copy of such a database, which may be written to. @param name of the copy, used by one test file */
export async function copyOfIndex(chain: IndexedChainOptions, name: string): Promise<string> {
  return withIndex(chain, async (admin) => {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${chain.name}_kept STRATEGY file_copy`);
    return name;
  });
}

/** Makes the index if it is not there; calls with the databases `NAME` and `NAME_kept`, to which nobody connects. */
async function withIndex(
  { name, folder, to }: IndexedChainOptions,
  nameOf: (admin: pg.Client) => Promise<string>,
): Promise<string> {
  const serverUrl = await testServerUrl();
  const urlOf = (database: string) => serverUrl.replace('/postgres?', `/${database}?`);
  const admin = new pg.Client(connectionConfig(serverUrl));
  await admin.connect();
  try {
    await admin.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCK, name]);
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      // One that was not finished is made again.
      const made = `${name}_kept`;
      await admin.query(`DROP DATABASE IF EXISTS ${made} WITH (FORCE)`);
      await admin.query(`CREATE DATABASE ${made} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
      await writeChain(urlOf(made), folder, to);
      await detectContracts(urlOf(made), folder, to);
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${made} STRATEGY file_copy`);
    }
    return urlOf(await nameOf(admin));
  } finally {
    await admin.end();
  }
}

/** Until the queue of contracts is empty. */
async function detectContracts(url: string, folder: string, to: number | null): Promise<void> {
  const options = { deriveOnly: true, partitionMcBlocks: PARTITION_ROUNDS };
  const { indexer, close } = await replayedIndexer(liveReplay(folder, to, to), url, options);
  await indexer.run();
  await close();
}

async function writeChain(url: string, folder: string, to: number | null): Promise<void> {
  const { bundles: rounds, zerostates, globalVersion } = recordedBundles(folder, to);
  const database = await Database.open({ url, writeConnections: 1 }, { clock: systemClock });
  try {
    const { root_hash, file_hash } = zerostates.find(({ id }) => isMasterchain(id))!.id;
    const identity = { zerostate_root_hash: root_hash, zerostate_file_hash: file_hash, selection: {} };
    await database.transaction((client) => openIndex(client, identity, PARTITION_ROUNDS));
    const modules = {
      database,
      clock: systemClock,
      globalVersion: async (key_block: number) => globalVersion(key_block),
      mcBlockId: async (mc_seqno: number) => rounds[mc_seqno - 1]?.blocks[0]?.id ?? null,
    };
    const writer = new BatchWriter({ partition_rounds: PARTITION_ROUNDS, accounts: null }, modules);
    for (let at = 0; at < rounds.length; at += BATCH_ROUNDS) {
      const batch = {
        bundles: rounds.slice(at, at + BATCH_ROUNDS),
        zerostates:
          at > 0
            ? null
            : zerostates.map(({ id, root }) => ({
                workchain: id.workchain,
                data: serializeBoc(root),
                gen_utime: decodeCell(ShardStateUnsplit, root).gen_utime,
              })),
      };
      await writer.write(batch, { exclusive: true, awaitPrevious: async () => {} });
    }
    await database.withWriter((client) => client.query('ANALYZE'));
  } finally {
    await database.close();
  }
}
