import { Address, parseAddress } from '#formats/address/address.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import type { Random } from '#test/fuzz/random.js';

function damagedText(random: Random): Uint8Array {
  const address = Address.ofParts(random.between(-3, 3), random.bytes(32));
  const text = random.chance(1, 2)
    ? address.toRaw()
    : address.toFriendly({
        testnet: random.chance(1, 2),
        bounceable: random.chance(1, 2),
        urlSafe: random.chance(1, 2),
      });
  return mutate(Buffer.from(text, 'latin1'), random, 2);
}

/** What is accepted is written as it was read. */
function roundTrip(input: Uint8Array): void {
  const text = Buffer.from(input).toString('latin1');
  const { address, form, bounceable, testnet, urlSafe } = parseAddress(text);
  const again =
    form === 'raw'
      ? address.toRaw()
      : address.toFriendly({ bounceable: bounceable === true, testnet: testnet === true, urlSafe: urlSafe === true });
  if (again !== (form === 'raw' ? text.toLowerCase() : text)) throw new RangeError(`${text} came back as ${again}`);
}

export const fuzzTarget: FuzzTarget = {
  name: 'address',
  make: damagedText,
  run: roundTrip,
  allowed: (error) => error.code.startsWith('address/'),
};
