import { startTogether } from '#app/service/closers.js';
import { type BackfillOptions, openIndexTools } from '#app/service/index-tools.js';
import { openIndexer } from '#app/service/index-writer.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { type DerivationsLeft, derivationsLeft, restartDerivations } from '#drivers/store/write/contract-derivation.js';
import { pause } from '#kernel/async/pause.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** All that follows from what is indexed is derived anew. */
export interface Rederivation {
  /** How far it is, in words. */
  progress(): string;
  /** Resolves when all of it is done, or it is closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const LOOK_MS = 500;

/**
 * Has contracts and token events derived anew from what is indexed. That is noted in the database and done by whoever leads: this
 * process, when no other one writes the index. When it is ended, the next one that leads goes on.
 *
 * @throws as `openIndexTools`, store/other-network, store/other-selection
 */
export function startRederivation(
  options: Omit<BackfillOptions, 'from' | 'to'>,
  modules: Surroundings,
): Promise<Rederivation> {
  return startTogether(async (closers) => {
    const { network, url, accounts, dnsRoots, workers } = options;
    const { clock } = modules;
    const { source, database, close } = await openIndexTools({ ...options, writes: true }, modules);
    closers.add(close);
    const indexer = await openIndexer(
      { config: network.config, from: null, keepMs: null, accounts, dnsRoots, workers },
      { ...modules, source, database, url },
      { to: null, follow: false, deriveOnly: true },
    );
    closers.add(() => indexer.close());
    await database.transaction(restartDerivations);
    const stop = new AbortController();
    closers.add(() => stop.abort());
    let left: DerivationsLeft | null = null;
    let problem: string | null = null;
    const look = async (): Promise<boolean> => {
      try {
        left = await database.withWriter(derivationsLeft);
        problem = indexer.status.problem?.message ?? null;
        return left.queued === 0 && left.unqueued === 0 && left.rounds === 0;
      } catch (error) {
        problem = isTernError(error) ? error.message : String(error);
        return false;
      }
    };
    const watching = async (): Promise<void> => {
      while (!stop.signal.aborted && !(await look())) await pause(LOOK_MS, clock, stop.signal);
    };
    const running = indexer.run();
    return {
      progress: () => progressOf(left, indexer.status.role === 'leader', problem),
      // What one process has done another one need not do: who leads may be either.
      ended: watching().then(() => (stop.signal.aborted ? running : undefined)),
      close: () => closers.close(),
    };
  });
}

function progressOf(left: DerivationsLeft | null, leads: boolean, problem: string | null): string {
  const waits = problem === null ? '' : `  waiting: ${problem}`;
  if (left === null) return `deriving contracts and token events anew${waits}`;
  const { queued, unqueued, rounds } = left;
  if (queued === 0 && unqueued === 0 && rounds === 0) return 'all contracts and token events are derived anew';
  const who = leads ? '' : ' (another process does it)';
  return (
    `${((1 - unqueued) * 100).toFixed(1)} % of the accounts queued, ${queued} wait to be looked at; ` +
    `token events of ${rounds} masterchain blocks to go${who}${waits}`
  );
}
