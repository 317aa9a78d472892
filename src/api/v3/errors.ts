import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the methods of v3 themselves; those of reads and of contracts pass through as they are. */
export const v3Errors = defineErrors('v3', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists the forms that it may have.',
  },
  parameters: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Give the parameters together as the API reference says.',
  },
  'nothing-indexed': {
    class: 'overloaded',
    message: () => 'no masterchain block is indexed yet',
    remedy: 'Ask again when the index has begun to fill; the health page says how far it is.',
  },
  'too-many-orders': {
    class: 'caller',
    message: (d: { most: number }) => `the multisigs have more than ${d.most} orders together`,
    remedy:
      'Ask for fewer multisigs at a time with limit, or with include_orders=false, and for orders with multisig/orders.',
  },
  'blocks-not-found': {
    class: 'not-found',
    message: (d: { mc_seqno: number }) => `blocks not found: of masterchain block ${d.mc_seqno} there are none here`,
    remedy: 'Ask for a masterchain block that is indexed, and for no more blocks than it commits.',
  },
  'masterchain-block-not-found': {
    class: 'not-found',
    message: (d: { mc_seqno: number }) => `masterchain block ${d.mc_seqno} not found`,
    remedy: 'Ask for a masterchain block that is indexed; masterchainInfo names the first and the last one.',
  },
  'adjacent-not-found': {
    class: 'not-found',
    message: () => 'adjacent transactions not found',
    remedy:
      'Check the hash. The transaction may stand alone, or what comes before or after it may not be indexed or have happened.',
  },
  'message-missing': {
    class: 'internal',
    message: (d: { hash: string }) => `the transactions of message ${d.hash} do not have it`,
    remedy: 'Check the index with `tern check` and report this.',
  },
  'not-a-wallet': {
    class: 'caller',
    message: (_: { address: string }) => 'not a wallet',
    remedy: 'Ask addressInformation about contracts of other kinds.',
  },
  'no-workchain': {
    class: 'caller',
    message: (d: { address: string; workchain: number }) =>
      `the network has no workchain ${d.workchain}, so there is no account ${d.address}`,
    remedy: 'Use an address of a workchain that the network has: 0 (basechain) or -1 (masterchain).',
  },
  'message-refused': {
    class: 'caller',
    message: (d: { nodeText: string; reason: string; explanation: string }) => `${d.nodeText}\n${d.explanation}`,
    remedy: 'Correct the message as the explanation says, and sign and send it anew.',
  },
  'result-depth': {
    class: 'caller',
    message: (d: { limit: number }) => `tuples or lists in the results are nested deeper than ${d.limit}`,
    remedy:
      'Run the get method on your side, on the state of the account, or let the contract answer with less nesting.',
  },
});
