import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { Profile } from '#api/http/http-api.js';
import { byProfile, nullInToncenter } from '#api/http/profile.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { toBase64 } from '#kernel/bytes.js';

/** A member that may have no value: then it is left out, and `null` in the toncenter profile. */
export interface NullableField {
  readonly nullable: TSchema;
}

/** A member that is left out in both profiles when it has no value. */
export interface OptionalField {
  readonly optional: TSchema;
}

export function nullableField(schema: TSchema): NullableField {
  return { nullable: schema };
}

export function optionalField(schema: TSchema): OptionalField {
  return { optional: schema };
}

/** An object of the document, by its name there. */
export function answerObject(
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
export function textField(description: string, options: { readonly enum?: readonly string[] } = {}) {
  return Type.String({ description, ...options });
}

export function hash256Field(description: string) {
  return Type.String({ description: `${description} 32 bytes in base64.` });
}

export function bocField(description: string) {
  return Type.String({ description: `${description} A bag of cells in base64.`, contentEncoding: 'base64' });
}

export function decimalField(description: string) {
  return Type.String({ description: `${description} A decimal number as text.` });
}

export function addressField(description: string) {
  return Type.String({ description: `${description} Raw form, hexadecimal digits in upper case.` });
}

export function integerField(description: string) {
  return Type.Integer({ description });
}

export function booleanField(description: string) {
  return Type.Boolean({ description });
}

/** A shard; the profiles write it in two ways. */
export const shardField = Type.String({
  ...byProfile({
    spec: { description: 'Shard: a signed 64-bit decimal number as text.' },
    toncenter: { description: 'Shard: hexadecimal in upper case, such as 8000000000000000.' },
  }),
});

/** Values of one kind by names that are not declared. */
export function mapField(value: TSchema, options: { readonly $id?: string; readonly description: string }) {
  return Type.Object({}, { ...options, additionalProperties: value });
}

/** Amounts by currency. */
export const currenciesField = mapField(Type.String(), {
  description: 'Other currencies: amount by currency id, both decimal numbers as text; empty without any.',
});

export const interfacesField = Type.Array(Type.String(), {
  description:
    'Kinds of contract that the account is: the one that its code is known as, else all whose get methods it has.',
});

/** In what the two profiles of answers differ; everything else is the same in both. */
export interface ProfileFormat {
  readonly profile: Profile;
  /**
   * A member of an object that may have no value, with the comma before it: without one it is `null` in the live service,
   * and left out where the published document is followed, whose types have no null.
   *
   * @param value JSON text
   */
  nullable(name: string, value: string | null): string;
  /** The first 32 bits of a body. The number is unsigned. */
  opcode(opcode: number): string;
  /** The shard is unsigned. */
  shard(shard: bigint): string;
  /** A list of orders without any. */
  readonly noItems: string;
  /** The tree of a trace, in which `children` may be null. */
  traceTree(json: string): string;
}

/** The published document: opcodes are integers (int32), shards numbers as text (int64), and nothing is null. */
const spec: ProfileFormat = {
  profile: 'spec',
  nullable: (name, value) => (value === null ? '' : `,"${name}":${value}`),
  opcode: (opcode) => String(opcode | 0),
  shard: (shard) => `"${BigInt.asIntN(64, shard)}"`,
  noItems: '[]',
  // Its texts are hashes, which hold no quotes.
  traceTree: (json) => json.replaceAll('"children":null', '"children":[]'),
};

/** The live service: `"0x0f8a7ea5"`, and shards in upper-case hexadecimal without zeros in front. */
const toncenter: ProfileFormat = {
  profile: 'toncenter',
  nullable: (name, value) => `,"${name}":${value}`,
  opcode: (opcode) => `"0x${opcode.toString(16).padStart(8, '0')}"`,
  shard: (shard) => `"${shard.toString(16).toUpperCase()}"`,
  noItems: 'null',
  traceTree: (json) => json,
};

const PROFILE_FORMATS: Readonly<Record<Profile, ProfileFormat>> = { spec, toncenter };

export function profileFormat(profile: Profile): ProfileFormat {
  return PROFILE_FORMATS[profile];
}

/** An optional member of an object, with the comma before it; left out in both profiles when there is no value. */
export function optionalMember(name: string, value: string | null): string {
  return value === null ? '' : `,"${name}":${value}`;
}

const WITH_CRC = { crc32c: true } as const;

/** A quoted text in which nothing must be escaped: base64, digits, names of constructors. */
export function quotedText(text: string): string {
  return `"${text}"`;
}

/** An integer as a JSON text of its decimal digits. Numbers are written quicker than bigints, and most are no longer. */
export function decimalText(value: bigint | number): string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? `"${number}"` : `"${value}"`;
}

/** Bytes in standard base64, as JSON. */
export function base64Text(bytes: Uint8Array): string {
  return `"${toBase64(bytes)}"`;
}

const scratch = Buffer.alloc(32);

/** 32 bytes in standard base64: as {@link base64Text}, without a buffer for each. */
export function hashBase64(hash: Uint8Array): string {
  scratch.set(hash);
  return scratch.toString('base64');
}

/** As {@link hashBase64}, as JSON. */
export function hashText(hash: Uint8Array): string {
  return `"${hashBase64(hash)}"`;
}

/** The raw form, hexadecimal digits in upper case: `0:ABC…`. */
export function upperCaseRaw(address: Address): string {
  return address.toRaw().toUpperCase();
}

/** As {@link upperCaseRaw}, as JSON. */
export function addressText(address: Address): string {
  return `"${upperCaseRaw(address)}"`;
}

/** A bag of cells with a checksum in base64, as JSON. */
export function bocText(cell: Cell): string {
  return `"${toBase64(serializeBoc(cell, WITH_CRC))}"`;
}

/** Amounts by currency id, as JSON; `{}` for none. */
export function currenciesText(amounts: Iterable<readonly [number, bigint]>): string {
  let text = '';
  for (const [id, amount] of amounts) text += `${text === '' ? '' : ','}"${id}":"${amount}"`;
  return `{${text}}`;
}

/** `[a,b]` */
export function listText(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
