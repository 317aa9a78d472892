import type { Database } from '#drivers/store/database.js';
import { type IndexIdentity, requireIdentity, type SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, firstIdOf } from '#drivers/store/keys.js';
import { TransactionWriter } from '#drivers/store/stored-transaction.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { ChainFacts } from '#services/indexer/chain-facts.js';
import {
  type CheckedKind,
  checkBundle,
  checkTraces,
  checkUnjoined,
  type IndexDifference,
  IndexDifferences,
} from '#services/indexer/check/check-rows.js';
import { indexerErrors } from '#services/indexer/errors.js';
import type { BundleSource } from '#services/indexer/fetch/bundle-source.js';
import { countSeqnos, missingRanges, printRanges } from '#services/indexer/index-progress.js';
import { BundleRowsBuilder } from '#services/indexer/rows/build-rows.js';
import { selectionIdentity, selectRows } from '#services/indexer/rows/bundle-rows.js';

export interface CheckIndexOptions {
  /** Zerostate of the masterchain: the expected network of the index. */
  readonly zerostate: BlockId;
  /** Masterchain seqnos; default: the whole indexed range. */
  readonly from?: number | null;
  readonly to?: number | null;
  /** Number of masterchain blocks to check, spread evenly over the range; default: all. */
  readonly sample?: number | null;
  /** The account selection of the index; default: all. */
  readonly accounts?: readonly Uint8Array[] | null;
  /** Number of differences reported in detail. Default: 20. */
  readonly details?: number;
}

export interface CheckIndexModules {
  readonly bundles: Pick<BundleSource, 'bundles'>;
  readonly chain: ChainReads;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Result of comparing the index with the chain. */
export interface CheckIndexReport {
  readonly range: SeqnoRange;
  /** Numbers of compared rows. */
  readonly mcBlocks: number;
  readonly blocks: number;
  readonly transactions: number;
  readonly traces: number;
  /** Numbers of differences by kind. */
  readonly differences: Readonly<Partial<Record<CheckedKind, number>>>;
  readonly details: readonly IndexDifference[];
  /** Parts of the range that are not indexed. */
  readonly missing: readonly SeqnoRange[];
  /** Traces of the range whose root received a message of a transaction that is not indexed. */
  readonly brokenTraces: number;
  /** Accounts whose state is not fully known. */
  readonly incompleteAccounts: number;
}

/** A bundle is read in one database snapshot, which may take long. */
const BUNDLE_TIMEOUT_MS = 120_000;

/**
 * Reads blocks again from liteservers and compares the rows built from them with the index: all rows of blocks, transactions
 * and messages, the states of accounts that have not changed since, and the traces of the transactions.
 *
 * @param onProgress called with the number of compared masterchain blocks and the total
 * @throws indexer/check-range, indexer/stopped, store/*, chain/*
 */
export async function checkIndex(
  options: CheckIndexOptions,
  modules: CheckIndexModules,
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<CheckIndexReport> {
  const { database } = modules;
  const { accounts = null } = options;
  const facts = new ChainFacts(options.zerostate, modules);
  const { range, present } = await rangeOf(options, database);
  const chosen = chooseMcBlocks(present, options.sample ?? null);
  const total = countSeqnos(chosen);
  const differences = new IndexDifferences(options.details ?? 20);
  const keys = accounts === null ? null : new Set(accounts.map(accountKey));
  const counts = { mcBlocks: 0, blocks: 0, transactions: 0, traces: 0 };
  const builder = new BundleRowsBuilder((key_block) => facts.globalVersion(key_block, signal));
  const checked = new Set<bigint>();
  for (const { from, to } of chosen) {
    for await (const bundle of modules.bundles.bundles(from, to, signal)) {
      if (signal.aborted) throw indexerErrors.stopped({});
      const rows = await builder.build(bundle, new TransactionWriter());
      const selected = keys === null ? rows : selectRows(rows, keys);
      await database.read(
        async (reader) => {
          const roots = (await checkBundle(reader, selected, differences)).filter((root) => !checked.has(root));
          for (const root of roots) checked.add(root);
          await checkTraces(reader, roots, differences);
          counts.traces += roots.length;
        },
        { snapshot: true, timeoutMs: BUNDLE_TIMEOUT_MS, signal },
      );
      counts.mcBlocks++;
      counts.blocks += selected.blocks.length;
      counts.transactions += selected.transactions.length;
      onProgress(counts.mcBlocks, total);
    }
  }
  const sums = await database.read(
    async (reader) => {
      await checkUnjoined(reader, differences);
      const [row] = await reader.query<{ broken: bigint; incomplete: bigint }>({
        text: `SELECT (SELECT count(*) FROM traces WHERE root >= $1 AND root < $2 AND state = 2) AS broken,
                 (SELECT count(*) FROM accounts WHERE incomplete) AS incomplete`,
        values: [firstIdOf(range.from), firstIdOf(range.to + 1)],
      });
      return row!;
    },
    { timeoutMs: BUNDLE_TIMEOUT_MS, signal },
  );
  return {
    range,
    ...counts,
    differences: differences.counts,
    details: differences.kept,
    missing: missingRanges(range, present),
    brokenTraces: Number(sums.broken),
    incompleteAccounts: Number(sums.incomplete),
  };
}

/** The range to check, and its indexed parts. */
async function rangeOf(
  { from, to, zerostate, accounts = null }: CheckIndexOptions,
  database: Database,
): Promise<{ readonly range: SeqnoRange; readonly present: readonly SeqnoRange[] }> {
  const identity: IndexIdentity = {
    zerostate_root_hash: zerostate.root_hash,
    zerostate_file_hash: zerostate.file_hash,
    selection: selectionIdentity(accounts),
  };
  const indexedRanges = await database.withWriter(async (client) => {
    const state = await requireIdentity(client, identity);
    return state.indexedRanges;
  });
  const range = { from: from ?? indexedRanges[0]?.from ?? 1, to: to ?? indexedRanges.at(-1)?.to ?? 1 };
  const present = indexedRanges
    .map((each) => ({ from: Math.max(each.from, range.from), to: Math.min(each.to, range.to) }))
    .filter((each) => each.from <= each.to);
  if (present.length === 0) throw indexerErrors['check-range']({ ...range, indexed: printRanges(indexedRanges) });
  return { range, present };
}

/** All masterchain blocks, or a sample that is spread evenly. */
function chooseMcBlocks(present: readonly SeqnoRange[], sample: number | null): readonly SeqnoRange[] {
  const total = countSeqnos(present);
  if (sample === null || sample >= total) return present;
  const chosen: SeqnoRange[] = [];
  let passed = 0;
  let next = 0;
  for (const { from, to } of present) {
    const length = to - from + 1;
    for (; next < sample; next++) {
      const place = Math.floor(((next + 0.5) * total) / sample);
      if (place >= passed + length) break;
      const seqno = from + place - passed;
      chosen.push({ from: seqno, to: seqno });
    }
    passed += length;
  }
  return chosen;
}
