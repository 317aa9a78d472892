import { defineErrors } from '#kernel/tern-error.js';

const ASK_ANOTHER = 'Discard the answer; query another server.';
const WRONG_BYTES = 'The bytes are not those of this block; get them from another source.';

/**
 * Errors of verifying proofs: one for each check that can fail. The path names the proof or the link of a chain in which
 * it failed. Hashes are lower-case hex, block ids are written `(workchain,shard,seqno)`.
 */
export const proofsErrors = defineErrors('proofs', {
  malformed: {
    class: 'upstream',
    message: (d: { code: string; problem: string }) => `the proof cannot be decoded: ${d.problem} [${d.code}]`,
    remedy: ASK_ANOTHER,
  },
  incomplete: {
    class: 'upstream',
    message: (d: { hash: string }) => `the proof does not include the required cell ${d.hash}`,
    remedy: ASK_ANOTHER,
  },
  'root-count': {
    class: 'upstream',
    message: (d: { expected: number; found: number }) =>
      `the bag of cells has ${d.found} roots, expected ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'root-hash': {
    class: 'upstream',
    message: (d: { block: string; expected: string; found: string }) =>
      `the root hash of block ${d.block} is ${d.expected}, but the hash of these cells is ${d.found}`,
    remedy: WRONG_BYTES,
  },
  'file-hash': {
    class: 'upstream',
    message: (d: { block: string; expected: string; found: string }) =>
      `the file hash of block ${d.block} is ${d.expected}, but the hash of these bytes is ${d.found}`,
    remedy: WRONG_BYTES,
  },
  header: {
    class: 'upstream',
    message: (d: { block: string; field: string; expected: string; found: string }) =>
      `the header of block ${d.block} has ${d.field} ${d.found}, expected ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'state-hash': {
    class: 'upstream',
    message: (d: { block: string; expected: string; found: string }) =>
      `the state after block ${d.block} has hash ${d.expected}, but the proof is about ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'other-block': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) => `the answer is about ${d.found}, expected ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'not-masterchain': {
    class: 'caller',
    message: (d: { block: string }) => `block ${d.block} is not a masterchain block`,
    remedy: 'Such a proof starts and ends at masterchain blocks; use the masterchain block that commits this one.',
  },
  'same-height': {
    class: 'upstream',
    message: (d: { from: string; to: string }) => `the link leads from ${d.from} to ${d.to}, which has the same seqno`,
    remedy: ASK_ANOTHER,
  },
  'link-direction': {
    class: 'upstream',
    message: (d: { from: string; to: string; direction: string }) =>
      `the link from ${d.from} to ${d.to} is declared to lead ${d.direction}`,
    remedy: ASK_ANOTHER,
  },
  'link-start': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) => `the link starts at ${d.found}, but ${d.expected} was reached`,
    remedy: ASK_ANOTHER,
  },
  'chain-end': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the chain of links ends at ${d.found} instead of ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'chain-length': {
    class: 'upstream',
    message: (d: { found: number; limit: number }) => `the chain has ${d.found} links; at most ${d.limit} are allowed`,
    remedy: ASK_ANOTHER,
  },
  'key-block-flag': {
    class: 'upstream',
    message: (d: { block: string; expected: boolean; found: boolean }) =>
      `block ${d.block} is ${d.expected ? '' : 'not '}declared as a key block, but is ${d.found ? 'one' : 'not one'}`,
    remedy: ASK_ANOTHER,
  },
  'no-key-block': {
    class: 'upstream',
    message: (d: { block: string }) => `block ${d.block} is not a key block: it contains no configuration`,
    remedy: 'Start the proof at a key block or the zerostate; other blocks do not define validators.',
  },
  'old-block': {
    class: 'upstream',
    message: (d: { block: string; from: string }) =>
      `the state after block ${d.from} does not list ${d.block} among the previous blocks`,
    remedy: ASK_ANOTHER,
  },
  'config-param': {
    class: 'upstream',
    message: (d: { param: number; problem: string }) => `config parameter ${d.param} ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  'validator-set': {
    class: 'upstream',
    message: (d: { problem: string }) => `the validator set is invalid: ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  'validator-set-hash': {
    class: 'upstream',
    message: (d: { holder: string; expected: string; found: string }) =>
      `the validator set hash is ${d.expected}, but the ${d.holder} has ${d.found}`,
    remedy: 'Check that the key block is the last one before the block; if it is, query another server.',
  },
  'catchain-seqno': {
    class: 'upstream',
    message: (d: { expected: number; found: number }) =>
      `the signatures have catchain seqno ${d.found}, the block has ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'signatures-missing': {
    class: 'upstream',
    message: (d: { block: string }) => `the proof of block ${d.block} has no signatures`,
    remedy:
      'Only proofs of masterchain blocks have signatures (`proof_…`); a proof link (`prooflink_…`) only proves the header.',
  },
  'signature-count': {
    class: 'upstream',
    message: (d: { expected: string; found: number }) => `there are ${d.found} signatures, allowed are ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'signature-kind': {
    class: 'upstream',
    message: (d: { kind: string }) =>
      `a signature is of the unsupported kind ${d.kind}; only ed25519_signature is supported`,
    remedy: ASK_ANOTHER,
  },
  'signature-candidate': {
    class: 'upstream',
    message: (d: { problem: string }) => `the candidate that the validators voted for cannot be decoded: ${d.problem}`,
    remedy: ASK_ANOTHER,
  },
  'signature-block': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) => `the validators voted for ${d.found}, not for ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'signature-unknown-node': {
    class: 'upstream',
    message: (d: { node: string }) => `the signer ${d.node} is not one of the validators`,
    remedy: ASK_ANOTHER,
  },
  'signature-duplicate-node': {
    class: 'upstream',
    message: (d: { node: string }) => `node ${d.node} signed twice`,
    remedy: ASK_ANOTHER,
  },
  'signature-invalid': {
    class: 'upstream',
    message: (d: { node: string; key: string }) => `the signature of node ${d.node} is invalid for its key ${d.key}`,
    remedy: ASK_ANOTHER,
  },
  'signature-weight': {
    class: 'upstream',
    message: (d: { found: bigint; total: bigint }) =>
      `the signers have weight ${d.found}, which is not more than two thirds of ${d.total}`,
    remedy: ASK_ANOTHER,
  },
  'signature-weight-declared': {
    class: 'upstream',
    message: (d: { expected: bigint; found: bigint }) =>
      `the signature set declares weight ${d.found}, but its signers have ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'shard-missing': {
    class: 'upstream',
    message: (d: { shard: string; block: string }) => `masterchain block ${d.block} does not list a shard ${d.shard}`,
    remedy:
      'Check workchain and shard against the shards of this masterchain block; if it has the shard, query another server.',
  },
  'shard-present': {
    class: 'upstream',
    message: (d: { shard: string; block: string }) =>
      `the answer says that there is no shard ${d.shard}, but masterchain block ${d.block} lists it`,
    remedy: ASK_ANOTHER,
  },
  'shard-question': {
    class: 'caller',
    message: (d: { shard: string }) => `masterchain blocks never list ${d.shard} as a shard`,
    remedy: 'Request a shard of a workchain other than the masterchain; its id must not be 0.',
  },
  'shard-block': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the masterchain block lists ${d.expected} as the newest block of the shard, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'shard-description': {
    class: 'upstream',
    message: (d: { shard: string; expected: string; found: string }) =>
      `the description of shard ${d.shard} has hash ${d.expected}, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'shard-hashes': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the shard configuration of the block has hash ${d.expected}, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'prev-block': {
    class: 'upstream',
    message: (d: { block: string; found: string }) => `block ${d.block} does not follow ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'shard-of-account': {
    class: 'upstream',
    message: (d: { block: string; account: string }) =>
      `block ${d.block} is of a shard that does not contain ${d.account}`,
    remedy: ASK_ANOTHER,
  },
  'account-state': {
    class: 'upstream',
    message: (d: { account: string; expected: string; found: string }) =>
      `the state of account ${d.account} has hash ${d.expected}, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'account-present': {
    class: 'upstream',
    message: (d: { account: string }) =>
      `the answer says that there is no account ${d.account}, but the proof shows one`,
    remedy: ASK_ANOTHER,
  },
  'account-absent': {
    class: 'upstream',
    message: (d: { account: string }) =>
      `the answer gives a state for account ${d.account}, but the proof shows that there is none`,
    remedy: ASK_ANOTHER,
  },
  'transaction-lt': {
    class: 'upstream',
    message: (d: { expected: bigint; found: bigint }) => `the transaction has lt ${d.found}, expected ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'transaction-account': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the transaction is of account ${d.found}, expected ${d.expected}`,
    remedy: ASK_ANOTHER,
  },
  'transaction-hash': {
    class: 'upstream',
    message: (d: { lt: bigint; expected: string; found: string }) =>
      `the transaction with lt ${d.lt} has hash ${d.expected}, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'transaction-present': {
    class: 'upstream',
    message: (d: { account: string; lt: bigint }) =>
      `the answer says that ${d.account} has no transaction with lt ${d.lt} in the block, but the proof shows one`,
    remedy: ASK_ANOTHER,
  },
  'transaction-absent': {
    class: 'upstream',
    message: (d: { account: string; lt: bigint }) =>
      `the answer gives a transaction of ${d.account} with lt ${d.lt}, but the proof shows that the block has none`,
    remedy: ASK_ANOTHER,
  },
  'transaction-count': {
    class: 'upstream',
    message: (d: { expected: number; found: number }) =>
      `the block has ${d.expected} transactions in the requested range, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'transaction-order': {
    class: 'upstream',
    message: (d: { lt: bigint; prev_lt: bigint }) =>
      `the transaction with lt ${d.lt} claims to follow one with lt ${d.prev_lt}`,
    remedy: ASK_ANOTHER,
  },
  'library-hash': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the cells given as library ${d.expected} have hash ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'library-list': {
    class: 'upstream',
    message: (d: { hash: string; present: boolean }) =>
      d.present
        ? `the state has the library ${d.hash}, but the answer does not include it`
        : `the answer includes the library ${d.hash}, but the state does not have it`,
    remedy: ASK_ANOTHER,
  },
  'queue-size': {
    class: 'upstream',
    message: (d: { expected: string; found: string }) =>
      `the out-message queue has size ${d.expected}, but the answer has ${d.found}`,
    remedy: ASK_ANOTHER,
  },
  'lookup-target': {
    class: 'upstream',
    message: (d: { block: string; field: string; wanted: string; found: string }) =>
      `block ${d.block} is not the requested one: its ${d.field} is ${d.found}, expected ${d.wanted}`,
    remedy: ASK_ANOTHER,
  },
});
