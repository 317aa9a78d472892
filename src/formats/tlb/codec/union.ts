import type { Slice } from '#formats/cells/slice.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import type { RecordCodec } from '#formats/tlb/codec/record.js';
import { parseSchemaLine, type SchemaLine, tagText } from '#formats/tlb/codec/schema-line.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/** What tells constructors apart: their tags, as prefixes of at most this many bits by table, longer ones one by one. */
const TABLE_BITS = 8;

/** A type with several constructors, told apart by their tags. */
// biome-ignore lint/suspicious/noExplicitAny: constructors of all value types
export function union<const V extends readonly RecordCodec<any>[]>(
  type: string,
  variants: V,
): Codec<ValueOf<V[number]>> {
  const pick = picker(
    type,
    variants.map((each) => each.line),
  );
  const byKind = new Map(variants.map((each) => [each.line.name, each]));
  return {
    type,
    load: (slice) => variants[pick(slice)]!.load(slice),
    store: (value, builder) => {
      const kind = (value as { readonly kind: string }).kind;
      const chosen = byKind.get(kind);
      if (chosen === undefined) throw unknownVariant(type, kind, [...byKind.keys()]);
      chosen.store(value, builder);
    },
  };
}

/** A type whose constructors have no fields: the value is the constructor's name. Give the schema lines. */
export function enumeration<const N extends string>(type: string, tags: Readonly<Record<N, `$${string}`>>): Codec<N> {
  const names = Object.keys(tags) as N[];
  const lines = names.map((name) => parseSchemaLine(`${name}${tags[name]} = ${type};`));
  const pick = picker(type, lines);
  return {
    type,
    load: (slice) => {
      const chosen = pick(slice);
      slice.skip(lines[chosen]!.tagBits);
      return names[chosen]!;
    },
    store: (value, builder) => {
      const line = lines[names.indexOf(value)];
      if (line === undefined) throw unknownVariant(type, String(value), names);
      builder.storeUint(line.tag, line.tagBits);
    },
  };
}

/** A function that looks at a slice without moving it and gives the index of the constructor that it starts with. */
function picker(type: string, lines: readonly SchemaLine[]): (slice: Slice) => number {
  const width = Math.max(...lines.map((line) => line.tagBits));
  const peek = (slice: Slice): number => {
    const have = Math.min(width, slice.remainingBits);
    return slice.preloadUint(have) * 2 ** (width - have);
  };
  const fail = (slice: Slice): never => {
    const have = Math.min(width, slice.remainingBits);
    throw tlbErrors['constructor-tag']({
      bit: slice.bitOffset,
      type,
      found: have === 0 ? 'nothing' : tagText(slice.preloadUint(have), have),
      wanted: `the tag of ${lines.map((line) => line.name).join(', ')}`,
    });
  };
  if (width <= TABLE_BITS) {
    const table = new Int8Array(1 << width).fill(-1);
    lines.forEach((line, index) => {
      const first = line.tag << (width - line.tagBits);
      table.fill(index, first, first + (1 << (width - line.tagBits)));
    });
    return (slice) => {
      const index = table[peek(slice)]!;
      return index < 0 ? fail(slice) : index;
    };
  }
  return (slice) => {
    const found = peek(slice);
    const index = lines.findIndex((line) => Math.floor(found / 2 ** (width - line.tagBits)) === line.tag);
    return index < 0 ? fail(slice) : index;
  };
}

function unknownVariant(type: string, kind: string, allowed: readonly string[]): Error {
  return tlbErrors['unknown-variant']({ type, kind, allowed: allowed.join(', ') });
}
