import { defineErrors } from '#kernel/tern-error.js';

/** Errors of creating wallet messages. */
export const walletsErrors = defineErrors('wallets', {
  'seed-length': {
    class: 'caller',
    message: (d: { length: number }) => `an Ed25519 seed has 32 bytes, not ${d.length}`,
    remedy: 'Give the 32 bytes from which the key is made: of a 64-byte secret key, the first half.',
  },
  'not-a-mnemonic': {
    class: 'caller',
    message: (d: { words: number }) => `the ${d.words} words are none that a TON wallet makes a key from`,
    remedy: 'Give the 24 words of a wallet in their order. Words with a password are not supported.',
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
    remedy: 'Begin anew with 0 once twice the time-out of the wallet has passed.',
  },
});
