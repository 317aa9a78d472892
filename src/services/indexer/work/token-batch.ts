import type { ClientBase } from 'pg';
import type { BatchEncoder } from '#drivers/store/encode/batch-encoder.js';
import type { TokenCandidate } from '#drivers/store/encode/token-candidate.js';
import { confirmChanges, KnownTokens, readKnownTokens, tokenEventRow } from '#drivers/store/write/token-events.js';
import type { RoundRows } from '#services/indexer/rows/round-rows.js';

/** The token events of a batch: written beside other batches as far as wallets and items are known, and looked at again at its end. */
export class TokenBatch {
  readonly #rounds: readonly RoundRows[];
  readonly #candidates: readonly TokenCandidate[];
  #known = new KnownTokens([], []);

  constructor(rounds: readonly RoundRows[]) {
    this.#rounds = rounds;
    this.#candidates = rounds.flatMap(({ transactions }) =>
      transactions.map(({ token_candidate }) => token_candidate).filter((candidate) => candidate !== null),
    );
  }

  /** Looks who of the accounts is known. */
  async read(client: ClientBase): Promise<void> {
    this.#known = await readKnownTokens(client, this.#candidates);
  }

  encode(encoder: BatchEncoder): void {
    for (const { transactions } of this.#rounds) {
      for (const { id, lt, now, token_candidate } of transactions) {
        if (token_candidate === null) continue;
        encoder.add('token_events', tokenEventRow({ id, lt, now }, token_candidate, this.#known));
      }
    }
  }

  /** With the rows in their table, and under the lock of the traces: confirms what others have made known meanwhile. */
  async confirm(client: ClientBase): Promise<void> {
    await confirmChanges(client, this.#known, this.#candidates);
  }
}
