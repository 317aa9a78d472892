import { indexerErrors } from '#services/indexer/errors.js';
import { type Round, roundBytes } from '#services/indexer/rounds/round.js';

/** A round, and when its masterchain block was known to exist. */
export interface SeenRound {
  readonly round: Round;
  /** Milliseconds of the clock. */
  readonly seen: number;
}

/** Rounds between who fetches and who writes them; bounded. */
export class RoundQueue {
  readonly #maxBytes: number;
  readonly #rounds: SeenRound[] = [];
  #bytes = 0;
  #closed = false;
  #wakeWriter: (() => void) | null = null;
  #wakeReader: (() => void) | null = null;

  /** @param maxBytes of files; a single round may have more */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when there is room for another one. @throws indexer/stopped */
  async put(round: SeenRound): Promise<void> {
    this.#rounds.push(round);
    this.#bytes += roundBytes(round.round);
    this.#wakeReader?.();
    while (this.#bytes > this.#maxBytes && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    if (this.#closed) throw indexerErrors.stopped({});
  }

  /** Those that are there, as many as one batch takes; waits for the first. @throws indexer/stopped */
  async take(maxRounds: number, maxBytes: number): Promise<SeenRound[]> {
    while (this.#rounds.length === 0) {
      if (this.#closed) throw indexerErrors.stopped({});
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const taken: SeenRound[] = [];
    let bytes = 0;
    for (const each of this.#rounds) {
      bytes += roundBytes(each.round);
      if (taken.length > 0 && (taken.length === maxRounds || bytes > maxBytes)) break;
      taken.push(each);
    }
    this.#rounds.splice(0, taken.length);
    for (const { round } of taken) this.#bytes -= roundBytes(round);
    this.#wakeWriter?.();
    return taken;
  }

  /** Sends away who waits. */
  close(): void {
    this.#closed = true;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }
}
