// A process that imports states. Its argument is an ImportJob as JSON; what it measures goes to the standard output.
import process from 'node:process';
import { FileSource } from '#drivers/state-files/byte-source.js';
import { openStateFile } from '#drivers/state-files/state-file.js';
import { recognizeFile } from '#drivers/state-files/state-set.js';
import { verifyStateFile } from '#drivers/state-files/verify-file.js';
import { Database } from '#drivers/store/database.js';
import { openIndex } from '#drivers/store/index-state.js';
import { migrate, readMigrations } from '#drivers/store/migrate.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { StateImport } from '#services/indexer/import/state-import.js';

export interface ImportJob {
  readonly url: string;
  /** Masterchain first. */
  readonly files: readonly string[];
  readonly folder: string;
  /** Only compute the root hashes, and print them. */
  readonly hashesOnly: boolean;
  /** Root hashes of the files in hex. */
  readonly hashes: readonly string[];
}

export interface ImportResult {
  readonly hashes: readonly string[];
  readonly verifySeconds: number;
  readonly importSeconds: number;
  readonly accounts: number;
  readonly bytes: number;
  /** Read after the verification. */
  readonly bytesRead: number;
  /** Highest resident memory of the process, in bytes. */
  readonly peakBytes: number;
  readonly cpuSeconds: number;
  /** Rows by table, and contracts left for the TVM. */
  readonly rows: Readonly<Record<string, number>>;
}

const MIB = 2 ** 20;

async function run(job: ImportJob): Promise<ImportResult> {
  const none = {
    verifySeconds: 0,
    importSeconds: 0,
    accounts: 0,
    bytes: 0,
    bytesRead: 0,
    peakBytes: 0,
    cpuSeconds: 0,
    rows: {},
  };
  if (job.hashesOnly) {
    const hashes = job.files.map((file) => {
      const options = { hashBytes: 512 * MIB, folder: job.folder };
      return Buffer.from(verifyStateFile(openStateFile(new FileSource(file)), options).root_hash).toString('hex');
    });
    return { ...none, hashes };
  }
  const database = await Database.open({ url: job.url, writeConnections: 3 }, { clock: systemClock });
  const zero = new Uint8Array(32);
  const migrations = await readMigrations();
  await database.withWriter((client) => migrate(client, migrations));
  await database.transaction((client) =>
    openIndex(client, { zerostate_root_hash: zero, zerostate_file_hash: zero, selection: {} }, 1000),
  );
  const blocks = job.files.map((file, i): BlockId => {
    const found = recognizeFile(file);
    if (found.kind !== 'state') throw new Error(`${file} is not a whole state`);
    const { workchain, shard, seqno } = found.ident;
    return { workchain, shard, seqno, root_hash: zero, file_hash: new Uint8Array(32).fill(i) };
  });
  const chain = {
    blockId: async () => blocks[0]!,
    shards: async () => ({ shards: blocks.slice(1).map((block) => ({ block })) }),
    header: async ({ at }: { at: BlockId }) => ({ state_hash: Buffer.from(job.hashes[blocks.indexOf(at)]!, 'hex') }),
    libraries: async () => ({ libraries: new Map() }),
  } as unknown as ChainReads;
  const stateImport = new StateImport(
    {
      files: job.files,
      folder: job.folder,
      threads: 2,
      verifyBytes: 384 * MIB,
      zerostate: blocks[0]!,
      dnsRoots: [],
      databaseUrl: job.url,
    },
    { database, chain, clock: systemClock, logger: silentLogger },
  );
  const begun = performance.now();
  let importing = 0;
  const timer = setInterval(() => {
    if (importing === 0 && stateImport.progress.phase === 'importing') importing = performance.now();
  }, 20);
  const report = await stateImport.run(new AbortController().signal);
  const ended = performance.now();
  clearInterval(timer);
  const { rows } = await database.withWriter((client) =>
    client.query<Record<string, bigint>>(
      `SELECT ${['accounts', 'jetton_wallets', 'jetton_masters', 'nft_items', 'nft_collections', 'contract_queue', 'contracts'].map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')},
         pg_total_relation_size('accounts') AS accounts_bytes, pg_database_size(current_database()) AS database_bytes`,
    ),
  );
  const { user, system } = process.cpuUsage();
  await database.close();
  return {
    hashes: job.hashes,
    verifySeconds: (importing - begun) / 1000,
    importSeconds: (ended - importing) / 1000,
    accounts: report.accounts,
    bytes: report.bytes,
    bytesRead: report.bytesRead,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    cpuSeconds: (user + system) / 1e6,
    rows: Object.fromEntries(Object.entries(rows[0]!).map(([name, count]) => [name, Number(count)])),
  };
}

const result = await run(JSON.parse(process.argv[2]!) as ImportJob);
process.stdout.write(`${JSON.stringify(result)}\n`);
