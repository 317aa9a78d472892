import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { Clock } from '#kernel/clock/clock.js';
import type { ChainQuestions } from '#services/indexer/contracts/chain-questions.js';

const KEPT_BYTES = 32 * 2 ** 20;
/** That there is none, and that one is still there, is asked again after this. */
const ANEW_MS = 600_000;
const NONE_ANEW_MS = 10_000;

interface Kept {
  readonly cell: Promise<Cell | null>;
  anewAt: number;
}

/** Libraries that the masterchain publishes now; those used last are kept. */
export class PublishedLibraries {
  readonly #chain: Pick<ChainQuestions, 'library'>;
  readonly #clock: Clock;
  readonly #kept = new LruByBytes<Kept>(KEPT_BYTES);

  constructor(chain: Pick<ChainQuestions, 'library'>, clock: Clock) {
    this.#chain = chain;
    this.#clock = clock;
  }

  /** Null: there is none. @throws chain/*, lite/* */
  find(hash: Uint8Array): Promise<Cell | null> {
    const key = toHex(hash);
    const now = this.#clock.now();
    const known = this.#kept.get(key);
    if (known !== undefined && known.anewAt > now) return known.cell;
    const reading = this.#chain.library(hash);
    const kept: Kept = {
      cell: reading.then((boc) => (boc === null ? null : parseBocRoot(boc))),
      anewAt: now + ANEW_MS,
    };
    this.#kept.set(key, kept, 1024);
    reading.then(
      (boc) => {
        if (boc === null) kept.anewAt = now + NONE_ANEW_MS;
        else this.#kept.set(key, kept, 2 * boc.length);
      },
      () => {
        kept.anewAt = 0;
      },
    );
    kept.cell.catch(() => {});
    return kept.cell;
  }
}
