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
  /** Of the masterchain: the network that the index should be of. */
  readonly zerostate: BlockId;
  /** Masterchain seqnos; default: from the first that is indexed to the last. */
  readonly from?: number | null;
  readonly to?: number | null;
  /** So many rounds, spread evenly over the range; default: all. */
  readonly sample?: number | null;
  /** The accounts that the index was begun with; default: all. */
  readonly accounts?: readonly Uint8Array[] | null;
  /** So many differences are told in detail. Default: 20. */
  readonly details?: number;
}

export interface CheckIndexModules {
  readonly rounds: Pick<BundleSource, 'rounds'>;
  readonly chain: ChainReads;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a comparison of the index with the chain has found. */
export interface CheckIndexReport {
  readonly range: SeqnoRange;
  /** What was compared. */
  readonly rounds: number;
  readonly blocks: number;
  readonly transactions: number;
  readonly traces: number;
  /** What is not as the chain has it, by kind. */
  readonly differences: Readonly<Partial<Record<CheckedKind, number>>>;
  readonly details: readonly IndexDifference[];
  /** What is not indexed of the range. */
  readonly missing: readonly SeqnoRange[];
  /** Traces of the range that begin with a message of a transaction that is not indexed. */
  readonly brokenTraces: number;
  /** Accounts of the index of which not all is known. */
  readonly incompleteAccounts: number;
}

/** A round is read in one moment of the database, however long that takes. */
const BUNDLE_TIMEOUT_MS = 120_000;

/**
 * Reads blocks again from liteservers and compares what the index should have of them with what it has: each row of blocks,
 * transactions and messages, the states of accounts that have not changed since, and the traces of the transactions.
 *
 * @param onProgress is told how many rounds of how many are compared
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
  const counts = { rounds: 0, blocks: 0, transactions: 0, traces: 0 };
  const builder = new BundleRowsBuilder((key_block) => facts.globalVersion(key_block, signal));
  const checked = new Set<bigint>();
  for (const { from, to } of chosen) {
    for await (const round of modules.rounds.rounds(from, to, signal)) {
      if (signal.aborted) throw indexerErrors.stopped({});
      const rows = await builder.build(round, new TransactionWriter());
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
      counts.rounds++;
      counts.blocks += selected.blocks.length;
      counts.transactions += selected.transactions.length;
      onProgress(counts.rounds, total);
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

/** The range to check, and what is indexed of it. */
async function rangeOf(
  { from, to, zerostate, accounts = null }: CheckIndexOptions,
  database: Database,
): Promise<{ readonly range: SeqnoRange; readonly present: readonly SeqnoRange[] }> {
  const identity: IndexIdentity = {
    zerostate_root_hash: zerostate.root_hash,
    zerostate_file_hash: zerostate.file_hash,
    selection: selectionIdentity(accounts),
  };
  const rounds = await database.withWriter(async (client) => {
    const state = await requireIdentity(client, identity);
    return state.indexedRanges;
  });
  const range = { from: from ?? rounds[0]?.from ?? 1, to: to ?? rounds.at(-1)?.to ?? 1 };
  const present = rounds
    .map((each) => ({ from: Math.max(each.from, range.from), to: Math.min(each.to, range.to) }))
    .filter((each) => each.from <= each.to);
  if (present.length === 0) throw indexerErrors['check-range']({ ...range, indexed: printRanges(rounds) });
  return { range, present };
}

/** All, or some that are spread evenly. */
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
