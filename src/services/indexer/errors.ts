import { defineErrors } from '#kernel/tern-error.js';

/** Errors of the index. */
export const indexerErrors = defineErrors('indexer', {
  parameter: {
    class: 'caller',
    message: (d: { name: string; value: string; wanted: string }) => `${d.name} is ${d.value}, expected ${d.wanted}`,
    remedy: 'Use a value in the range.',
  },
  'block-missing': {
    class: 'upstream',
    message: (d: { wanted: string; mc_seqno: number; problem: string }) =>
      `no server has ${d.wanted}, which masterchain block ${d.mc_seqno} needs: ${d.problem}`,
    remedy:
      'Add an archive liteserver (tern lite status shows how far back each one goes), or start the index at a later block. Until then the read is retried.',
  },
  'block-unanswered': {
    class: 'upstream',
    message: (d: { wanted: string; mc_seqno: number; problem: string }) =>
      `${d.wanted}, which masterchain block ${d.mc_seqno} needs, could not be read: ${d.problem}`,
    remedy: 'Check the liteservers with tern lite status, or add others. Until then the read is retried.',
  },
  'other-branch': {
    class: 'upstream',
    message: (d: { indexed: string; chain: string }) =>
      `the index contains block ${d.indexed}, and the liteservers serve another branch of the chain, with ${d.chain} in its place; nothing is written until they agree`,
    remedy:
      'If a liteserver is wrong (tern lite status shows them), remove it; if the network was set back or another database was restored, create the index again with tern index --recreate, or use an empty database.',
  },
  'chain-behind': {
    class: 'upstream',
    message: (d: { mc_seqno: number; reason: string }) =>
      `the index contains masterchain block ${d.mc_seqno}, which the liteservers do not have yet: ${d.reason}; the blocks next to it are written when they do`,
    remedy: 'Wait until the liteservers have caught up (tern lite status shows them), or use others.',
  },
  'broken-link': {
    class: 'upstream',
    message: (d: { block: string; prev: string; found: string }) =>
      `block ${d.block} follows ${d.prev}, and the liteservers gave ${d.found} in its place`,
    remedy: 'Check the liteservers with tern lite status. The blocks are read again.',
  },
  'thread-lost': {
    class: 'internal',
    message: (d: { problem: string }) => `a worker thread of the indexer ended unexpectedly: ${d.problem}`,
    remedy:
      'Nothing to do: another thread takes over its work. If it happens repeatedly, give the process more memory.',
  },
  unexpected: {
    class: 'internal',
    message: (d: { problem: string }) => `indexing failed unexpectedly: ${d.problem}`,
    remedy: 'This is a bug in Tern: please report it with this message. The work is retried.',
  },
  stopped: {
    class: 'shutting-down',
    message: () => 'the indexer is stopping, or another process is the index leader now',
    remedy: 'Nothing to do: the index is consistent, and indexing resumes at the next start.',
  },
  'contract-out-of-gas': {
    class: 'caller',
    message: (d: { address: string; method: string }) => `${d.method} of ${d.address} ran out of gas`,
    remedy: 'Nothing to do: a contract whose get-methods do not terminate is not indexed as that interface.',
  },
  'contract-too-large': {
    class: 'caller',
    message: (d: { address: string; method: string; bytes: number; most: number }) =>
      `${d.method} of ${d.address} returns ${d.bytes} bytes; the limit is ${d.most}`,
    remedy: 'Nothing to do: a contract with such large results is not indexed as that interface.',
  },
  'contract-unsteady': {
    class: 'caller',
    message: (d: { address: string; method: string }) =>
      `${d.method} of ${d.address} returns different results at different times`,
    remedy: 'Nothing to do: a contract with unstable results cannot verify another contract.',
  },
  'contract-incomplete': {
    class: 'upstream',
    message: (d: { address: string }) => `the state of account ${d.address} is not fully known yet`,
    remedy:
      'Nothing to do: the missing parts are requested from liteservers, and contracts that reference the account are detected again.',
  },
  'contract-needs-tvm': {
    class: 'internal',
    message: (d: { address: string; method: string }) => `${d.method} of ${d.address} has to be run on the TVM`,
    remedy: 'Nothing to do: the contract is detected after the import.',
  },
  'check-range': {
    class: 'caller',
    message: (d: { from: number; to: number; indexed: string }) =>
      `none of the masterchain blocks ${d.from} to ${d.to} is indexed; indexed: ${d.indexed}`,
    remedy: 'Use an indexed range, or omit it to check everything.',
  },
});
