import { BodyCursor } from '#domain/bodies/body-cursor.js';
import type { Reader } from '#domain/bodies/reader.js';

/** `Cell`, `Any`: all that is left. */
export const restReader: Reader = (from, into, field) => {
  into[field] = null;
  from.decoding.raws.push({ into, field, cell: from.cell, bits: from.bitOffset, refs: from.refOffset });
  from.skipRest();
  return true;
};

/** `^Cell`: whatever the reference leads to. */
export const cellReader: Reader = (from, into, field) => {
  const cell = from.ref();
  if (cell === undefined) return false;
  into[field] = null;
  from.decoding.raws.push({ into, field, cell, bits: 0, refs: 0 });
  return true;
};

/** `^X`: a cell with a value; it may go on after it. */
export function referenceReader(inner: Reader): Reader {
  return (from, into, field) => {
    const below = from.openRef();
    return below !== undefined && inner(below, into, field);
  };
}

/** `^X` as an argument of another type: `{"cell_reference": X}`. */
export function wrappedReferenceReader(inner: Reader): Reader {
  const reference = referenceReader(inner);
  return (from, into, field) => {
    const value = {};
    into[field] = value;
    return reference(from, value, 'cell_reference') && from.spend(20);
  };
}

/** `(Maybe X)`: `nothing_from_maybe`, or `something_from_maybe` with its `value`. */
export function maybeReader(inner: Reader): Reader {
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
export function eitherReader(first: Reader, second: Reader): Reader {
  return (from, into, field) => {
    const bit = from.uint(1);
    if (bit < 0 || !from.spend(40)) return false;
    const value = { '@type': bit === 0 ? 'first_from_either' : 'second_from_either' };
    into[field] = value;
    return (bit === 0 ? first : second)(from, value, 'value');
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `SnakeString`: text in UTF-8 that goes on through references. Bits that are no whole byte at its end are filled with zeros. */
export const snakeStringReader: Reader = (from, into, field) => {
  const bytes: number[] = [];
  for (let at = from; ; ) {
    const halfByte = at.remainingBits & 7;
    if (at.remainingRefs > 1 || !at.spend(at.remainingBits >> 3)) return false;
    at.bytes(at.remainingBits >> 3, bytes);
    if (at.remainingRefs === 0) {
      if (halfByte !== 0) bytes.push(at.uint(halfByte) << (8 - halfByte));
      break;
    }
    // Not deeper for the stack: a long text is no deep one.
    const next = BodyCursor.open(at.ref()!, at.decoding, from.depth);
    if (halfByte !== 0 || next === undefined) return false;
    at = next;
  }
  try {
    into[field] = utf8.decode(Uint8Array.from(bytes));
  } catch {
    return false;
  }
  return true;
};
