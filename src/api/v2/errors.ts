import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the methods of v2 themselves; those of reads and of contracts pass through as they are. */
export const v2Errors = defineErrors('v2', {
  'parameter-value': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the parameter; the API reference lists the forms that it may have.',
  },
  'stack-entry': {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Correct the entry; the description of the stack lists the types of entries and the forms of their values.',
  },
  'result-depth': {
    class: 'caller',
    message: (d: { limit: number }) => `Result stack depth >= ${d.limit}: tuples or lists are nested deeper than that`,
    remedy:
      'Run the get method on your side, on the state of the account, or let the contract answer with less nesting.',
  },
  'stack-size': {
    class: 'caller',
    message: (d: { problem: string }) => `the arguments cannot be given to the virtual machine: ${d.problem}`,
    remedy: 'Give shorter lists and tuples, or fewer entries: in cells, all of them together nest 1,024 deep at most.',
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
      'Ask for a jetton master, a jetton wallet, an NFT collection or an NFT item; a wallet or an item counts only when its master or collection knows it.',
  },
  'transaction-not-located': {
    class: 'not-found',
    message: (_: { source: string; destination: string; created_lt: bigint }) => 'transaction was not found',
    remedy:
      'Check both addresses and created_lt, which is that of the message and not of a transaction; a message that was just sent may still be on its way.',
  },
  'cursor-hash': {
    class: 'not-found',
    message: (d: { lt: bigint; expected: string; found: string }) =>
      `the transaction with lt ${d.lt} has the hash ${d.found}, not ${d.expected}`,
    remedy: 'Give lt and hash of one transaction, as transaction_id names them.',
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
    remedy: 'Correct the message as the explanation says, and sign and send it anew.',
  },
});
