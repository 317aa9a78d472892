import type { TransactionWriter } from '#drivers/store/encode/transaction-writer.js';
import type { Round } from '#services/indexer/rounds/round.js';
import { buildRound, type RoundContext } from '#services/indexer/rows/build-round.js';
import type { RoundRows } from '#services/indexer/rows/round-rows.js';

/** Makes the rows of rounds, asking for what they do not tell: the versions of the rules that key blocks set. */
export class RowsOfRounds {
  readonly #read: (key_block: number) => Promise<number>;
  readonly #versions = new Map<number, number>();

  /** @param read the version of the rules (configuration parameter 8) that a key block set; 0: the zerostate */
  constructor(read: (key_block: number) => Promise<number>) {
    this.#read = read;
  }

  /** Key blocks are rare: when one is not known, the round is read once more. */
  async build(round: Round, writer: TransactionWriter): Promise<RoundRows> {
    for (;;) {
      const missing = new Set<number>();
      const context: RoundContext = {
        writer,
        globalVersion: (key_block) => {
          const version = this.#versions.get(key_block);
          if (version === undefined) missing.add(key_block);
          return version ?? 0;
        },
      };
      const rows = buildRound(round, context);
      if (missing.size === 0) return rows;
      for (const key_block of missing) this.#versions.set(key_block, await this.#read(key_block));
    }
  }
}
