import type { ClientBase } from 'pg';
import { TOKEN_OPCODES } from '#domain/tokens/token-messages.js';
import { deriveTokenEvents } from '#drivers/store/write/derivations.js';
import {
  confirmChanges,
  KnownTokens,
  readKnownTokens,
  type TokenEventCandidate,
  tokenEventRow,
} from '#drivers/store/write/token-events.js';
import type { BatchEncoder } from '#drivers/store/write/write-batch.js';
import type { DerivationBatch, McBlockDerivation } from '#services/indexer/derivations/derivation.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';

const TOKEN_EVENT_OPCODES = Object.values(TOKEN_OPCODES);

/** Jetton transfers, burns and mints, and NFT transfers: claimed by messages, confirmed by verified wallets and items. */
export const tokenEvents: McBlockDerivation = {
  name: 'token_events',
  version: 1,
  input: 'mc-blocks',
  tables: ['token_events'],
  inBatch: (bundles) => new BatchTokenEvents(bundles),
  rederive: (client, range) => deriveTokenEvents(client, range, TOKEN_EVENT_OPCODES),
};

/** The token events of a batch: confirmed by the wallets and items known before the batch, and once more at its end. */
class BatchTokenEvents implements DerivationBatch {
  readonly #bundles: readonly BundleRows[];
  readonly #candidates: readonly TokenEventCandidate[];
  #known = new KnownTokens([], []);
  readonly tokens = new Map<bigint, bigint>();

  constructor(bundles: readonly BundleRows[]) {
    this.#bundles = bundles;
    this.#candidates = bundles.flatMap(({ transactions }) =>
      transactions.map(({ token_candidate }) => token_candidate).filter((candidate) => candidate !== null),
    );
  }

  async read(client: ClientBase): Promise<void> {
    this.#known = await readKnownTokens(client, this.#candidates);
  }

  encode(encoder: BatchEncoder): void {
    for (const { transactions } of this.#bundles) {
      for (const { id, lt, now, token_candidate } of transactions) {
        if (token_candidate === null) continue;
        const row = tokenEventRow({ id, lt, now }, token_candidate, this.#known);
        if (row.token_key !== null) this.tokens.set(id, row.token_key);
        encoder.add('token_events', row);
      }
    }
  }

  /** Confirms events of wallets and items that were verified by others since {@link read}. */
  async finish(client: ClientBase): Promise<void> {
    await confirmChanges(client, this.#known, this.#candidates);
  }
}
