import { defineErrors } from '#kernel/tern-error.js';

/** Errors of API v3 itself; errors of reads and contracts are passed through. */
export const v3Errors = defineErrors('v3', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists its valid forms.',
  },
  parameters: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Combine the parameters as the API reference says.',
  },
  'nothing-indexed': {
    class: 'overloaded',
    message: () => 'no masterchain block is indexed yet',
    remedy: 'Retry when the index has started to fill; the health page shows its progress.',
  },
  'too-many-orders': {
    class: 'caller',
    message: (d: { most: number }) => `the multisigs have more than ${d.most} orders in total`,
    remedy:
      'Request fewer multisigs with limit, or use include_orders=false and request the orders with multisig/orders.',
  },
  'blocks-not-found': {
    class: 'not-found',
    message: (d: { mc_seqno: number }) =>
      `blocks not found: there are none of masterchain block ${d.mc_seqno} on this page`,
    remedy: 'Request an indexed masterchain block, and a page within the blocks that it commits.',
  },
  'masterchain-block-not-found': {
    class: 'not-found',
    message: (d: { mc_seqno: number }) => `masterchain block ${d.mc_seqno} not found`,
    remedy: 'Request an indexed masterchain block; masterchainInfo returns the first and the last one.',
  },
  'not-indexed': {
    class: 'not-found',
    message: (d: { mc_seqno: number; history: string }) =>
      `masterchain block ${d.mc_seqno} is not indexed: the index has the masterchain blocks ${d.history}`,
    remedy: 'Request an indexed masterchain block; the operator can fill older ones with `tern index --from N --to M`.',
  },
  'block-not-indexed': {
    class: 'not-found',
    message: (d: { history: string }) =>
      `no such block is indexed: the index has the masterchain blocks ${d.history}, with all that they commit`,
    remedy: 'Request a block of that range; the operator can fill older ones with `tern index --from N --to M`.',
  },
  'nothing-pending': {
    class: 'not-found',
    message: () => 'emulated traces not found',
    remedy:
      'Look for the transactions in transactions: they may be in a block already. This server only sees messages sent through it.',
  },
  'no-pending': {
    class: 'overloaded',
    message: () => 'this server does not follow messages that are not final yet',
    remedy: 'Ask a server that runs with --pending on.',
  },
  'message-unknown': {
    class: 'not-found',
    message: (d: { hash: string }) =>
      `no message with the hash ${d.hash} was seen here, neither pending nor in a block`,
    remedy:
      'Check the hash (raw or normalised, of the external-in message). Messages sent through another server are known once they are in a block.',
  },
  'adjacent-not-found': {
    class: 'not-found',
    message: () => 'adjacent transactions not found',
    remedy:
      'Check the hash. The transaction may have no adjacent ones, or they may not be indexed or not have happened yet.',
  },
  'message-missing': {
    class: 'internal',
    message: (d: { hash: string }) => `the transactions of message ${d.hash} do not contain it`,
    remedy: 'Check the index with `tern check` and report this.',
  },
  'not-a-wallet': {
    class: 'caller',
    message: (_: { address: string }) => 'not a wallet',
    remedy: 'Use addressInformation for other contracts.',
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
    remedy: 'Correct the message as explained, then sign and send it again.',
  },
  'result-depth': {
    class: 'caller',
    message: (d: { limit: number }) => `tuples or lists in the results are nested deeper than ${d.limit}`,
    remedy: 'Run the get-method locally on the state of the account, or let the contract return less nested values.',
  },
  'result-size': {
    class: 'caller',
    message: (d: { limit: number }) => `the cells of the result have more than ${d.limit} characters in base64`,
    remedy: 'Run the get-method locally on the account state, or change the contract to return less.',
  },
  'answer-too-large': {
    class: 'caller',
    message: (d: { limit: string }) => `the answer would have more than ${d.limit}`,
    remedy: 'Request fewer rows with limit, and follow X-Tern-Next.',
  },
  'emulate-request': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the body; the API reference describes it.',
  },
  'emulate-failed': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct what the text names.',
  },
  'readers-busy': {
    class: 'overloaded',
    message: (d: { waiting: number }) => `${d.waiting} large answers wait for a reader thread`,
    remedy: 'Retry later, or request fewer rows; the operator can set more --api-workers.',
  },
  'reader-lost': {
    class: 'overloaded',
    message: (d: { problem: string }) => `the reader thread that made the answer ended: ${d.problem}`,
    remedy: 'Retry later, or request fewer rows. Another thread takes its place.',
  },
  'reader-cancelled': {
    class: 'caller',
    message: () => 'nobody waits for the answer any more',
    remedy: 'No action needed: the client has gone, or its deadline has passed.',
  },
  'reader-closed': {
    class: 'shutting-down',
    message: () => 'the reader threads are being stopped',
    remedy: 'Retry with another instance, or when this one has restarted.',
  },
  'reader-unexpected': {
    class: 'internal',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Report it with the text of the error; the log of the server has the details.',
  },
});
