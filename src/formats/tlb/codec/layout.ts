import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import type { Slice } from '#formats/cells/slice.js';
import { type Codec, maybe } from '#formats/tlb/codec/codec.js';
import { any, bigInt, bigUint, bool, bytes, cellRef, int, uint } from '#formats/tlb/codec/primitives.js';
import { type Fields, group, type RecordCodec, record } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { accountOf, MsgAddress, type MsgAddress as MsgAddressValue } from '#formats/tlb/msg-address.js';

/*
 * Layouts of message bodies and contract data from their TL-B line alone: the line is the declaration, and the TypeScript type
 * of the values follows from it. For what contracts read from each other's messages, not for blocks: as the TVM does, the codecs
 * accept coins with leading zero bytes and leave what follows the last field unread.
 */

// biome-ignore format: a range of numbers
type UpTo32 = 1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|27|28|29|30|31|32;

type NumberOrBigint<Bits extends string> = Bits extends `${infer N extends number}`
  ? N extends UpTo32
    ? number
    : bigint
  : never;

/** The value of a type in a line. */
type ValueOfType<Type extends string> = Type extends 'Coins'
  ? bigint
  : Type extends 'MsgAddress'
    ? Address | null
    : Type extends 'AnyMsgAddress'
      ? MsgAddressValue
      : Type extends 'Bool'
        ? boolean
        : Type extends '^Cell'
          ? Cell
          : Type extends 'Maybe ^Cell' | 'Either Cell ^Cell' | 'Opt ^Cell' | 'Opt Maybe ^Cell'
            ? Cell | null
            : Type extends 'Any'
              ? Slice
              : Type extends `uint${infer Bits}` | `int${infer Bits}`
                ? NumberOrBigint<Bits>
                : Type extends `bits${string}`
                  ? Uint8Array
                  : never;

/** Fields of a line that starts with a field. */
type FieldsOf<Line extends string> = Line extends `^[ ${infer Inner} ] ${infer Rest}`
  ? FieldsOf<`${Inner} `> & FieldsOf<Rest>
  : Line extends `${infer Name}:(${infer Type}) ${infer Rest}`
    ? Name extends `${string} ${string}`
      ? FirstField<Line>
      : { readonly [N in Name]: ValueOfType<Type> } & FieldsOf<Rest>
    : FirstField<Line>;
type FirstField<Line extends string> = Line extends `${infer Name}:${infer Type} ${infer Rest}`
  ? { readonly [N in Name]: ValueOfType<Type> } & FieldsOf<Rest>
  : unknown;

type AfterName<Line extends string> = Line extends `${string} ${infer Rest}` ? `${Rest} ` : '';

type Flat<T> = { readonly [K in keyof T]: T[K] };

/** The values of a line. */
export type ValuesOfLine<Line extends string> = Flat<FieldsOf<AfterName<Line>>>;

/** `VarUInteger 16` as the TVM reads it: the number may have leading zero bytes. */
const coins: Codec<bigint> = {
  type: 'Coins',
  load: (slice) => slice.loadUintBig(slice.loadUint(4) * 8),
  store: (value, builder) => {
    const length = value === 0n ? 0 : (value.toString(16).length + 1) >> 1;
    builder.storeUint(length, 4).storeUint(value, length * 8);
  },
};

/** An account; anything else is null. */
const account: Codec<Address | null> = {
  type: 'MsgAddress',
  load: (slice) => accountOf(MsgAddress.load(slice)),
  store: (value, builder) => MsgAddress.store(value, builder),
};

/** `Either Cell ^Cell` as the last field: null when empty or left out. */
const payload: Codec<Cell | null> = {
  type: 'Either Cell ^Cell',
  load: (slice) => {
    if (slice.remainingBits === 0) return null;
    if (slice.loadBit()) return slice.remainingRefs > 0 ? slice.loadRef() : null;
    return slice.isEmpty ? null : new Builder().storeSlice(slice.takeRest()).endCell();
  },
  store: (value, builder) => {
    builder.storeBit(value !== null);
    if (value !== null) builder.storeRef(value);
  },
};

/** A reference, if one is left. */
const optionalRef: Codec<Cell | null> = {
  type: 'Opt ^Cell',
  load: (slice) => (slice.remainingRefs > 0 ? slice.loadRef() : null),
  store: (value, builder) => {
    if (value !== null) builder.storeRef(value);
  },
};

/** `Maybe ^Cell` as the last field: null when it, or its reference, is left out. */
const optionalMaybeRef: Codec<Cell | null> = {
  type: 'Opt Maybe ^Cell',
  load: (slice) => (slice.remainingBits > 0 && slice.loadBit() && slice.remainingRefs > 0 ? slice.loadRef() : null),
  store: (value, builder) => {
    builder.storeBit(value !== null);
    if (value !== null) builder.storeRef(value);
  },
};

const NAMED: Readonly<Record<string, Codec<unknown>>> = {
  Coins: coins as Codec<unknown>,
  MsgAddress: account as Codec<unknown>,
  AnyMsgAddress: MsgAddress as Codec<unknown>,
  Bool: bool as Codec<unknown>,
  '^Cell': cellRef as Codec<unknown>,
  'Maybe ^Cell': maybe(cellRef) as Codec<unknown>,
  'Opt ^Cell': optionalRef as Codec<unknown>,
  'Opt Maybe ^Cell': optionalMaybeRef as Codec<unknown>,
  'Either Cell ^Cell': payload as Codec<unknown>,
  Any: any as Codec<unknown>,
};

function codecOf(type: string, line: string): Codec<unknown> {
  const named = NAMED[type];
  if (named !== undefined) return named;
  const sized = /^(uint|int|bits)(\d+)$/.exec(type);
  const bits = Number(sized?.[2]);
  switch (sized?.[1]) {
    case 'uint':
      return (bits <= 32 ? uint(bits) : bigUint(bits)) as Codec<unknown>;
    case 'int':
      return (bits <= 32 ? int(bits) : bigInt(bits)) as Codec<unknown>;
    case 'bits':
      if (bits % 8 === 0) return bytes(bits / 8) as Codec<unknown>;
  }
  throw tlbErrors['schema-mismatch']({ schema: line, declared: type, quoted: 'a type of message bodies' });
}

function fieldsOf(text: string, line: string): Fields {
  const fields: Record<string, Fields[string]> = {};
  const tokens = /\^\[ (.*?) \] |(\w+):(?:\((.*?)\)|(\S+)) /g;
  for (const [, inner, name, enclosed, plain] of text.matchAll(tokens)) {
    if (inner !== undefined) fields[`^${Object.keys(fields).length}`] = openGroup(fieldsOf(`${inner} `, line));
    else fields[name as string] = codecOf((enclosed ?? plain) as string, line);
  }
  return fields;
}

/** `^[ … ]` of which the end may be left unread. */
function openGroup(fields: Fields): Fields[string] {
  return group({ ...fields, [`rest_of_${Object.keys(fields).join('_')}`]: unread });
}

const unread: Codec<null> = {
  type: 'Any',
  load: (slice) => {
    slice.takeRest();
    return null;
  },
  store: () => {},
};

/** A layout that is declared by its line. */
export interface Layout<Values> extends RecordCodec<Values> {
  /** Its tag: the opcode of a message body. */
  readonly tag: number;
}

/**
 * Declares a layout by its TL-B line without the type at the end: `burn#595f07bc query_id:uint64 amount:Coins`. Types:
 * `uintN` and `intN` (numbers up to 32 bits, else bigints), `bitsN`, `Bool`, `Coins`, `MsgAddress` (an account or null),
 * `AnyMsgAddress` (a `MsgAddress` as it is), `^Cell`, `(Maybe ^Cell)`, `(Opt ^Cell)` (a reference, if one is left),
 * `(Opt Maybe ^Cell)` and `(Either Cell ^Cell)` at the end, where they may be left out, `Any`, and fields in a referenced cell:
 * `^[ … ]`, one level deep.
 */
export function layout<const Line extends string>(line: Line): Layout<ValuesOfLine<Line>> {
  const text = line.replace(/\s+/g, ' ').trim();
  const fields = fieldsOf(`${text.slice(`${text} `.indexOf(' ') + 1)} `, text);
  const names = text.replaceAll(' ]', ' _:Any ]');
  const codec = record(`${names} = Layout;`, fields) as unknown as RecordCodec<ValuesOfLine<Line>>;
  return { ...codec, tag: codec.line.tag };
}
