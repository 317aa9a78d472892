import { Builder } from '#formats/cells/builder.js';
import type { CellType } from '#formats/cells/cell.js';
import { openCell, type Slice } from '#formats/cells/slice.js';
import type { Codec, ValueOf } from '#formats/tlb/codec/codec.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { TernError } from '#kernel/tern-error.js';

/** A field whose type depends on the value of an earlier field. */
export interface Dependent<T> {
  readonly dependsOn: string;
  // biome-ignore lint/suspicious/noExplicitAny: the earlier field may have any type; the declaration names it
  readonly choose: (earlier: any) => Codec<T>;
}

/** Fields in an anonymous cell: `^[ … ]`. They become fields of the record itself. */
export interface Group<F> {
  readonly group: F;
}

// biome-ignore lint/suspicious/noExplicitAny: fields of all types
type FieldSpec = Codec<any> | Dependent<any> | Group<any>;
export type Fields = Readonly<Record<string, FieldSpec>>;

type Simplify<T> = { readonly [K in keyof T]: T[K] };
type Intersect<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
type OwnFields<F> = {
  readonly [K in keyof F as K extends `^${string}` ? never : K]: F[K] extends Codec<infer T>
    ? T
    : F[K] extends Dependent<infer T>
      ? T
      : never;
};
type GroupedFields<F> = Intersect<{ [K in keyof F]: F[K] extends Group<infer G> ? FieldValues<G> : never }[keyof F]>;

/** The decoded value of a record with these fields. */
export type FieldValues<F> = Simplify<OwnFields<F> & GroupedFields<F>>;

type Head<S extends string> = S extends `${infer H} ${string}` ? H : S;
type BeforeDollar<S extends string> = S extends `${infer N}$${string}` ? N : S;
/** The constructor's name in a schema line, at type level. */
export type ConstructorName<S extends string> =
  BeforeDollar<Head<S>> extends `${infer N}#${string}` ? N : BeforeDollar<Head<S>>;

/** A codec declared with a schema line. */
export interface RecordCodec<T> extends Codec<T> {
  readonly schema: string;
  readonly line: SchemaLine;
}

/** `flags . 0?X` and the like: `null` unless the earlier field passes the test. */
export function when<T, D>(dependsOn: string, test: (earlier: D) => boolean, codec: Codec<T>): Dependent<T | null> {
  const present: Codec<T | null> = {
    type: codec.type,
    load: (slice) => codec.load(slice),
    store: (value, builder) => {
      if (value === null) throw tlbErrors['field-presence']({ field: codec.type, present: false });
      codec.store(value, builder);
    },
  };
  const absent: Codec<T | null> = {
    type: codec.type,
    load: () => null,
    store: (value) => {
      if (value !== null) throw tlbErrors['field-presence']({ field: codec.type, present: true });
    },
  };
  return { dependsOn, choose: (earlier: D) => (test(earlier) ? present : absent) };
}

/** A field whose codec is chosen by an earlier field: `(BlkPrevInfo after_merge)`. */
export function dependent<T, D>(dependsOn: string, choose: (earlier: D) => Codec<T>): Dependent<T> {
  return { dependsOn, choose };
}

/** `^[ … ]`; declare it under a key that starts with `^`. */
export function group<const F extends Fields>(fields: F): Group<F> {
  return { group: fields };
}

/**
 * A type with one constructor. The schema line is quoted in full: tag and names are taken from it, and a declaration that
 * does not match it is refused when the module loads. A line that starts with `!` describes a whole exotic cell.
 */
export function record<const F extends Fields>(schema: string, fields: F): RecordCodec<FieldValues<F>> {
  return declare(schema, fields, false) as RecordCodec<FieldValues<F>>;
}

/** One constructor of a type that has several: as {@link record}, with its name in the value as `kind`. */
export function variant<const S extends string, const F extends Fields>(
  schema: S,
  fields: F,
): RecordCodec<Simplify<{ readonly kind: ConstructorName<S> } & FieldValues<F>>> {
  return declare(schema, fields, true) as RecordCodec<Simplify<{ readonly kind: ConstructorName<S> } & FieldValues<F>>>;
}

/** Lines of generated code during compilation of a record. */
interface Draft {
  readonly names: string[];
  readonly specs: FieldSpec[];
  readonly load: string[];
  readonly store: string[];
  readonly literal: string[];
}

/**
 * One unused value of each record: the engine discards code that it has optimised for the values of a record when a
 * garbage collection finds none of them alive.
 */
const samples: object[] = [];

type Compiled = Pick<Codec<unknown>, 'load' | 'store'>;

/** Checks the declaration, and compiles it when it is used first: a thread uses few of all that it loads. */
function declare(schema: string, fields: Fields, withKind: boolean): RecordCodec<unknown> {
  const line = parseSchemaLine(schema);
  // The tag of an exotic type is the type byte of its cell, which is outside the codec.
  const isExotic = schema.startsWith('!');
  const draft: Draft = { names: [], specs: [], load: [], store: [], literal: [] };
  addFields(draft, fields, 's', 'b');
  const declared = draft.literal.map((entry) => JSON.parse(entry.slice(0, entry.lastIndexOf(':'))) as string);
  const agrees =
    declared.length === line.fields.length &&
    declared.every((name, i) => line.fields[i] === '_' || line.fields[i] === name);
  if (!agrees)
    throw tlbErrors['schema-mismatch']({ schema, declared: declared.join(' '), quoted: line.fields.join(' ') });

  let compiled: Compiled | null = null;
  const use = (): Compiled => {
    if (compiled === null) {
      compiled = compile(draft, line, { kind: withKind ? line.name : null, hasTag: line.tagBits > 0 && !isExotic });
      codec.load = compiled.load;
      codec.store = compiled.store;
    }
    return compiled;
  };
  const codec: { -readonly [K in keyof RecordCodec<unknown>]: RecordCodec<unknown>[K] } = {
    ...{ type: line.type, schema, line },
    load: (slice) => use().load(slice),
    store: (value, builder) => use().store(value, builder),
    ...(isExotic ? { exotic: line.tag as CellType } : {}),
  };
  return codec;
}

/**
 * Compiles a declaration to two straight-line functions: no loop over fields at run time, one object literal, one hidden
 * class. The code contains only field names and numbers of the declaration itself.
 */
function compile(
  draft: Draft,
  line: SchemaLine,
  { kind, hasTag }: { readonly kind: string | null; readonly hasTag: boolean },
): Compiled {
  const variables = draft.names.map((_, i) => `v${i}`).join(', ');
  const kindEntry = kind === null ? '' : `kind: ${JSON.stringify(kind)}, `;
  const source = `
    const make = (${variables}) => ({ ${kindEntry}${draft.literal.join(', ')} });
    const load = (s) => {
      let at = -1${variables === '' ? '' : `, ${variables}`};
      try {
        ${hasTag ? 'tag(s);' : ''}
        ${draft.load.join('\n        ')}
      } catch (error) { throw located(error, at); }
      return make(${variables});
    };
    const store = (v, b) => {
      let at = -1;
      try {
        ${hasTag ? `b.storeUint(${line.tag}, ${line.tagBits});` : ''}
        ${draft.store.join('\n        ')}
      } catch (error) { throw located(error, at); }
    };
    return { load, store, sample: make() };`;
  const located = (error: unknown, at: number): unknown =>
    error instanceof TernError && at >= 0 ? error.within(draft.names[at] as string) : error;
  const make = new Function('c', 'tag', 'located', 'open', 'Builder', source) as (
    codecs: readonly FieldSpec[],
    tag: (slice: Slice) => void,
    locate: typeof located,
    open: typeof openCell,
    builder: typeof Builder,
  ) => Compiled & { readonly sample: object };
  const { load, store, sample } = make(draft.specs, (slice) => expectTag(slice, line), located, openCell, Builder);
  samples.push(sample);
  return { load, store };
}

function addFields(draft: Draft, fields: Fields, slice: string, builder: string): void {
  for (const [name, spec] of Object.entries(fields)) {
    const i = draft.names.push(name) - 1;
    draft.specs.push(spec);
    if ('group' in spec) {
      draft.load.push(`at = ${i}; const s${i} = open(${slice}.loadRef());`);
      draft.store.push(`const b${i} = new Builder();`);
      addFields(draft, spec.group as Fields, `s${i}`, `b${i}`);
      draft.load.push(`at = ${i}; s${i}.end();`);
      draft.store.push(`at = ${i}; ${builder}.storeRef(b${i}.endCell());`);
      continue;
    }
    const key = JSON.stringify(name);
    draft.literal.push(`${key}: v${i}`);
    if ('choose' in spec) {
      const earlier = draft.names.indexOf(spec.dependsOn);
      if (earlier < 0 || earlier >= i)
        throw tlbErrors['schema-mismatch']({ schema: name, declared: spec.dependsOn, quoted: 'an earlier field' });
      draft.load.push(`at = ${i}; v${i} = c[${i}].choose(v${earlier}).load(${slice});`);
      draft.store.push(`at = ${i}; c[${i}].choose(v[${JSON.stringify(spec.dependsOn)}]).store(v[${key}], ${builder});`);
    } else {
      draft.load.push(`at = ${i}; v${i} = c[${i}].load(${slice});`);
      draft.store.push(`at = ${i}; c[${i}].store(v[${key}], ${builder});`);
    }
  }
}

function expectTag(slice: Slice, line: SchemaLine): void {
  const found = slice.preloadUint(line.tagBits);
  if (found !== line.tag) {
    throw tlbErrors['constructor-tag']({
      bit: slice.bitOffset,
      type: line.type,
      found: tagText(found, line.tagBits),
      wanted: tagText(line.tag, line.tagBits),
    });
  }
  slice.skip(line.tagBits);
}

/** Constructors are looked up in a table by tags of at most this many bits; longer tags are compared one by one. */
const TABLE_BITS = 8;

/** A type with several constructors, distinguished by their tags. */
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

/** A type whose constructors have no fields: the value is the constructor's name. */
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

/** Returns a function that finds the constructor at the position of a slice, without moving it, and returns its index. */
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

/** A parsed TL-B line. */
export interface SchemaLine {
  /** Constructor name; empty for `_`. */
  readonly name: string;
  readonly tag: number;
  readonly tagBits: number;
  /** The type after `=`. */
  readonly type: string;
  /** Names of the explicit fields in order; `_` for a field without a name. */
  readonly fields: readonly string[];
}

/**
 * Parses a line such as `block_info#9bc7a987 version:uint32 … = BlockInfo;`. Implicit fields and constraints in
 * braces are ignored; fields in `^[ … ]` count as fields of the constructor itself.
 */
export function parseSchemaLine(line: string): SchemaLine {
  const flat = line.replace(/\{[^}]*\}/g, ' ').trim();
  const head = /^!?(\w*?)(?:([#$])(\w*))?(?=\s)/.exec(flat);
  const name = head?.[1] ?? '';
  const bits = tagBits(head?.[2] === '#', head?.[3] ?? '_');
  const equals = flat.lastIndexOf('=');
  const body = flat.slice(head?.[0].length ?? 0, equals);
  return {
    name: name === '_' ? '' : name,
    tag: bits === '' ? 0 : Number.parseInt(bits, 2),
    tagBits: bits.length,
    type: flat
      .slice(equals + 1)
      .replace(';', '')
      .trim(),
    fields: [...body.matchAll(/(?:^|[\s[])(\w+):/g)].map((match) => match[1] as string),
  };
}

/** The tag in binary digits. In hexadecimal, a trailing `_` marks the last 1 bit and the zeros after it as padding. */
function tagBits(hex: boolean, written: string): string {
  const digits = written.replace(/_$/, '');
  if (!hex) return digits;
  const bits = [...digits].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
  return written.endsWith('_') ? bits.replace(/10*$/, '') : bits;
}

/** A tag in schema notation: `#9bc7a987`, or `$011` when it is not a whole number of hexadecimal digits. */
export function tagText(tag: number, bits: number): string {
  return bits % 4 === 0 ? `#${tag.toString(16).padStart(bits / 4, '0')}` : `$${tag.toString(2).padStart(bits, '0')}`;
}
