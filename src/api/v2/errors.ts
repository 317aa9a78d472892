import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the methods of v2; those of reads and of contracts pass through. */
export const v2Errors = defineErrors('v2', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists its forms.',
  },
  'stack-entry': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the entry; the API reference lists the types of entries and the forms of their values.',
  },
  'result-depth': {
    class: 'caller',
    message: (d: { limit: number }) => `Result stack depth >= ${d.limit}: tuples or lists are nested deeper than that`,
    remedy: 'Run the get method locally on the account state, or change the contract to return less nesting.',
  },
  'result-size': {
    class: 'caller',
    message: (d: { limit: number }) => `the cells of the result have more than ${d.limit} characters in base64`,
    remedy: 'Run the get method locally on the account state, or change the contract to return less.',
  },
  'stack-size': {
    class: 'caller',
    message: (d: { problem: string }) => `the arguments cannot be passed to the TVM: ${d.problem}`,
    remedy: 'Give shorter lists and tuples, or fewer entries: as cells they may be at most 1,024 deep.',
  },
  'no-workchain': {
    class: 'caller',
    message: (d: { address: string; workchain: number }) =>
      `the network has no workchain ${d.workchain}, so there is no account ${d.address}`,
    remedy: 'Use an address of a workchain that the network has: 0 (basechain) or -1 (masterchain).',
  },
  'not-a-token': {
    class: 'not-found',
    message: (d: { address: string }) => `Smart contract ${d.address} is not Jetton or NFT`,
    remedy:
      'Give a jetton master, jetton wallet, NFT collection or NFT item; a wallet or item must be confirmed by its master or collection.',
  },
  'transaction-not-located': {
    class: 'not-found',
    message: (_: { source: string; destination: string; created_lt: bigint }) => 'transaction was not found',
    remedy:
      'Check both addresses and created_lt, which is that of the message and not of a transaction; a message that was just sent may not have been received yet.',
  },
  'cursor-hash': {
    class: 'not-found',
    message: (d: { lt: bigint; expected: string; found: string }) =>
      `the transaction with lt ${d.lt} has the hash ${d.found}, not ${d.expected}`,
    remedy: 'Give lt and hash of one transaction, as in transaction_id.',
  },
  'old-masterchain-block': {
    class: 'not-found',
    message: (d: { from: number; committed: number }) =>
      `from mc block is too old: masterchain block ${d.from} does not know the block, which block ${d.committed} commits`,
    remedy: 'Leave from_seqno out, or give a later one.',
  },
  'message-refused': {
    class: 'caller',
    message: (d: { nodeText: string; reason: string; explanation: string }) => `${d.nodeText}\n${d.explanation}`,
    remedy: 'Correct the message as the explanation says, sign it and send it again.',
  },
});
