import type { TraceMeanings } from '#services/emulation/trace-meanings.js';
import type { LiveAction, LiveTrace } from '#services/pending/live-trace.js';
import type { LiveClassification } from '#services/pending/pending-traces.js';
import { lowest } from '#services/pending/placed-trace.js';

/** Deadline of a classification in milliseconds: it may read contracts from the chain. */
const DEADLINE_MS = 5_000;

/** Classifies live traces as emulated ones are. */
export class EmulatedClassification implements LiveClassification {
  readonly #meanings: TraceMeanings;

  constructor(meanings: TraceMeanings) {
    this.#meanings = meanings;
  }

  /** @throws chain/*, lite/*, tvm/* */
  async classify({ transactions }: LiveTrace, signal: AbortSignal): Promise<readonly LiveAction[]> {
    const { actions } = await this.#meanings.meaningOf({ transactions }, { deadlineMs: DEADLINE_MS, signal });
    return actions.map((action) => ({
      action,
      finality: lowest(action.transactions.map((position) => transactions[position]!)),
    }));
  }
}
