import type { BodyCursor } from '#domain/bodies/body-cursor.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import { bitLength } from '#domain/bodies/number-readers.js';
import type { Reader } from '#domain/bodies/reader.js';

/** `(HashmapE n X)`: `hashmap_empty`, or `hashmap_root` with its `root`. */
export function hashmapEReader(keyBits: number, value: Reader): Reader {
  const inner = hashmapReader(keyBits, value);
  return (from, into, field) => {
    const bit = from.uint(1);
    if (bit < 0 || !from.spend(40)) return false;
    const map: JsonObject = { '@type': bit === 0 ? 'hashmap_empty' : 'hashmap_root' };
    into[field] = map;
    if (bit === 0) return true;
    const root = from.openRef();
    return root !== undefined && inner(root, map, 'root');
  };
}

/** `(Hashmap n X)`: the tree as it is stored, with labels. */
export function hashmapReader(keyBits: number, value: Reader): Reader {
  return (from, into, field) => readEdge(from, into, field, keyBits, value);
}

/** `hm_edge#_ label:(HmLabel ~l n) {n = (~m) + l} node:(HashmapNode m X) = Hashmap n X;` */
function readEdge(from: BodyCursor, into: JsonObject, field: string, keyBits: number, value: Reader): boolean {
  const edge: JsonObject = { '@type': 'hashmap_edge' };
  into[field] = edge;
  const length = readLabel(from, edge, keyBits);
  if (length < 0 || !from.spend(100)) return false;
  if (length === keyBits) {
    const leaf = { '@type': 'hashmap_node_leaf' };
    edge.node = leaf;
    return value(from, leaf, 'value');
  }
  const fork = { '@type': 'hashmap_node_fork' };
  edge.node = fork;
  const below = keyBits - length - 1;
  return readSide(from, fork, 'left', below, value) && readSide(from, fork, 'right', below, value);
}

function readSide(from: BodyCursor, into: JsonObject, field: string, keyBits: number, value: Reader): boolean {
  const side = from.openRef();
  return side !== undefined && readEdge(side, into, field, keyBits, value);
}

/** The label of an edge and its length, or -1 when there is none of at most `most` bits. */
function readLabel(from: BodyCursor, edge: JsonObject, most: number): number {
  const kind = from.uint(1) === 0 ? 'short' : from.uint(1) === 0 ? 'long' : 'same';
  const label: JsonObject = { '@type': `hashmap_label_${kind}` };
  edge.label = label;
  let length: number;
  if (kind === 'short') {
    length = readUnary(from, label, most);
  } else {
    if (kind === 'same') {
      const bit = from.uint(1);
      if (bit < 0) return -1;
      label.v = bit === 1;
    }
    length = from.uint(bitLength(most));
    label.n = String(length);
  }
  if (length < 0 || length > most) return -1;
  if (kind === 'same') return length;
  const bits = from.hex(length);
  if (bits === undefined) return -1;
  label.s = bits;
  return length;
}

/** `unary_succ` around `unary_zero`, as many times as its number, which comes back; -1 when it is above `most`. */
function readUnary(from: BodyCursor, label: JsonObject, most: number): number {
  let length = 0;
  let bit = from.uint(1);
  let field = 'len';
  let into = label;
  for (; bit === 1 && length < most; bit = from.uint(1), length++) {
    const next: JsonObject = { '@type': 'unary_succ' };
    into[field] = next;
    into = next;
    field = 'x';
  }
  if (bit !== 0 || !from.spend(length * 28)) return -1;
  into[field] = { '@type': 'unary_zero' };
  return length;
}
