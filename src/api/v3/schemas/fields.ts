import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { byProfile, nullInToncenter } from '#api/http/profile-keywords.js';

/** A member that may have no value: then it is left out, and `null` in the toncenter profile. */
export interface NullableField {
  readonly nullable: TSchema;
}

/** A member that is left out in both profiles when it has no value. */
export interface OptionalField {
  readonly optional: TSchema;
}

export function nullable(schema: TSchema): NullableField {
  return { nullable: schema };
}

export function optional(schema: TSchema): OptionalField {
  return { optional: schema };
}

/** An object of the document, by its name there. */
export function namedObject(
  $id: string,
  members: Readonly<Record<string, TSchema | NullableField | OptionalField>>,
  description?: string,
): TObject {
  const properties: Record<string, TSchema> = {};
  const nulls: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    if ('nullable' in member) {
      properties[name] = Type.Optional(member.nullable as TSchema);
      nulls.push(name);
    } else properties[name] = 'optional' in member ? Type.Optional(member.optional as TSchema) : (member as TSchema);
  }
  const words = nulls.length === 0 ? {} : nullInToncenter(nulls);
  return Type.Object(properties, { $id, ...(description === undefined ? {} : { description }), ...words });
}

/** What is always of type text; the description says what it is. */
export function text(description: string, options: { readonly enum?: readonly string[] } = {}) {
  return Type.String({ description, ...options });
}

export function hash(description: string) {
  return Type.String({ description: `${description} 32 bytes in base64.` });
}

export function boc(description: string) {
  return Type.String({ description: `${description} A bag of cells in base64.`, contentEncoding: 'base64' });
}

export function decimal(description: string) {
  return Type.String({ description: `${description} A decimal number as text.` });
}

export function address(description: string) {
  return Type.String({ description: `${description} Raw form, hexadecimal digits in upper case.` });
}

export function integer(description: string) {
  return Type.Integer({ description });
}

export function flag(description: string) {
  return Type.Boolean({ description });
}

/** A shard; the profiles write it in two ways. */
export const shard = Type.String({
  ...byProfile({
    spec: { description: 'Shard: a signed 64-bit decimal number as text.' },
    toncenter: { description: 'Shard: hexadecimal in upper case, such as 8000000000000000.' },
  }),
});

/** Values of one kind by names that are not declared. */
export function map(value: TSchema, options: { readonly $id?: string; readonly description: string }) {
  return Type.Object({}, { ...options, additionalProperties: value });
}

/** Amounts by currency. */
export const currencies = map(Type.String(), {
  description: 'Other currencies: amount by currency id, both decimal numbers as text; empty without any.',
});

export const interfaces = Type.Array(Type.String(), {
  description:
    'Kinds of contract that the account is: the one that its code is known as, else all whose get methods it has.',
});
