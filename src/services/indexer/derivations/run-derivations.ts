import { derivedPosition, markDerived, nextUnderived, setDerivedPosition } from '#drivers/store/write/derivations.js';
import { ensurePartitions } from '#drivers/store/write/partitions.js';
import {
  type AccountDerivation,
  type Derivation,
  type McBlockDerivation,
  progressKey,
  type TraceDerivation,
} from '#services/indexer/derivations/derivation.js';
import { deriveNextAccounts, rederiveTraces } from '#services/indexer/derivations/derivation-progress.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';

/** Approximate work of one step (decoded transactions), and its maximum number of masterchain blocks. */
const STEP_WORK = 1000;
const MAX_MC_BLOCKS = 4096;
const FIRST_MC_BLOCKS = 32;

type DerivationContext = Pick<IndexerContext, 'database' | 'retries' | 'clock' | 'unixTimeMs'>;

export interface DerivationRunnerOptions {
  readonly derivations: readonly Derivation[];
  /** Masterchain blocks in one partition. */
  readonly partition_rounds: number;
}

/**
 * Derives the rows that are missing: of blocks that were indexed before a derivation or its version existed, and of those
 * whose progress was reset. In steps of one database transaction each, which also stores the progress.
 */
export class DerivationRunner {
  readonly #options: DerivationRunnerOptions;
  readonly #context: DerivationContext;
  /** Masterchain blocks of the next step, by derivation. */
  readonly #sizes = new Map<Derivation, number>();
  /** When a complete derivation by address is repeated. */
  readonly #repeatAt = new Map<Derivation, number>();

  constructor(options: DerivationRunnerOptions, context: DerivationContext) {
    this.#options = options;
    this.#context = context;
  }

  /** Resolves when no row is missing, besides those of the threads of detection and classification. @throws indexer/stopped */
  async run(signal: AbortSignal): Promise<void> {
    for (const derivation of this.#options.derivations) {
      if (derivation.input === 'ended-traces') continue;
      if (derivation.input === 'changed-accounts') await this.#runByAddress(derivation, signal);
      else while (await this.#context.retries.run(() => this.#stepOfMcBlocks(derivation), signal));
    }
  }

  async #stepOfMcBlocks(derivation: McBlockDerivation | TraceDerivation): Promise<boolean> {
    const { database } = this.#context;
    const key = progressKey(derivation);
    const most = this.#sizes.get(derivation) ?? FIRST_MC_BLOCKS;
    const range = await database.withWriter((client) => nextUnderived(client, key, most));
    if (range === null) return false;
    await database.withWriter((client) => ensurePartitions(client, range, this.#options.partition_rounds));
    const work = await database.transaction(async (client) => {
      const done =
        derivation.input === 'mc-blocks'
          ? await derivation.rederive(client, range)
          : await rederiveTraces(client, derivation, range);
      await markDerived(client, key, range);
      return done;
    });
    const next = work < STEP_WORK / 2 ? most * 2 : work > STEP_WORK ? most >> 1 : most;
    this.#sizes.set(derivation, Math.min(Math.max(next, 1), MAX_MC_BLOCKS));
    return true;
  }

  async #runByAddress(derivation: AccountDerivation, signal: AbortSignal): Promise<void> {
    const { database, retries, clock } = this.#context;
    const { runBy, repeatMs, version } = derivation;
    if (runBy === 'detection') return;
    const key = progressKey(derivation);
    const position = await retries.run(() => database.withWriter((client) => derivedPosition(client, key)), signal);
    // The rows of version 1 are there, but for those that the repetition finds.
    const isImplied = position === undefined && version === 1 && repeatMs !== undefined;
    const step = () => database.transaction((client) => deriveNextAccounts(client, derivation, this.#now()));
    while (!isImplied && (await retries.run(step, signal)));
    if (repeatMs === undefined || clock.now() < (this.#repeatAt.get(derivation) ?? 0)) return;
    for (let after: Uint8Array | null = new Uint8Array(); after !== null; ) {
      const last: Uint8Array = after;
      const page = { isRepeat: true, now: this.#now() };
      const repeat = () => database.transaction((client) => derivation.rederive(client, last, page));
      after = await retries.run(repeat, signal);
    }
    this.#repeatAt.set(derivation, clock.now() + repeatMs);
    if (isImplied) {
      const done = () => database.withWriter((client) => setDerivedPosition(client, key, null));
      await retries.run(done, signal);
    }
  }

  #now(): number {
    return Math.floor(this.#context.unixTimeMs() / 1000);
  }
}
