import type { Database } from '#drivers/store/database.js';
import { storeErrors } from '#drivers/store/errors.js';
import { type IndexState, readIndexState, type SeqnoRange } from '#drivers/store/write/index-state.js';
import type { Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';
import type { ChainFacts } from '#services/indexer/chain-facts.js';
import type { IndexerSettings } from '#services/indexer/indexer-options.js';
import type { Retries } from '#services/indexer/retries.js';
import type { RoundSource } from '#services/indexer/rounds/round-source.js';
import type { WrittenBatch } from '#services/indexer/written.js';

/** What the parts of the indexer have in common. */
export interface IndexWork {
  readonly settings: IndexerSettings;
  readonly rounds: Pick<RoundSource, 'round' | 'rounds' | 'accountAt' | 'problem'>;
  readonly facts: ChainFacts;
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
  readonly retries: Retries;
  readonly onWritten: (batch: WrittenBatch) => void;
}

/** How far the index is; it was begun before. @throws store/* */
export async function indexState({ database }: Pick<IndexWork, 'database'>): Promise<IndexState> {
  const state = await database.withWriter(readIndexState);
  if (state === null) throw storeErrors['no-index']({});
  return state;
}

/** Some of what was to be written is there already: another process has written it, or dropped it. */
export function isOverlap(error: unknown): boolean {
  return isTernError(error, storeErrors.overlap.code);
}

/** The last one of rising ranges. */
export function newestRange(rounds: readonly SeqnoRange[]): SeqnoRange | null {
  return rounds.at(-1) ?? null;
}
