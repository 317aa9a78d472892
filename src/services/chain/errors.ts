import { defineErrors } from '#kernel/tern-error.js';

const ASK_LATER = 'Ask again later, with a longer deadline, or configure more servers.';

/**
 * Errors of verified reads. What a proof does wrong is a `proofs/` error; what servers did wrong, a `lite/` error that says
 * which of them were asked.
 */
export const chainErrors = defineErrors('chain', {
  'block-not-found': {
    class: 'not-found',
    message: (d: { wanted: string; reason: string }) => `there is no block ${d.wanted}: ${d.reason}`,
    remedy: 'Check workchain, shard and number; for blocks that are still to come, wait for the head.',
  },
  'block-not-in-chain': {
    class: 'not-found',
    message: (d: { wanted: string; found: string }) =>
      `the chain has no block ${d.wanted}; in its place stands ${d.found}`,
    remedy: 'Check both hashes of the block id, and that it is of this network.',
  },
  'transaction-not-found': {
    class: 'not-found',
    message: (d: { account: string; lt: bigint; block: string }) =>
      `account ${d.account} has no transaction with lt ${d.lt}: block ${d.block}, where it would be, has none`,
    remedy: 'Check account and lt; the lt of a transaction is not that of its messages.',
  },
  'shard-not-found': {
    class: 'not-found',
    message: (d: { shard: string; block: string }) => `masterchain block ${d.block} has no shard ${d.shard}`,
    remedy: 'List the shards of this masterchain block; the shard may have been split or merged.',
  },
  zerostate: {
    class: 'caller',
    message: (d: { block: string }) => `${d.block} is a zerostate, not a block`,
    remedy: 'Ask from seqno 1 on; the zerostate itself is read as a whole.',
  },
  'masterchain-only': {
    class: 'caller',
    message: (d: { block: string }) => `block ${d.block} is not of the masterchain`,
    remedy: 'Give a masterchain block: its state tells shards, configuration and libraries.',
  },
  parameter: {
    class: 'caller',
    message: (d: { name: string; value: string; wanted: string }) => `${d.name} is ${d.value}, wanted is ${d.wanted}`,
    remedy: 'Give a value in the range.',
  },
  message: {
    class: 'caller',
    message: (d: { problem: string }) => `the bytes are no external message: ${d.problem}`,
    remedy: 'Send one bag of cells with a message that begins with ext_in_msg_info$10.',
  },
  'message-refused': {
    class: 'caller',
    message: (d: { code: number; text: string }) => `the node refused the message: ${d.text} (code ${d.code})`,
    remedy: "The text is the node's: see what it says about the message or the account, and send a corrected one.",
  },
  answer: {
    class: 'upstream',
    message: (d: { problem: string; code: string }) => `the answer cannot be true: ${d.problem} [${d.code}]`,
    remedy: 'Do not use the answer; ask another server.',
  },
  'incomplete-answer': {
    class: 'upstream',
    message: (d: { problem: string }) => `the answer leaves out what it must have: ${d.problem}`,
    remedy: 'Ask another server.',
  },
  'two-blocks': {
    class: 'upstream',
    message: (d: { first: string; second: string }) =>
      `both ${d.first} and ${d.second} are proven, for one place in the chain`,
    remedy:
      'The validators signed two blocks, or the network was restarted: take init_block and zero_state from its current configuration.',
  },
  'proof-rounds': {
    class: 'upstream',
    message: (d: { rounds: number; reached: string }) =>
      `after ${d.rounds} answers the proof of the newest block has come to ${d.reached} only`,
    remedy: 'Take a newer init_block from the configuration of the network.',
  },
  deadline: {
    class: 'upstream',
    message: (d: { ms: number }) => `no complete answer within ${d.ms} ms`,
    remedy: ASK_LATER,
  },
  aborted: {
    class: 'caller',
    message: () => 'the read was given up by its caller',
    remedy: 'Nothing is wrong; whoever asked did not want the answer any more.',
  },
  'key-block-file': {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `the file of key blocks ${d.file} cannot be used: ${d.problem}`,
    remedy: 'Check that the folder exists and can be written to; the file itself may be deleted, it is made anew.',
  },
  'key-block-network': {
    class: 'caller',
    message: (d: { file: string; expected: string; found: string }) =>
      `the key blocks in ${d.file} are of a network with zerostate ${d.found}, not ${d.expected}`,
    remedy: 'Use another data folder for each network, or the right global configuration.',
  },
});
