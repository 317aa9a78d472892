import { setTimeout as delay } from 'node:timers/promises';
import type { IndexerOptions } from '#services/indexer/options.js';
import { Random } from '#test/fuzz/random.js';
import { type LiveReplay, liveReplay, replayedIndexer } from '#test/support/replayed-indexer.js';
import { type TestDatabase, testDatabase } from '#test/support/test-database.js';
import { differences, isWhole } from './index-ground.js';

export interface FillOrders {
  /** Of a recorded chain. */
  readonly folder: string;
  /** The last masterchain block; `null` for the last one that was recorded. */
  readonly last: number | null;
  /** Ranges that are filled before all that is left. */
  readonly ranges: number;
  readonly seed: string;
  readonly say: (line: string) => void;
}

const PATIENCE_MS = 300_000;

/**
 * Fills a chain from the beginning to the end; then again by ranges in a random order, which overlap, with 1 to 3 threads and
 * batches of several sizes; then while the head moves on and is followed. Returns the rows that differ.
 */
export async function fillInAnyOrder({ folder, last: to, ranges, seed, say }: FillOrders): Promise<string[]> {
  const chain = liveReplay(folder, null, to);
  const last = chain.ledger.lastSeqno;
  const databases: TestDatabase[] = [];
  const newDatabase = async (): Promise<TestDatabase> => {
    const database = await testDatabase();
    databases.push(database);
    return database;
  };
  const random = new Random(seed);
  try {
    const whole = await newDatabase();
    await fill(chain, whole, { workers: 1 });
    const expected = await whole.connect();
    const found: string[] = [];

    const pieces = await newDatabase();
    for (let n = 0; n < ranges; n++) {
      const from = 1 + random.below(last);
      const to = Math.min(last, from + random.below(Math.ceil((last * 2) / ranges)));
      await fill(chain, pieces, { from, to, workers: 1 + (n % 3), batchMcBlocks: 1 + random.below(64) });
    }
    await fill(chain, pieces, { workers: 3, batchMcBlocks: 11 });
    const ofPieces = await differences(expected, await pieces.connect());
    say(`${ranges} ranges in random order: ${ofPieces.join('\n') || 'same rows'}`);
    found.push(...ofPieces);

    const both = await newDatabase();
    await followAndFill(liveReplay(folder, Math.floor(last / 2), to), both);
    const ofBoth = await differences(expected, await both.connect());
    say(`followed while it was filled: ${ofBoth.join('\n') || 'same rows'}`);
    found.push(...ofBoth);
    return found;
  } finally {
    for (const database of databases) await database.close();
  }
}

/** Fills a chain, or a range of it, until nothing is left to be done. */
export async function fill(
  chain: LiveReplay,
  database: Pick<TestDatabase, 'url'>,
  options: Partial<IndexerOptions>,
): Promise<void> {
  const { indexer, close } = await replayedIndexer(chain, database.url, { from: 1, follow: false, ...options });
  try {
    await indexer.run();
  } finally {
    await close();
  }
}

/** Fills up to the head of the chain, which moves on as soon as it is indexed, and follows it to the end. */
export async function followAndFill(chain: LiveReplay, database: TestDatabase): Promise<void> {
  const { lastSeqno } = chain.ledger;
  const options = { from: 1, workers: 2, followWithin: 10, batchMcBlocks: 9 };
  const { indexer, close } = await replayedIndexer(chain, database.url, options);
  let following = 0;
  indexer.onWritten(({ mode, range }) => {
    if (mode !== 'follow') return;
    following++;
    chain.ledger.advanceTo(Math.min(range.to + 1 + (following % 3), lastSeqno));
  });
  void indexer.run();
  try {
    const client = await database.connect();
    for (const until = Date.now() + PATIENCE_MS; !(await isWhole(client, lastSeqno)); await delay(50)) {
      if (Date.now() > until) throw new Error(`the index does not become whole: ${indexer.status.problem?.message}`);
    }
  } finally {
    await close();
  }
}
