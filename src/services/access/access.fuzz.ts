import { addressBlock } from '#services/access/access.js';
import { KeyIndex, looksLikeApiKey, newApiKey } from '#services/access/keys.js';
import { parsePlans } from '#services/access/plans.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';

const none = new KeyIndex([]);

function damagedKey(random: Random): Uint8Array {
  if (random.chance(1, 10)) return random.bytes(random.below(100_000));
  return mutate(
    Buffer.from(
      newApiKey((size) => random.bytes(size)),
      'latin1',
    ),
    random,
    2,
  );
}

/** Whatever comes as a key or an address is answered; only what has the form of a key is looked up. */
function readKey(input: Uint8Array): void {
  for (const text of [Buffer.from(input).toString('utf8'), Buffer.from(input).toString('latin1')]) {
    if (none.bySecret(text, 0) !== null) throw new RangeError('a key was found where there is none');
    if (looksLikeApiKey(text) && Buffer.byteLength(text) !== 48) throw new RangeError('a key has 48 bytes');
    if (addressBlock(text).length > 45) throw new RangeError('an address became longer');
  }
}

const PLANS = JSON.stringify({
  plans: [
    { name: 'a', requests_per_second: 0.5, burst: 3, daily_quota: 10, networks: { x: { burst: 2 } }, group: 'g' },
    { name: 'anonymous', requests_per_second: null, networks: ['x', 'y'] },
  ],
});

export const fuzzTargets: readonly FuzzTarget[] = [
  { name: 'api-keys', make: damagedKey, run: readKey, allowed: () => false },
  {
    name: 'plan-files',
    make: (random) => mutate(Buffer.from(PLANS, 'latin1'), random, 3),
    run: (input) => void parsePlans('plans.json', Buffer.from(input).toString('utf8')),
    allowed: (error) => error.code === 'access/file' || error.code === 'access/field',
  },
];
