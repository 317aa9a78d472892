import type { ClientBase } from 'pg';
import { CLASSIFIER_VERSION } from '#domain/actions/classify.js';
import { codeMethods as readCodeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import { WALLET_CODE_HASHES } from '#domain/contracts/wallet.js';
import { TOKEN_OPCODES } from '#domain/tokens/token-messages.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import { nextStoredCodes, readStoredCodes, setCodeMethods } from '#drivers/store/write/accounts.js';
import { queueClassification } from '#drivers/store/write/actions.js';
import { deriveTokenEvents, queueNextAccounts } from '#drivers/store/write/derivations.js';
import { deriveFirstTransactions } from '#drivers/store/write/first-transactions.js';
import { lockEvents } from '#drivers/store/write/locks.js';
import { forgetUnavailablePast } from '#drivers/store/write/past-contracts.js';
import {
  confirmChanges,
  KnownTokens,
  readKnownTokens,
  type TokenEventCandidate,
  tokenEventRow,
} from '#drivers/store/write/token-events.js';
import { linkNextMetadata } from '#drivers/store/write/token-metadata.js';
import { lockTraces } from '#drivers/store/write/traces.js';
import type { BatchEncoder } from '#drivers/store/write/write-batch.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';
import type {
  AccountDerivation,
  Derivation,
  DerivationBatch,
  EndedTraceDerivation,
  McBlockDerivation,
} from '#services/indexer/derivations/derivation.js';
import type { BundleRows } from '#services/indexer/rows/bundle-rows.js';

/** Rows per database transaction. */
const CODES_PAGE = 100;
const ACCOUNTS_PAGE = 2000;
const FIRST_TRANSACTIONS_PAGE = 500;

/**
 * The contract interfaces of accounts. Changed accounts are queued by `mergeAccounts`, and all accounts with code by a
 * rederivation; the detection thread takes them from the queue.
 */
export const contracts: AccountDerivation = {
  name: 'contracts',
  version: 1,
  input: 'changed-accounts',
  tables: ['contracts', 'contract_queue', 'contract_references', 'the tables of the interfaces'],
  // Events are confirmed by the wallets and items that detection verifies, and actions say what contracts were.
  restarts: ['token_events', 'actions'],
  runBy: 'detection',
  rederive: async (client, after, { now }) => {
    await lockTraces(client);
    return queueNextAccounts(client, after, WALLET_CODE_HASHES, now, ACCOUNTS_PAGE);
  },
};

/**
 * The get-method ids of codes. Batches write them with new codes; this is for codes of older indexes, and for library cells
 * whose library becomes known as the code of another account.
 */
export const codeMethodsDerivation: AccountDerivation = {
  name: 'code_methods',
  version: 1,
  input: 'changed-accounts',
  tables: ['codes'],
  // A library that is unknown will hardly be known soon after.
  repeatMs: 60_000,
  rederive: async (client, after, { isRepeat }) => {
    const page = await nextStoredCodes(client, after, CODES_PAGE, { withMethods: !isRepeat });
    const cells = page.map(({ boc }) => parseBocRoot(boc));
    const references = cells.map(libraryHashOf);
    const libraries = await readStoredCodes(
      client,
      references.filter((hash) => hash !== null),
    );
    const known = new Map(libraries.map(({ code_hash, boc }) => [toHex(code_hash), parseBocRoot(boc)]));
    const read = page.flatMap(({ code_hash }, i) => {
      const reference = references[i]!;
      const code = reference === null ? cells[i]! : known.get(toHex(reference));
      return code === undefined ? [] : [{ code_hash, methods: readCodeMethods(code) }];
    });
    if (read.length > 0) {
      await lockEvents(client);
      for (const { code_hash, methods } of read) await setCodeMethods(client, code_hash, methods);
      await recordContractChange(client, null);
    }
    return page.length < CODES_PAGE ? null : page.at(-1)!.code_hash;
  },
};

/**
 * The first transactions of accounts, by which lists of contracts are ordered. Batches write them; this is for indexes from before
 * that.
 */
const firstTransactionsDerivation: AccountDerivation = {
  name: 'first_transactions',
  version: 1,
  input: 'changed-accounts',
  tables: ['accounts', 'the tables of the interfaces'],
  rederive: (client, after) => deriveFirstTransactions(client, after, FIRST_TRANSACTIONS_PAGE),
};

/**
 * The links to off-chain token metadata (TEP-64) in the content of tokens. `writeContracts` writes them with the tokens; what
 * they lead to is fetched by services/metadata.
 */
const tokenMetadataDerivation: AccountDerivation = {
  name: 'metadata',
  version: 1,
  input: 'changed-accounts',
  tables: ['token_metadata'],
  rederive: (client, after) => linkNextMetadata(client, after, ACCOUNTS_PAGE),
};

/**
 * Actions of complete traces (domain/actions), in threads of their own: classification takes longer than the writing of a batch, and
 * waits for the detection of contracts.
 */
export const actions: EndedTraceDerivation = {
  name: 'actions',
  version: CLASSIFIER_VERSION,
  input: 'ended-traces',
  tables: ['classified_traces', 'actions', 'action_accounts'],
  completedLater: (client, roots) => queueClassification(client, roots),
  restarted: forgetUnavailablePast,
};

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

/** All derivations of an index, in the order in which missing rows are derived. A new one is registered here only. */
export const DERIVATIONS: readonly Derivation[] = [
  codeMethodsDerivation,
  firstTransactionsDerivation,
  tokenEvents,
  contracts,
  tokenMetadataDerivation,
  actions,
];
