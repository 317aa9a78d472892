import type { SeqnoRange } from '#drivers/store/write/index-state.js';
import { pause } from '#kernel/async/pause.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { AccountCompleter } from '#services/indexer/complete-accounts.js';
import { ChainAnswers } from '#services/indexer/contracts/chain-answers.js';
import type { ContractDetection } from '#services/indexer/contracts/contract-detection.js';
import { TokenEventDeriver } from '#services/indexer/derive-events.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { Filler } from '#services/indexer/fill.js';
import { Follower } from '#services/indexer/follow.js';
import type { IndexView } from '#services/indexer/index-view.js';
import { type IndexWork, newestRange } from '#services/indexer/index-work.js';
import { keepBound, pruneHistory } from '#services/indexer/keep-history.js';
import { CodeMethodsReader } from '#services/indexer/read-code-methods.js';
import type { WritePool } from '#services/indexer/work/write-pool.js';
import type { Written } from '#services/indexer/written.js';

export interface LeadModules {
  readonly followThreads: WritePool;
  readonly fillThreads: WritePool;
  readonly written: Written;
  readonly view: IndexView;
  readonly detection: ContractDetection;
  readonly chain: ChainReads;
}

/** How often it is looked for what can be done besides: incomplete accounts, gaps; old history. */
const CARE_MS = 5000;
const PRUNE_MS = 60_000;

/** What is to be filled, and where following begins; null: nothing is followed. */
interface Plan {
  readonly wanted: SeqnoRange;
  readonly followFrom: number | null;
}

/** What the one process does that writes the index. */
export class Lead {
  readonly #work: IndexWork;
  readonly #modules: LeadModules;

  constructor(work: IndexWork, modules: LeadModules) {
    this.#work = work;
    this.#modules = modules;
  }

  /**
   * Without following it ends when all is there that was asked for.
   *
   * @returns true
   * @throws indexer/stopped, chain/aborted, and what is to be tried again
   */
  async run(outer: AbortSignal): Promise<true> {
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    const parts = this.#work.settings.deriveOnly ? [this.#deriveOnly(signal)] : await this.#parts(signal);
    if (this.#work.settings.contracts) parts.push(this.#detect(signal));
    try {
      // The first to end is filling, where nothing is followed; or one that fails, which ends all.
      await Promise.race(parts);
    } finally {
      stop.abort();
      await Promise.allSettled(parts);
    }
    return true;
  }

  async #parts(signal: AbortSignal): Promise<Promise<void>[]> {
    const { wanted, followFrom } = await this.#plan(signal);
    const { detection } = this.#modules;
    detection.setPace(followFrom === null ? 'filling' : 'filling-and-following');
    const parts = [this.#fill(wanted, followFrom, signal), this.#prune(signal)];
    if (followFrom === null) return parts;
    return [
      ...parts,
      new Follower(this.#work, this.#modules.followThreads).run(followFrom, signal),
      this.#derive(signal),
    ];
  }

  /** Looks at contracts: in the newest known state of each, whatever has been written of it meanwhile. */
  #detect(signal: AbortSignal): Promise<void> {
    const { settings } = this.#work;
    const { detection, view, chain } = this.#modules;
    const knowsAll = (): boolean => {
      const { rounds } = view.state;
      if (settings.accountsComeFromElsewhere) return false;
      return settings.accounts === null && rounds.length === 1 && rounds[0]!.from === 1;
    };
    return detection.run(new ChainAnswers({ zerostate: settings.zerostate, knowsAll, signal }, chain), signal);
  }

  async #deriveOnly(signal: AbortSignal): Promise<void> {
    const { view, detection } = this.#modules;
    await view.read(signal);
    detection.setPace('alone');
    await new CodeMethodsReader(this.#work).run(signal);
    await this.#deriver().run(signal);
    await this.#drain(signal);
  }

  /** Until all contracts are looked at that are due. */
  async #drain(signal: AbortSignal): Promise<void> {
    const { detection } = this.#modules;
    if (!this.#work.settings.contracts) return;
    detection.setPace('alone');
    await detection.drain(signal);
  }

  async #plan(signal: AbortSignal): Promise<Plan> {
    const { facts, settings } = this.#work;
    const { view } = this.#modules;
    const { follow, followWithin, to } = settings;
    await view.read(signal);
    const head = (await facts.waitForHead(1, signal)).block.seqno;
    const from = Math.max(await this.#first(head, signal), view.state.pruned_below);
    if (!follow) return { wanted: { from, to: Math.min(to ?? head, head) }, followFrom: null };
    const reached = Math.max(newestRange(view.state.rounds)?.to ?? 0, from - 1);
    const followFrom = head - reached <= followWithin ? reached + 1 : head;
    return { wanted: { from, to: followFrom - 1 }, followFrom };
  }

  /** The first seqno that is wanted. */
  async #first(head: number, signal: AbortSignal): Promise<number> {
    const { facts, settings } = this.#work;
    const { from } = settings;
    const begun = this.#modules.view.state.rounds[0]?.from ?? head;
    const first = from === 'now' ? begun : (from ?? ((await facts.reachesGenesis(signal)) ? 1 : begun));
    return Math.max(first, await keepBound(this.#work, signal));
  }

  /** Fills what is missing; then looks after accounts and new gaps, as long as something is followed. */
  async #fill(wanted: SeqnoRange, followFrom: number | null, signal: AbortSignal): Promise<void> {
    const { fillThreads, written, view } = this.#modules;
    const filler = new Filler(this.#work, fillThreads, written);
    const completer = new AccountCompleter(this.#work);
    if (followFrom === null) {
      await filler.run(wanted, signal);
      await view.count(signal);
      await completer.run({ from: 0, to: wanted.to }, signal);
      await new CodeMethodsReader(this.#work).run(signal);
      await this.#deriver().run(signal);
      await this.#drain(signal);
      await view.count(signal);
      return;
    }
    let isFilled = false;
    const filling = filler.run(wanted, signal).then(() => {
      isFilled = true;
      this.#modules.detection.setPace('following');
    });
    filling.catch(() => {});
    for (;;) {
      // Looked at as soon as all is filled, and then from time to time.
      const nap = pause(CARE_MS, this.#work.clock, signal);
      await (isFilled ? nap : Promise.race([nap, filling]));
      if (signal.aborted) throw indexerErrors.stopped({});
      await view.count(signal);
      const newest = newestRange(view.state.rounds);
      if (newest === null) continue;
      // Until then, accounts that changed lately are asked for; the others may become complete by what is still to come.
      await completer.run({ from: isFilled ? 0 : newest.from, to: newest.to }, signal);
      if (isFilled) await filler.run({ from: wanted.from, to: newest.from - 1 }, signal);
    }
  }

  /** What follows from rounds that are indexed, and was not looked for when they were. */
  async #derive(signal: AbortSignal): Promise<void> {
    const deriver = this.#deriver();
    const codes = new CodeMethodsReader(this.#work);
    for (;;) {
      await codes.run(signal);
      await deriver.run(signal);
      await pause(CARE_MS, this.#work.clock, signal);
      if (signal.aborted) throw indexerErrors.stopped({});
    }
  }

  #deriver(): TokenEventDeriver {
    return new TokenEventDeriver(this.#work, this.#modules.view.state.partition_rounds);
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
