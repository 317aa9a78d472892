import type { SeqnoRange } from '#drivers/store/index-state.js';
import { seqnoOfId } from '#drivers/store/keys.js';
import { readMcBlockIds } from '#drivers/store/write/neighbours.js';
import { pruneBelow } from '#drivers/store/write/partitions.js';
import { countWantedPastContracts } from '#drivers/store/write/past-contracts.js';
import { disownCursorsAfter } from '#drivers/store/write/webhooks.js';
import { sameBlock } from '#formats/proofs/block-id.js';
import { pause } from '#kernel/clock.js';
import { sharedAbortController, sharedSignalOf } from '#kernel/shared-abort.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ActionClassification } from '#services/indexer/actions/action-classification.js';
import { AccountCompleter } from '#services/indexer/complete-accounts.js';
import { type ContractDetection, VerifiedDetectionChain } from '#services/indexer/contracts/contract-detection.js';
import { DERIVATIONS } from '#services/indexer/derivations/registered.js';
import { DerivationRunner } from '#services/indexer/derivations/run-derivations.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { Filler } from '#services/indexer/fill.js';
import { Follower } from '#services/indexer/follow.js';
import {
  type IndexerContext,
  type IndexView,
  missingRanges,
  newestRange,
  type WriteProgress,
} from '#services/indexer/index-progress.js';
import { readSelectedAccounts } from '#services/indexer/selected-accounts.js';
import { idOfStored, otherBranch } from '#services/indexer/write/chain-continuity.js';
import type { WritePool } from '#services/indexer/write/write-pool.js';

export interface IndexLeaderModules {
  readonly followThreads: WritePool;
  readonly fillThreads: WritePool;
  readonly written: WriteProgress;
  readonly view: IndexView;
  readonly detection: ContractDetection;
  readonly classification: ActionClassification;
  readonly chain: ChainReads;
}

/** Intervals of maintenance (incomplete accounts, gaps) and of pruning. */
const MAINTENANCE_MS = 5000;
const PRUNE_MS = 60_000;

/** The range to fill, and the seqno from which to follow; null: do not follow. */
interface IndexingPlan {
  readonly wanted: SeqnoRange;
  readonly followFrom: number | null;
}

/** The work of the index leader, the one process that writes the index. */
export class IndexLeader {
  readonly #work: IndexerContext;
  readonly #modules: IndexLeaderModules;

  constructor(work: IndexerContext, modules: IndexLeaderModules) {
    this.#work = work;
    this.#modules = modules;
  }

  /**
   * Without following it resolves when the wanted range is indexed.
   *
   * @param recovered called when the index has all of the chain: what failed before is over
   * @returns true
   * @throws indexer/stopped, also when a part only ended because the signal was given; chain/aborted, and errors to be retried by
   *   the caller
   */
  async run(outer: AbortSignal, recovered: () => void = () => {}): Promise<true> {
    const stop = sharedAbortController();
    const signal = sharedSignalOf([outer, stop.signal]);
    const { deriveOnly, contracts, actions, accounts, follow } = this.#work.settings;
    const parts = deriveOnly ? [this.#deriveOnly(signal)] : await this.#parts(signal, recovered);
    // Before the first batch of an empty index there is nothing to detect or classify, and the threads for it would take the time of
    // that batch. Selected accounts are read without a batch; a run that ends waits for both, also when it writes nothing.
    const waits = follow && !deriveOnly && accounts === null;
    const begun = waits ? this.#modules.view.untilWritten(signal) : Promise.resolve();
    if (contracts) parts.push(begun.then(() => this.#detect(signal)));
    if (actions) parts.push(begun.then(() => this.#modules.classification.run(signal)));
    try {
      // Filling ends first when nothing is followed; a part that fails ends all.
      await Promise.race(parts);
    } finally {
      stop.abort();
      await Promise.allSettled(parts);
    }
    if (outer.aborted) throw indexerErrors.stopped({});
    return true;
  }

  async #parts(signal: AbortSignal, recovered: () => void): Promise<Promise<void>[]> {
    const { wanted, followFrom } = await this.#plan(signal, recovered);
    const { detection } = this.#modules;
    detection.setPace(followFrom === null ? 'filling' : 'filling-and-following');
    this.#modules.classification.setPace(followFrom);
    const parts = [this.#fill(wanted, followFrom, signal), this.#prune(signal)];
    const { accounts, accountsComeFromElsewhere } = this.#work.settings;
    if (followFrom !== null && accounts !== null && !accountsComeFromElsewhere && wanted.from > 1) {
      parts.push(this.#readSelected(accounts, signal));
    }
    if (followFrom === null) return parts;
    return [
      ...parts,
      new Follower(this.#work, this.#modules.followThreads).run(followFrom, signal),
      this.#derive(signal),
    ];
  }

  /** Goes on until the signal: the end of a part ends all. */
  async #readSelected(accounts: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    const { detection, chain } = this.#modules;
    await readSelectedAccounts({ ...this.#work, onQueued: () => detection.wake() }, chain, accounts, signal);
    while (!signal.aborted) await pause(PRUNE_MS, this.#work.clock, signal);
    throw indexerErrors.stopped({});
  }

  /** Detects contract interfaces, in the newest known state of each account. */
  #detect(signal: AbortSignal): Promise<void> {
    const { settings } = this.#work;
    const { detection, view, chain } = this.#modules;
    const knowsAll = (): boolean => {
      const { indexedRanges, state_seqno } = view.state;
      if (settings.accountsComeFromElsewhere || settings.accounts !== null) return false;
      // The seqno was read with older ranges: what has been written since goes on from there.
      const newest = newestRange(indexedRanges);
      if (newest === null) return state_seqno !== null;
      return newest.from <= Math.max(1, (state_seqno ?? 0) + 1);
    };
    return detection.run(
      new VerifiedDetectionChain(
        { zerostate: settings.zerostate, knowsAll, indexHead: () => view.head?.seqno ?? null, signal },
        chain,
      ),
      signal,
    );
  }

  async #deriveOnly(signal: AbortSignal): Promise<void> {
    const { view, detection } = this.#modules;
    await view.read(signal);
    detection.setPace('alone');
    await this.#deriver().run(signal);
    await this.#drain(signal);
  }

  /** Resolves when detection has no due account, and no trace is left to be classified. */
  async #drain(signal: AbortSignal): Promise<void> {
    const { detection, classification } = this.#modules;
    if (!this.#work.settings.contracts) return;
    detection.setPace('alone');
    do {
      await detection.drain(signal);
      if (this.#work.settings.actions) await classification.drain(signal);
      // Classification may ask for earlier states of contracts.
    } while (!signal.aborted && (await this.#work.database.withWriter(countWantedPastContracts)) > 0);
  }

  async #plan(signal: AbortSignal, recovered: () => void): Promise<IndexingPlan> {
    const { facts, settings, database, retries } = this.#work;
    const { view } = this.#modules;
    const { follow, followWithin, to } = settings;
    await view.read(signal);
    const head = (await facts.waitForHead(1, signal)).block.seqno;
    await this.#requireSameBranch(head, signal);
    if (view.head?.seqno === head) recovered();
    if (view.state.indexedRanges.length === 0) {
      // Where an index of the same network was before this one, webhooks may be farther than the chain.
      await retries.run(() => database.withWriter((client) => disownCursorsAfter(client, head)), signal);
    }
    const from = Math.max(await this.#first(head, signal), view.state.pruned_below);
    if (!follow) return { wanted: { from, to: Math.min(to ?? head, head) }, followFrom: null };
    const reached = Math.max(newestRange(view.state.indexedRanges)?.to ?? 0, from - 1);
    const followFrom = head - reached <= followWithin ? reached + 1 : head;
    return { wanted: { from, to: followFrom - 1 }, followFrom };
  }

  /**
   * Compares the newest indexed masterchain block with the chain; where the chain is shorter, the one at its head. Those after it are
   * compared when the chain reaches them.
   *
   * @throws indexer/other-branch
   */
  async #requireSameBranch(head: number, signal: AbortSignal): Promise<void> {
    const { facts, database, retries } = this.#work;
    const ranges = this.#modules.view.state.indexedRanges.filter(({ from }) => from <= head);
    const seqno = Math.min(newestRange(ranges)?.to ?? 0, head);
    if (seqno === 0) return;
    const [stored] = await retries.run(() => database.withWriter((client) => readMcBlockIds(client, [seqno])), signal);
    const found = await facts.mcBlockId(seqno, signal);
    if (stored === undefined || found === null) return;
    const indexed = idOfStored(stored);
    if (!sameBlock(indexed, found)) throw otherBranch(indexed, found);
  }

  /** The first wanted seqno. */
  async #first(head: number, signal: AbortSignal): Promise<number> {
    const { facts, settings } = this.#work;
    const { from } = settings;
    const firstKnown = this.#firstKnown ?? head;
    const isKnown = from === 'now' || (from === null && this.#modules.view.state.state_seqno !== null);
    const first = isKnown ? firstKnown : (from ?? ((await facts.reachesGenesis(signal)) ? 1 : firstKnown));
    return Math.max(first, await retentionStart(this.#work, signal));
  }

  /** The first seqno that the index has, or that follows its imported states, if that is lower; null: it has nothing. */
  get #firstKnown(): number | null {
    const { indexedRanges, state_seqno } = this.#modules.view.state;
    const first = indexedRanges[0]?.from ?? null;
    // History begins after imported states.
    if (state_seqno === null) return first;
    return Math.min(first ?? state_seqno + 1, state_seqno + 1);
  }

  /** Fills missing bundles; while following, then completes accounts and fills new gaps periodically. */
  async #fill(wanted: SeqnoRange, followFrom: number | null, signal: AbortSignal): Promise<void> {
    const { fillThreads, written, view, detection } = this.#modules;
    const filler = new Filler(this.#work, fillThreads, written);
    const completer = new AccountCompleter(this.#work);
    if (followFrom === null) {
      await filler.run(wanted, signal);
      await view.count(signal);
      await completer.run({ from: 0, to: wanted.to }, signal);
      await this.#deriver().run(signal);
      await this.#drain(signal);
      await view.count(signal);
      return;
    }
    let isFilled = false;
    const fill = (range: SeqnoRange): Promise<void> => {
      isFilled = false;
      detection.setPace('filling-and-following');
      const done = filler.run(range, signal).then(() => {
        isFilled = true;
        detection.setPace('following');
      });
      done.catch(() => {});
      return done;
    };
    let { from } = wanted;
    let firstKnown = this.#firstKnown;
    let filling = fill(wanted);
    for (;;) {
      // As soon as everything is filled, and then periodically.
      const interval = pause(MAINTENANCE_MS, this.#work.clock, signal);
      await (isFilled ? interval : Promise.race([interval, filling]));
      if (signal.aborted) throw indexerErrors.stopped({});
      await view.count(signal);
      const newest = newestRange(view.state.indexedRanges);
      if (newest === null) continue;
      const first = this.#firstKnown;
      if (first !== null && first !== firstKnown && typeof this.#work.settings.from !== 'number') {
        // Another process may have imported states as of a block before those that are wanted.
        from = Math.min(from, Math.max(first, await retentionStart(this.#work, signal)));
        firstKnown = first;
      }
      // Until filled, only recently changed accounts are requested; others may become complete with the blocks still to be filled.
      await completer.run({ from: isFilled ? 0 : newest.from, to: newest.to }, signal);
      const gap = { from: Math.max(from, view.state.pruned_below), to: newest.from - 1 };
      if (isFilled && missingRanges(gap, view.state.indexedRanges).length > 0) filling = fill(gap);
    }
  }

  /** Derives rows of blocks that were indexed before the derivation existed. */
  async #derive(signal: AbortSignal): Promise<void> {
    const deriver = this.#deriver();
    for (;;) {
      await deriver.run(signal);
      await pause(MAINTENANCE_MS, this.#work.clock, signal);
      if (signal.aborted) throw indexerErrors.stopped({});
    }
  }

  #deriver(): DerivationRunner {
    const { partition_rounds } = this.#modules.view.state;
    return new DerivationRunner({ derivations: DERIVATIONS, partition_rounds }, this.#work);
  }

  async #prune(signal: AbortSignal): Promise<void> {
    const { view } = this.#modules;
    for (;;) {
      const pruned_below = await pruneHistory(this.#work, signal);
      if (pruned_below !== null && pruned_below !== view.state.pruned_below) await view.read(signal);
      await pause(PRUNE_MS, this.#work.clock, signal);
      if (signal.aborted) throw indexerErrors.stopped({});
    }
  }
}

/** First masterchain seqno within the retention period; 1 when everything is retained. */
async function retentionStart({ settings, facts, unixTimeMs }: IndexerContext, signal: AbortSignal): Promise<number> {
  const { keepMs } = settings;
  if (keepMs === null) return 1;
  const head = await facts.head(signal);
  const bound = Math.floor((unixTimeMs() - keepMs) / 1000);
  if (head.gen_utime !== null && head.gen_utime < bound) return head.block.seqno;
  return (await facts.seqnoAt(bound, signal)) ?? 1;
}

/**
 * Drops partitions whose blocks are all older than the retention period. The newest masterchain block always stays.
 *
 * @returns the seqno below which everything is dropped; null when everything is retained
 * @throws indexer/stopped
 */
async function pruneHistory(work: IndexerContext, signal: AbortSignal): Promise<number | null> {
  const { settings, database, retries, unixTimeMs, logger } = work;
  const { keepMs } = settings;
  if (keepMs === null) return null;
  return retries.run(async () => {
    const bound = Math.floor((unixTimeMs() - keepMs) / 1000);
    return database.withWriter(async (client) => {
      const { rows } = await client.query<{ id: bigint | null }>(
        `SELECT coalesce(
           (SELECT id FROM blocks WHERE gen_utime >= $1 AND workchain = -1 ORDER BY gen_utime, id LIMIT 1),
           (SELECT max(id) FROM blocks WHERE workchain = -1)) AS id`,
        [bound],
      );
      const first = rows[0]!.id;
      if (first === null) return 0;
      const before = await client.query<{ pruned_below: number }>('SELECT pruned_below FROM index_state');
      const pruned_below = await pruneBelow(client, seqnoOfId(first));
      if (pruned_below > before.rows[0]!.pruned_below)
        logger.info('dropped old blocks from the index', { pruned_below });
      return pruned_below;
    });
  }, signal);
}
