import { BodyCursor, type DecodedObject, type FieldReader } from '#domain/message-bodies/body-cursor.js';
import { utf8Text } from '#kernel/utf8.js';

/** `uintN`, `(## n)`: a decimal string. */
export function uintReader(bits: number): FieldReader {
  return (from, into, field) => {
    const text = readUint(from, bits);
    if (text === undefined) return false;
    into[field] = text;
    return true;
  };
}

/** `intN`: a decimal string. */
export function intReader(bits: number): FieldReader {
  return (from, into, field) => {
    const text = readUint(from, bits);
    if (text === undefined) return false;
    into[field] = BigInt.asIntN(bits, BigInt(text)).toString();
    return true;
  };
}

/** `Bool`, `uint1`. */
export const boolReader: FieldReader = (from, into, field) => {
  const bit = from.uint(1);
  into[field] = bit === 1;
  return bit >= 0;
};

/** `bitsN`: hexadecimal digits. */
export function bitsReader(bits: number): FieldReader {
  return (from, into, field) => readHex(from, bits, into, field);
}

/** `(bits len)`, `(bits (len * 8))`: as many as an earlier field says. */
export function countedBitsReader(counter: string, factor: number): FieldReader {
  return (from, into, field) => readHex(from, Number(into[counter]) * factor, into, field);
}

/** `(#<= most)`: a number in the bit length of `most`. */
export function atMostReader(most: number): FieldReader {
  const bits = bitLength(most);
  return (from, into, field) => {
    const value = from.uint(bits);
    into[field] = String(value);
    return value >= 0 && value <= most;
  };
}

/** `(VarUInteger n)`: `{"@type":"var_uint","len":"2","value":"1000"}`. */
export function varUintReader(n: number): FieldReader {
  const bits = bitLength(n - 1);
  return (from, into, field) => {
    const len = from.uint(bits);
    if (len < 0 || len >= n) return false;
    const value = readUint(from, len * 8);
    if (value === undefined || !from.spend(48)) return false;
    into[field] = { '@type': 'var_uint', len: String(len), value };
    return true;
  };
}

/** Bit length of numbers up to `most`. */
function bitLength(most: number): number {
  return 32 - Math.clz32(most);
}

/** An unsigned number as decimal digits. */
function readUint(from: BodyCursor, bits: number): string | undefined {
  if (bits <= 48) {
    const value = from.uint(bits);
    return value < 0 ? undefined : String(value);
  }
  if (from.remainingBits < bits) return undefined;
  if (bits > 64 && (bits & 7) === 0)
    return from.spend(bits >> 2) ? BigInt(`0x${from.hex(bits)}`).toString() : undefined;
  const high = from.uint(bits <= 64 ? bits - 32 : bits & 31);
  if (bits <= 64 && high < 2 ** 21) return String(high * 2 ** 32 + from.uint(32));
  let value = BigInt(high);
  for (let left = bits <= 64 ? 32 : bits & ~31; left > 0; left -= 32) value = (value << 32n) | BigInt(from.uint(32));
  return value.toString();
}

function readHex(from: BodyCursor, bits: number, into: DecodedObject, field: string): boolean {
  const text = from.hex(bits);
  if (text === undefined || !from.spend(text.length)) return false;
  into[field] = text;
  return true;
}

/** `Cell`, `Any`: the rest of the cell. */
export const restReader: FieldReader = (from, into, field) => {
  into[field] = null;
  from.budget.raws.push({ into, field, cell: from.cell, bits: from.bitOffset, refs: from.refOffset });
  from.skipRest();
  return true;
};

/** `^Cell`: any referenced cell. */
export const cellReader: FieldReader = (from, into, field) => {
  const cell = from.ref();
  if (cell === undefined) return false;
  into[field] = null;
  from.budget.raws.push({ into, field, cell, bits: 0, refs: 0 });
  return true;
};

/** `^X`: a referenced cell that starts with a value; trailing data is allowed. */
export function referenceReader(inner: FieldReader): FieldReader {
  return (from, into, field) => {
    const below = from.openRef();
    return below !== undefined && inner(below, into, field);
  };
}

/** `^X` as an argument of another type: `{"cell_reference": X}`. */
export function wrappedReferenceReader(inner: FieldReader): FieldReader {
  const reference = referenceReader(inner);
  return (from, into, field) => {
    const value = {};
    into[field] = value;
    return reference(from, value, 'cell_reference') && from.spend(20);
  };
}

/** `(Maybe X)`: `nothing_from_maybe`, or `something_from_maybe` with its `value`. */
export function maybeReader(inner: FieldReader): FieldReader {
  return (from, into, field) => {
    const bit = from.uint(1);
    if (bit < 0 || !from.spend(40)) return false;
    if (bit === 0) {
      into[field] = { '@type': 'nothing_from_maybe' };
      return true;
    }
    const value = { '@type': 'something_from_maybe' };
    into[field] = value;
    return inner(from, value, 'value');
  };
}

/** `(Either X Y)`: `first_from_either` or `second_from_either`, each with its `value`. */
export function eitherReader(first: FieldReader, second: FieldReader): FieldReader {
  return (from, into, field) => {
    const bit = from.uint(1);
    if (bit < 0 || !from.spend(40)) return false;
    const value = { '@type': bit === 0 ? 'first_from_either' : 'second_from_either' };
    into[field] = value;
    return (bit === 0 ? first : second)(from, value, 'value');
  };
}

/** `SnakeString`: UTF-8 text that continues in references. An incomplete byte at its end is padded with zeros. */
export const snakeStringReader: FieldReader = (from, into, field) => {
  const bytes: number[] = [];
  for (let at = from; ; ) {
    const halfByte = at.remainingBits & 7;
    if (at.remainingRefs > 1 || !at.spend(at.remainingBits >> 3)) return false;
    at.bytes(at.remainingBits >> 3, bytes);
    if (at.remainingRefs === 0) {
      if (halfByte !== 0) bytes.push(at.uint(halfByte) << (8 - halfByte));
      break;
    }
    // The same depth: a long text needs no recursion.
    const next = BodyCursor.open(at.ref()!, at.budget, from.depth);
    if (halfByte !== 0 || next === undefined) return false;
    at = next;
  }
  const text = utf8Text(Uint8Array.from(bytes));
  if (text === null) return false;
  into[field] = text;
  return true;
};

/** `(HashmapE n X)`: `hashmap_empty`, or `hashmap_root` with its `root`. */
export function hashmapEReader(keyBits: number, value: FieldReader): FieldReader {
  const inner = hashmapReader(keyBits, value);
  return (from, into, field) => {
    const bit = from.uint(1);
    if (bit < 0 || !from.spend(40)) return false;
    const map: DecodedObject = { '@type': bit === 0 ? 'hashmap_empty' : 'hashmap_root' };
    into[field] = map;
    if (bit === 0) return true;
    const root = from.openRef();
    return root !== undefined && inner(root, map, 'root');
  };
}

/** `(Hashmap n X)`: the tree as it is stored, with labels. */
export function hashmapReader(keyBits: number, value: FieldReader): FieldReader {
  return (from, into, field) => readEdge(from, into, field, keyBits, value);
}

/** `hm_edge#_ label:(HmLabel ~l n) {n = (~m) + l} node:(HashmapNode m X) = Hashmap n X;` */
function readEdge(from: BodyCursor, into: DecodedObject, field: string, keyBits: number, value: FieldReader): boolean {
  const edge: DecodedObject = { '@type': 'hashmap_edge' };
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

function readSide(from: BodyCursor, into: DecodedObject, field: string, keyBits: number, value: FieldReader): boolean {
  const side = from.openRef();
  return side !== undefined && readEdge(side, into, field, keyBits, value);
}

/** The label of an edge and its length; -1 if it is invalid or longer than `most` bits. */
function readLabel(from: BodyCursor, edge: DecodedObject, most: number): number {
  const kind = from.uint(1) === 0 ? 'short' : from.uint(1) === 0 ? 'long' : 'same';
  const label: DecodedObject = { '@type': `hashmap_label_${kind}` };
  edge.label = label;
  let length: number;
  if (kind === 'short') {
    length = readUnaryLength(from, label, most);
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

/** `unary_succ` nested around `unary_zero`. Returns the number; -1 if it is above `most`. */
function readUnaryLength(from: BodyCursor, label: DecodedObject, most: number): number {
  let length = 0;
  let bit = from.uint(1);
  let field = 'len';
  let into = label;
  for (; bit === 1 && length < most; bit = from.uint(1), length++) {
    const next: DecodedObject = { '@type': 'unary_succ' };
    into[field] = next;
    into = next;
    field = 'x';
  }
  if (bit !== 0 || !from.spend(length * 28)) return -1;
  into[field] = { '@type': 'unary_zero' };
  return length;
}

/**
 * `(OutList n)`: all actions that there are.
 *
 * ```
 * out_list_empty$_ = OutList 0;
 * out_list$_ {n:#} prev:^(OutList n) action:OutAction = OutList (n + 1);
 * ```
 */
export function outListReader(action: FieldReader): FieldReader {
  const read: FieldReader = (from, into, field) => {
    if (!from.spend(40)) return false;
    if (from.isEmpty) {
      into[field] = { '@type': 'out_list_empty' };
      return true;
    }
    const list = { '@type': 'out_list' };
    into[field] = list;
    const prev = from.openRef();
    return prev !== undefined && read(prev, list, 'prev') && action(from, list, 'action');
  };
  return read;
}

/**
 * `(W5ExtendedActionList n)`: continues while there is a reference.
 *
 * ```
 * extended_list_last$_ action:W5ExtendedAction = W5ExtendedActionList 0;
 * extended_list_action$_ {m:#} action:W5ExtendedAction prev:^(W5ExtendedActionList m) = W5ExtendedActionList (m + 1);
 * ```
 */
export function extendedActionsReader(action: FieldReader): FieldReader {
  const read: FieldReader = (from, into, field) => {
    const last = from.remainingRefs === 0;
    const list = { '@type': last ? 'extended_list_last' : 'extended_list_action' };
    into[field] = list;
    if (!from.spend(50) || !action(from, list, 'action')) return false;
    if (last) return true;
    const prev = from.openRef();
    return prev !== undefined && read(prev, list, 'prev');
  };
  return read;
}

/**
 * `(WalletV1toV4Msgs n)`: a message for each remaining reference.
 *
 * ```
 * msgs_2#_ msg_1:ModeWithMessage msg_2:ModeWithMessage = WalletV1toV4Msgs 2;
 * ```
 */
export function walletMessagesReader(message: FieldReader): FieldReader {
  return (from, into, field) => {
    const count = from.remainingRefs;
    const list = { '@type': `msgs_${count}` };
    into[field] = list;
    for (let i = 1; i <= count; i++) if (!message(from, list, `msg_${i}`)) return false;
    return from.spend(40);
  };
}

/**
 * `(TextChunks n)`, with `n` from an earlier field.
 *
 * ```
 * text_chunk$_ {n:#} len:(## 8) data:(bits (len * 8)) next:(TextChunkRef n) = TextChunks (n + 1);
 * text_chunk_empty$_ = TextChunks 0;
 * chunk_ref$_ {n:#} ref:^(TextChunks (n + 1)) = TextChunkRef (n + 1);
 * chunk_ref_empty$_ = TextChunkRef 0;
 * ```
 */
export function textChunksReader(counter: string): FieldReader {
  return (from, into, field) => {
    const count = Number(into[counter]);
    if (count > 0) return readChunk(from, into, field, count);
    into[field] = { '@type': 'text_chunk_empty' };
    return true;
  };
}

function readChunk(from: BodyCursor, into: DecodedObject, field: string, count: number): boolean {
  const length = from.uint(8);
  if (length < 0) return false;
  const data = from.hex(length * 8);
  if (data === undefined || !from.spend(100 + data.length)) return false;
  const next: DecodedObject = { '@type': count === 1 ? 'chunk_ref_empty' : 'chunk_ref' };
  into[field] = { '@type': 'text_chunk', len: String(length), data, next };
  if (count === 1) return true;
  const below = from.openRef();
  return below !== undefined && readChunk(below, next, 'ref', count - 1);
}
