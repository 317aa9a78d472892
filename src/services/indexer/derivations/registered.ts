import {
  codeMethodsDerivation,
  contracts,
  firstTransactionsDerivation,
  tokenMetadataDerivation,
} from '#services/indexer/derivations/accounts.js';
import { actions } from '#services/indexer/derivations/actions.js';
import type { Derivation } from '#services/indexer/derivations/derivation.js';
import { tokenEvents } from '#services/indexer/derivations/token-events.js';

/** All derivations of an index, in the order in which missing rows are derived. A new one is registered here only. */
export const DERIVATIONS: readonly Derivation[] = [
  codeMethodsDerivation,
  firstTransactionsDerivation,
  tokenEvents,
  contracts,
  tokenMetadataDerivation,
  actions,
];
