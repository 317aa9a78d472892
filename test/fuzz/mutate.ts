import { concatBytes } from '#kernel/bytes.js';
import type { Random } from './random.js';

/** Values that sit on the edges of length, count and index checks. */
const edges = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff];

type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

const flipBit: Mutation = (bytes, random) => {
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
  return bytes;
};

const setEdge: Mutation = (bytes, random) => {
  bytes[random.below(bytes.length)] = random.pick(edges);
  return bytes;
};

const setByte: Mutation = (bytes, random) => {
  bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
};

const fillRun: Mutation = (bytes, random) => {
  const at = random.below(bytes.length);
  return bytes.fill(random.pick(edges), at, at + random.between(2, 8));
};

const cut: Mutation = (bytes, random) => bytes.slice(0, random.below(bytes.length + 1));

const remove: Mutation = (bytes, random) => {
  const at = random.below(bytes.length);
  const end = Math.min(bytes.length, at + random.between(1, 8));
  return concatBytes(bytes.subarray(0, at), bytes.subarray(end));
};

const insert: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return concatBytes(bytes.subarray(0, at), random.bytes(random.between(1, 8)), bytes.subarray(at));
};

const copyRun: Mutation = (bytes, random) => {
  const from = random.below(bytes.length);
  return bytes.copyWithin(random.below(bytes.length), from, from + random.between(1, 32));
};

const mutations = [flipBit, flipBit, setEdge, setByte, fillRun, cut, remove, insert, copyRun];

/** A changed copy of `bytes`: one to `most` small changes. */
export function mutate(bytes: Uint8Array, random: Random, most = 4): Uint8Array {
  let changed: Uint8Array = new Uint8Array(bytes); // a copy, also of a Buffer
  for (let count = random.between(1, most); count > 0; count--) {
    changed = (changed.length === 0 ? insert : random.pick(mutations))(changed, random);
  }
  return changed;
}
