import { defineErrors } from '#kernel/tern-error.js';

/** Errors of creating wallet messages. */
export const walletsErrors = defineErrors('wallets', {
  'seed-length': {
    class: 'caller',
    message: (d: { length: number }) => `an Ed25519 seed has 32 bytes, not ${d.length}`,
    remedy: 'Use the 32 bytes from which the key is derived: of a 64-byte secret key, the first half.',
  },
  'not-a-mnemonic': {
    class: 'caller',
    message: (d: { words: number }) => `the ${d.words} words are not a valid TON mnemonic`,
    remedy: 'Use the 24 words of a wallet in their order. Mnemonics with a password are not supported.',
  },
  'message-count': {
    class: 'caller',
    message: (d: { version: string; count: number; limit: number }) =>
      `a wallet ${d.version} sends 1 to ${d.limit} messages at once, not ${d.count}`,
    remedy: 'Spread the messages over several transfers.',
  },
  'query-id': {
    class: 'caller',
    message: (d: { query_id: number; limit: number }) =>
      `a query of a highload wallet has a number from 0 to ${d.limit}, not ${d.query_id}`,
    remedy: 'Restart at 0 once twice the timeout of the wallet has passed.',
  },
});
