import { createHmac, pbkdf2Sync } from 'node:crypto';
import { walletsErrors } from '#localnet/wallets/errors.js';

const ROUNDS = 100_000;
/** Words are valid when this many rounds give a hash that starts with a zero byte. */
const CHECK_ROUNDS = Math.floor(ROUNDS / 256);
const HASH_BYTES = 64;

/**
 * The Ed25519 seed, 32 bytes, that wallets make from their words, without a password. Takes some tenths of a second.
 * @throws wallets/not-a-mnemonic
 */
export function seedOfMnemonic(words: readonly string[]): Uint8Array {
  const entropy = createHmac('sha512', words.join(' ')).update('').digest();
  const check = pbkdf2Sync(entropy, 'TON seed version', CHECK_ROUNDS, HASH_BYTES, 'sha512');
  if (check[0] !== 0) throw walletsErrors['not-a-mnemonic']({ words: words.length });
  return new Uint8Array(pbkdf2Sync(entropy, 'TON default seed', ROUNDS, HASH_BYTES, 'sha512').subarray(0, 32));
}
