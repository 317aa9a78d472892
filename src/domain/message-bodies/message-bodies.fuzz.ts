import { decodeMessageBody, decodeMessageBodyText } from '#domain/message-bodies/decode-message-body.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { toHex } from '#kernel/bytes.js';
import type { TernError } from '#kernel/tern-error.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import type { Random } from '#test/fuzz/random.js';
import { damageBelow } from '#test/fuzz/seeds.js';
import { bodyCell, recordedBodies } from '#test/support/message-bodies.js';

const bodies: readonly Cell[] = recordedBodies.map(({ body }) => bodyCell(body));

/** Maximal size of the JSON of a body: several times the budget, which counts some parts only roughly. */
const MAX_JSON = 2 ** 23;

/** A recorded body with a damaged cell, sometimes below the opcode of another one. */
function damagedBody(random: Random): Uint8Array {
  const body = damageBelow(random.pick(bodies), random);
  if (random.chance(3, 4)) return serializeBoc(body);
  const refs = Array.from({ length: random.below(5) }, () => damageBelow(random.pick(bodies), random));
  const opcode = random.pick(bodies).bytes.subarray(0, 4);
  const wrapped = new Builder().storeBytes(opcode).storeBytes(random.bytes(random.below(120)));
  for (const ref of refs) wrapped.storeRef(ref);
  return serializeBoc(wrapped.endCell());
}

function decode(input: Uint8Array): void {
  const { decoded } = decodeMessageBody(parseBocRoot(input));
  const text = JSON.stringify(decoded);
  if (text.length > MAX_JSON) throw new RangeError(`${text.length} characters of JSON`);
  const shown = decodeMessageBodyText(toHex(input));
  const fits = shown.error === undefined;
  if (fits !== (decoded !== null)) throw new RangeError('as text, the body is decoded otherwise');
}

export const fuzzTarget: FuzzTarget = {
  name: 'message-body',
  make: damagedBody,
  run: decode,
  allowed: (error: TernError) => error.code.startsWith('cells/'),
};
