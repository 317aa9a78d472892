import { decodeBoxed, encodeBoxed, type TlConstructor } from '#formats/tl/constructor.js';
import { LiteServerError, liteServerFunctions } from '#formats/tl/lite-api.js';
import { isTernError } from '#kernel/tern-error.js';
import type { Random } from '#test/fuzz/random.js';
import type { DirectServer } from '#test/support/direct-source.js';

/** Every constructor that answers a function of the lite API. */
const answers: readonly TlConstructor[] = [
  LiteServerError,
  ...new Map(liteServerFunctions.map(({ result }) => [result.id, result as TlConstructor])).values(),
];

/** One lie: what it changes, and the changed bytes. */
export interface Lie {
  /** `liteServer.accountState` */
  readonly answer: string;
  /** `shardblk.seqno`, items of vectors as `[]`. */
  readonly field: string;
  /** `shardblk.seqno: 12 becomes 13` */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Whether the field is a byte string. */
  readonly inBytes: boolean;
}

/** A server that lies once: in its answer to the question with this number, from 0 on. */
export function lyingServer(honest: DirectServer, question: number, bytes: Uint8Array): DirectServer {
  let next = 0;
  return async (query) => (next++ === question ? bytes : honest(query));
}

/** A server that makes each answer once: thousands of lies are told about the same few questions. */
export function rememberingServer(server: DirectServer): DirectServer {
  const known = new Map<string, Promise<Uint8Array>>();
  return (query) => {
    const key = Buffer.from(query).toString('latin1');
    const answer = known.get(key) ?? server(query);
    known.set(key, answer);
    return answer;
  };
}

/** A server that keeps what it answered. */
export function recordingServer(honest: DirectServer, answered: Uint8Array[]): DirectServer {
  return async (query) => {
    const answer = await honest(query);
    answered.push(answer);
    return answer;
  };
}

/**
 * Lies about an answer: each of its fields changed in several ways, items of vectors left out, doubled and exchanged; in
 * byte strings, flipped bits, cuts, and other byte strings of the same answer.
 *
 * @param flips how many bits of each byte string are flipped, one at a time
 */
export function* liesAbout(answer: Uint8Array, random: Random, flips: number): Generator<Lie> {
  const { name, value } = decodeBoxed(answer, ...answers);
  const type = answers.find((each) => each.name === name)!;
  const strings = [...leaves(value, [])].map(({ leaf }) => leaf).filter((leaf) => leaf instanceof Uint8Array);
  for (const { path, leaf } of leaves(value, [])) {
    const seen = new Set<string>();
    for (const { text, changed } of changes(leaf, strings, random, flips)) {
      const bytes = encoded(type, replaced(value, path, changed));
      const key = bytes === null ? '' : Buffer.from(bytes).toString('latin1');
      if (bytes === null || seen.has(key) || Buffer.compare(bytes, answer) === 0) continue;
      seen.add(key);
      const field = path.map((key) => (typeof key === 'number' ? '[]' : `.${key}`)).join('');
      const inBytes = leaf instanceof Uint8Array;
      yield { answer: name, field: field.slice(1), text: `${path.join('.')}: ${text}`, bytes, inBytes };
    }
  }
}

type Path = readonly (string | number)[];

interface Leaf {
  readonly path: Path;
  readonly leaf: unknown;
}

/** Fields, and vectors as a whole. Which constructor a value has is its `kind`, and is left alone. */
function* leaves(value: unknown, path: Path): Generator<Leaf> {
  if (value === null || path.at(-1) === 'kind') return;
  if (Array.isArray(value)) {
    yield { path, leaf: value };
    for (const [i, item] of value.entries()) yield* leaves(item, [...path, i]);
  } else if (typeof value === 'object' && !(value instanceof Uint8Array)) {
    for (const [key, field] of Object.entries(value)) yield* leaves(field, [...path, key]);
  } else {
    yield { path, leaf: value };
  }
}

interface Change {
  readonly text: string;
  readonly changed: unknown;
}

function* changes(leaf: unknown, strings: readonly Uint8Array[], random: Random, flips: number): Generator<Change> {
  if (typeof leaf === 'boolean') yield { text: `becomes ${!leaf}`, changed: !leaf };
  if (typeof leaf === 'number') {
    for (const changed of [leaf + 1, leaf - 1, leaf ^ (1 << random.below(31)), 0, -1]) {
      yield { text: `${leaf} becomes ${changed}`, changed };
    }
  }
  if (typeof leaf === 'bigint') {
    const bit = BigInt.asIntN(64, leaf ^ (1n << BigInt(random.below(64))));
    for (const changed of [leaf + 1n, leaf - 1n, bit, 0n]) yield { text: `${leaf} becomes ${changed}`, changed };
  }
  if (leaf instanceof Uint8Array) yield* changedBytes(leaf, strings, random, flips);
  if (Array.isArray(leaf) && leaf.length > 0) yield* changedVectors(leaf);
}

function* changedVectors(leaf: readonly unknown[]): Generator<Change> {
  const last = leaf.at(-1);
  yield { text: 'loses the first item', changed: leaf.slice(1) };
  yield { text: 'loses the last item', changed: leaf.slice(0, -1) };
  yield { text: 'has the last item twice', changed: [...leaf, last] };
  yield { text: 'becomes empty', changed: [] };
  if (leaf.length > 1) yield { text: 'is turned around', changed: leaf.toReversed() };
}

function* changedBytes(
  leaf: Uint8Array,
  strings: readonly Uint8Array[],
  random: Random,
  flips: number,
): Generator<Change> {
  const { length } = leaf;
  for (let i = 0; i < Math.min(flips, length * 8); i++) {
    const changed = leaf.slice();
    const bit = random.below(length * 8);
    changed[bit >> 3]! ^= 0x80 >> (bit & 7);
    yield { text: `bit ${bit} is flipped`, changed };
  }
  if (length === 32) {
    yield { text: 'becomes zeros', changed: new Uint8Array(32) };
  } else {
    yield { text: 'becomes empty', changed: new Uint8Array() };
    yield { text: 'loses its last byte', changed: leaf.slice(0, -1) };
    yield { text: 'loses its second half', changed: leaf.slice(0, length >> 1) };
    yield { text: 'gets a byte more', changed: Uint8Array.of(...leaf, 0) };
  }
  for (const other of strings.slice(0, 8)) {
    if (other !== leaf && (length !== 32) === (other.length !== 32)) {
      yield { text: `becomes another one of ${other.length} bytes`, changed: other };
    }
  }
}

function replaced(value: unknown, [key, ...rest]: Path, changed: unknown): unknown {
  if (key === undefined) return changed;
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? replaced(item, rest, changed) : item));
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [key]: replaced(fields[key], rest, changed) };
}

/** `null` when no bytes say such a value. */
function encoded(type: TlConstructor, value: unknown): Uint8Array | null {
  try {
    return encodeBoxed(type, value as never);
  } catch (error) {
    if (isTernError(error)) return null;
    throw error;
  }
}
