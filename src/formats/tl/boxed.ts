import type { TlConstructor, TlUnion, TlValue } from '#formats/tl/constructor.js';
import { loadBoxed, storeBoxed } from '#formats/tl/constructor.js';
import { TlReader } from '#formats/tl/tl-reader.js';
import { TlWriter } from '#formats/tl/tl-writer.js';

/** A value and the name of its constructor, by which TypeScript tells the types of values apart. */
export type Boxed<C> =
  C extends TlConstructor<infer Name, infer Value> ? { readonly name: Name; readonly value: Value } : never;

/**
 * Reads one value that is of any of these constructors or functions, its id first, to the end of the bytes.
 * Byte strings in it are views of `bytes`.
 *
 * @throws tl/unknown-constructor, tl/left-over, tl/underflow and what else reading finds
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

/** The same for exactly one constructor or type: its value alone. */
export function decodeOne<C extends TlConstructor | TlUnion>(type: C, bytes: Uint8Array): TlValue<C> {
  const reader = new TlReader(bytes);
  const value = 'constructors' in type ? type.load(reader) : loadBoxed(type, reader);
  reader.end();
  return value as TlValue<C>;
}

/** Writes a value with the id of its constructor, or a call of a function. */
export function encodeBoxed<C extends TlConstructor | TlUnion>(type: C, value: TlValue<C>): Uint8Array {
  const writer = new TlWriter();
  if ('constructors' in type) type.store(value, writer);
  else storeBoxed(type, value, writer);
  return writer.finish();
}

function namesOf(constructors: readonly TlConstructor[]): string {
  return constructors.map(({ name }) => name).join(' or ');
}
