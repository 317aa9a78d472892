import { CLASSIFIER_VERSION } from '#domain/actions/classify.js';
import { queueClassification } from '#drivers/store/write/actions.js';
import { forgetUnavailablePast } from '#drivers/store/write/past-contracts.js';
import type { EndedTraceDerivation } from '#services/indexer/derivations/derivation.js';

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
