import { tlErrors } from '#formats/tl/errors.js';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';
import { TernError } from '#kernel/tern-error.js';

/** The codec of one line of a TL schema: reads and writes its fields, without the constructor id ("bare"). */
export interface TlConstructor<Name extends string = string, Value = unknown, Type extends string = string> {
  /** As in the schema: `liteServer.accountState`. */
  readonly name: Name;
  /** CRC-32 of the line, unless the line states an id; unsigned. Little-endian on the wire. */
  readonly id: number;
  /** The type after `=`: `liteServer.AccountState`. */
  readonly type: Type;
  /** The line of the schema. */
  readonly line: string;
  /** Minimum number of bytes of a value, without the id. */
  readonly leastBytes: number;
  /** The value may contain views of the reader's bytes. */
  load(reader: TlReader): Value;
  store(value: Value, writer: TlWriter): void;
}

/** A function: its arguments are read and written like the fields of a constructor. */
export interface TlFunction<
  Name extends string = string,
  Arguments = unknown,
  Result extends TlConstructor = TlConstructor,
> extends TlConstructor<Name, Arguments> {
  /** The constructor of its result. */
  readonly result: Result;
}

/** A type with several constructors, distinguished by `kind`; values start with the constructor id ("boxed"). */
export interface TlUnion<Value = unknown, Name extends string = string> {
  /** `liteServer.BlockLink` */
  readonly name: Name;
  readonly constructors: readonly TlConstructor[];
  /** Minimum number of bytes of a value, including the id. */
  readonly leastBytes: number;
  load(reader: TlReader): Value;
  store(value: Value, writer: TlWriter): void;
}

/** The type of the values of a constructor, function or type with several constructors. */
export type TlValue<C> = C extends { load(reader: TlReader): infer Value } ? Value : never;

/** Prepends the field (and the index in a vector, unless it is -1) to the path of an error that leaves its codec. */
export function inField(error: unknown, field: string, item: number): unknown {
  if (!(error instanceof TernError) || field === '') return error;
  return (item < 0 ? error : error.within(`[${item}]`)).within(field);
}

/** Refuses an optional field that disagrees with its flag. @throws tl/field-presence */
export function checkPresence(present: boolean, announced: boolean, type: string, field: string, flag: string): void {
  if (present !== announced) throw tlErrors['field-presence']({ type, field, flag, present });
}

/** Reads a boxed value of a type with one constructor. @throws tl/unknown-constructor */
export function loadBoxed<Value>(type: TlConstructor<string, Value>, reader: TlReader): Value {
  reader.expect(type.id, type.name);
  return type.load(reader);
}

/** The inverse of {@link loadBoxed}. */
export function storeBoxed<Value>(type: TlConstructor<string, Value>, value: Value, writer: TlWriter): void {
  writer.constructorId(type.id);
  type.store(value, writer);
}

/** The error for a value whose `kind` is not one of the constructors of its type. */
export function unknownVariant(type: string, constructors: readonly TlConstructor[], kind: unknown): TernError {
  const allowed = constructors.map(({ name }) => name).join(', ');
  return tlErrors['unknown-variant']({ type, kind: String(kind), allowed });
}

/** A value and the name of its constructor, which is the discriminant of the union in TypeScript. */
export type Boxed<C> =
  C extends TlConstructor<infer Name, infer Value> ? { readonly name: Name; readonly value: Value } : never;

/**
 * Decodes one boxed value of any of these constructors or functions; nothing may be left over.
 * Byte strings in it are views of `bytes`.
 *
 * @throws tl/unknown-constructor, tl/left-over, tl/underflow and other tl/* errors
 */
export function decodeBoxed<const C extends readonly TlConstructor[]>(
  bytes: Uint8Array,
  ...constructors: C
): Boxed<C[number]> {
  const reader = new TlReader(bytes);
  const id = reader.constructorId();
  for (const each of constructors) {
    if (each.id !== id) continue;
    const value = each.load(reader);
    reader.end();
    return { name: each.name, value } as Boxed<C[number]>;
  }
  return reader.unknownConstructor(id, constructors.length > 4 ? 'a known one' : namesOf(constructors));
}

/** As {@link decodeBoxed} for exactly one constructor or type; returns the value alone. */
export function decodeOne<C extends TlConstructor | TlUnion>(type: C, bytes: Uint8Array): TlValue<C> {
  const reader = new TlReader(bytes);
  const value = 'constructors' in type ? type.load(reader) : loadBoxed(type, reader);
  reader.end();
  return value as TlValue<C>;
}

/** Encodes a value with the id of its constructor, or a function call. */
export function encodeBoxed<C extends TlConstructor | TlUnion>(type: C, value: TlValue<C>): Uint8Array {
  const writer = new TlWriter();
  if ('constructors' in type) type.store(value, writer);
  else storeBoxed(type, value, writer);
  return writer.finish();
}

function namesOf(constructors: readonly TlConstructor[]): string {
  return constructors.map(({ name }) => name).join(' or ');
}
