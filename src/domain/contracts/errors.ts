import { defineErrors } from '#kernel/tern-error.js';

/** Errors of parsing the data and the get-method results of contracts. */
export const contractDataErrors = defineErrors('contract-data', {
  'content-prefix': {
    class: 'caller',
    message: (d: { found: string }) =>
      `token content must start with 0x00 (on-chain) or 0x01 (off-chain), but starts with ${d.found}`,
    remedy: 'The contract does not follow TEP-64; read its content with `runGetMethod`.',
  },
  'half-byte': {
    class: 'caller',
    message: (d: { bits: number }) => `text in cells must be whole bytes, but a cell has ${d.bits} bits`,
    remedy: 'The contract does not follow TEP-64; read its content with `runGetMethod`.',
  },
  'method-failed': {
    class: 'not-found',
    message: (d: { address: string; method: string; exit_code: number }) =>
      `${d.method} of ${d.address} ended with exit code ${d.exit_code}`,
    remedy:
      'Check the address and the block: the contract has no such get-method, is not deployed at that block, or throws.',
  },
  'method-not-run': {
    class: 'not-found',
    message: (d: { address: string; method: string; problem: string }) =>
      `${d.method} of ${d.address} could not be run: ${d.problem}`,
    remedy: 'Check the address: there is no contract that could be run.',
  },
  'method-result': {
    class: 'caller',
    message: (d: { method: string; problem: string }) => `the result of ${d.method} ${d.problem}`,
    remedy: 'The contract does not follow the standard of this get-method; call it with `runGetMethod`.',
  },
  'other-form': {
    class: 'caller',
    message: (d: { problem: string }) => `the data has not the layout of the known code: ${d.problem}`,
    remedy: 'Run the get-method instead; the contract itself did not write this data.',
  },
  'not-verified': {
    class: 'caller',
    message: (d: { kind: string; address: string; by: string; problem: string }) =>
      `${d.address} claims to be a ${d.kind}, but ${d.by} ${d.problem}`,
    remedy: 'Do not trust the contract: its deployer chose what it returns.',
  },
  'unknown-code': {
    class: 'caller',
    message: (d: { kind: string; address: string }) => `the code of ${d.address} is no known code of a ${d.kind}`,
    remedy: 'This interface is detected by code hash only; query the contract with `runGetMethod`.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { what: string; size: number; limit: number }) =>
      `the ${d.what} of the contract has ${d.size} characters, more than ${d.limit}`,
    remedy: 'Read it with `runGetMethod`; the index does not store values of this size.',
  },
  'order-action': {
    class: 'caller',
    message: (d: { opcode: string }) => `a multisig has no action with opcode ${d.opcode}`,
    remedy: 'The action has no effect; check the order with its author.',
  },
  'order-too-large': {
    class: 'caller',
    message: () => 'the messages of the order are too large for an answer',
    remedy: 'Parse them from the order itself: `order_boc`.',
  },
  'domain-name': {
    class: 'caller',
    message: (d: { name: string; problem: string }) => `${JSON.stringify(d.name)} is not a domain name: ${d.problem}`,
    remedy: 'Use labels separated by dots, such as `alice.ton`, at most 126 bytes; `.` is the resolver itself.',
  },
});
