import { defineErrors } from '#kernel/tern-error.js';

const ASK_LATER = 'Retry later or with a longer deadline, or configure more servers.';

/**
 * Errors of verified reads. Invalid proofs are `proofs/` errors; failures of servers are `lite/` errors that list the queried
 * servers.
 */
export const chainErrors = defineErrors('chain', {
  'block-not-found': {
    class: 'not-found',
    message: (d: { wanted: string; reason: string }) => `there is no block ${d.wanted}: ${d.reason}`,
    remedy: 'Check workchain, shard and seqno; for future blocks, wait for the head.',
  },
  'block-not-in-chain': {
    class: 'not-found',
    message: (d: { wanted: string; found: string }) =>
      `block ${d.wanted} is not in the chain; the block at this position is ${d.found}`,
    remedy: 'Check both hashes of the block id, and that it belongs to this network.',
  },
  'transaction-not-found': {
    class: 'not-found',
    message: (d: { account: string; lt: bigint; block: string }) =>
      `account ${d.account} has no transaction with lt ${d.lt}: block ${d.block}, which covers this lt, does not contain it`,
    remedy: 'Check account and lt; the lt of a transaction is not that of its messages.',
  },
  'shard-not-found': {
    class: 'not-found',
    message: (d: { shard: string; block: string }) => `masterchain block ${d.block} has no shard ${d.shard}`,
    remedy: 'List the shards of this masterchain block; the shard may have split or merged.',
  },
  zerostate: {
    class: 'caller',
    message: (d: { block: string }) => `${d.block} is a zerostate, not a block`,
    remedy: 'Use a seqno of at least 1; a zerostate can only be read as a whole.',
  },
  'masterchain-only': {
    class: 'caller',
    message: (d: { block: string }) => `block ${d.block} is not a masterchain block`,
    remedy: 'Use a masterchain block: its state contains shards, configuration and libraries.',
  },
  parameter: {
    class: 'caller',
    message: (d: { name: string; value: string; wanted: string }) => `${d.name} is ${d.value}; expected: ${d.wanted}`,
    remedy: 'Use a value in the allowed range.',
  },
  message: {
    class: 'caller',
    message: (d: { problem: string }) => `the bytes are not a valid external-in message: ${d.problem}`,
    remedy: 'Send one BoC with a message of type ext_in_msg_info$10.',
  },
  'message-refused': {
    class: 'caller',
    message: (d: { code: number; text: string }) => `the node refused the message: ${d.text} (code ${d.code})`,
    remedy: 'The text is from the node: correct the message accordingly and send it again.',
  },
  answer: {
    class: 'upstream',
    message: (d: { problem: string; code: string }) => `the answer is invalid: ${d.problem} [${d.code}]`,
    remedy: 'Do not use the answer; query another server.',
  },
  'incomplete-answer': {
    class: 'upstream',
    message: (d: { problem: string }) => `the answer is incomplete: ${d.problem}`,
    remedy: 'Query another server.',
  },
  'two-blocks': {
    class: 'upstream',
    message: (d: { first: string; second: string }) =>
      `both ${d.first} and ${d.second} are proven for the same position in the chain`,
    remedy:
      'The validators signed two blocks, or the network was restarted: use init_block and zero_state of its current global config.',
  },
  'other-branch': {
    class: 'upstream',
    message: (d: { known: string; found: string }) =>
      `a liteserver serves another branch of the chain: ${d.known} is proven, and it has ${d.found} in its place`,
    remedy:
      'Remove the liteserver if it is wrong (tern lite status shows them all). If the network was set back, restart Tern, which then trusts the new branch from the last stored key block on, and create the index again.',
  },
  'proof-rounds': {
    class: 'upstream',
    message: (d: { bundles: number; reached: string }) =>
      `after ${d.bundles} answers the proof of the newest block has only reached ${d.reached}`,
    remedy: 'Use a newer init_block from the global config of the network.',
  },
  deadline: {
    class: 'upstream',
    message: (d: { ms: number }) => `no complete answer within ${d.ms} ms`,
    remedy: ASK_LATER,
  },
  aborted: {
    class: 'caller',
    message: () => 'the read was aborted by its caller',
    remedy: 'No action is needed: the caller no longer wanted the answer.',
  },
  'key-block-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `the key block file ${d.file} cannot be used: ${d.problem}`,
    remedy: 'Check that the folder exists and is writable; you may delete the file, it will be created again.',
  },
  'key-block-network': {
    class: 'caller',
    message: (d: { file: string; expected: string; found: string }) =>
      `the key blocks in ${d.file} belong to a network with zerostate ${d.found}, not ${d.expected}`,
    remedy: 'Use a separate data folder for each network, or the correct global config.',
  },
});
