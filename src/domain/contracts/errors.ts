import { defineErrors } from '#kernel/tern-error.js';

/** Errors of reading what contracts hold and answer. */
export const contractDataErrors = defineErrors('contract-data', {
  'content-prefix': {
    class: 'caller',
    message: (d: { found: string }) =>
      `content of a token begins with 0x00 (on-chain) or 0x01 (off-chain), but here with ${d.found}`,
    remedy: 'The contract does not follow TEP-64; read its content with `runGetMethod`.',
  },
  'half-byte': {
    class: 'caller',
    message: (d: { bits: number }) => `text in cells has whole bytes, but a cell has ${d.bits} bits of it`,
    remedy: 'The contract does not follow TEP-64; read its content with `runGetMethod`.',
  },
  'method-failed': {
    class: 'not-found',
    message: (d: { address: string; method: string; exit_code: number }) =>
      `${d.method} of ${d.address} ended with exit code ${d.exit_code}`,
    remedy: 'Check the address and the block: the contract has no such get method, is not deployed there, or refuses.',
  },
  'method-not-run': {
    class: 'not-found',
    message: (d: { address: string; method: string; problem: string }) =>
      `${d.method} of ${d.address} could not be run: ${d.problem}`,
    remedy: 'Check the address: nothing can answer there.',
  },
  'method-result': {
    class: 'caller',
    message: (d: { method: string; problem: string }) => `the result of ${d.method} ${d.problem}`,
    remedy: 'The contract does not follow the standard of this get method; call it with `runGetMethod`.',
  },
  'other-form': {
    class: 'caller',
    message: (d: { problem: string }) => `data is not as the known code writes it: ${d.problem}`,
    remedy: 'Run the get method instead; data like this was not written by the contract itself.',
  },
  'not-verified': {
    class: 'caller',
    message: (d: { kind: string; address: string; by: string; problem: string }) =>
      `${d.address} says that it is a ${d.kind}, but ${d.by} ${d.problem}`,
    remedy: 'Do not trust it: whoever deployed the contract wrote what it says of itself.',
  },
  'unknown-code': {
    class: 'caller',
    message: (d: { kind: string; address: string }) =>
      `the code of ${d.address} is none of those that a ${d.kind} can have`,
    remedy: 'Contracts of this kind are told by their code only; ask this one with `runGetMethod`.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { what: string; size: number; limit: number }) =>
      `the ${d.what} of the contract has ${d.size} characters, more than ${d.limit}`,
    remedy: 'Read it with `runGetMethod`; the index keeps nothing that is so large.',
  },
  'order-action': {
    class: 'caller',
    message: (d: { opcode: string }) => `a multisig has no action with opcode ${d.opcode}`,
    remedy: 'It does nothing; whoever made the order may have meant something else.',
  },
  'order-too-large': {
    class: 'caller',
    message: () => 'the messages of the order are too large to be told',
    remedy: 'Read them from the order itself: `order_boc`.',
  },
  'domain-name': {
    class: 'caller',
    message: (d: { name: string; problem: string }) => `${JSON.stringify(d.name)} is no domain name: ${d.problem}`,
    remedy: 'Give labels with dots between them, such as `alice.ton`, 126 bytes at most; `.` is the resolver itself.',
  },
});
