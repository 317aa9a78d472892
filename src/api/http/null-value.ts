import { type TNull, type TSchema, type TUnion, Type } from '@sinclair/typebox';

/** Keyword of parameters for which null is a value of its own; for others it is the same as leaving them out. */
export const NULL_IS_VALUE = 'x-null-is-value';

/** A parameter that may be null, which is not the same as none. @param description says what null means */
export function nullOr<Schema extends TSchema>(schema: Schema, description: string): TUnion<[Schema, TNull]> {
  return Type.Union([schema, Type.Null()], { description, [NULL_IS_VALUE]: true });
}
