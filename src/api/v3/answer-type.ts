import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { Profile } from '#api/http/http-api.js';
import { byProfile, nullInToncenter } from '#api/http/openapi-schemas.js';
import {
  addressText,
  base64Text,
  checkedBocBase64,
  currenciesText,
  decimalText,
  upperCaseRaw,
} from '#api/v3/json-pieces.js';
import type { TextsOfProfile, WrittenAddress, WrittenMessage } from '#api/v3/kept-texts.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/*
 * One declaration of an answer type gives its OpenAPI schema, the TypeScript type of the values that it is written from
 * (`AnswerInput`), and a JSON writer for each profile. The writer is compiled from the declaration when the module loads: straight
 * string concatenation, as fast as if written by hand. Only `compileWriter` knows that the output is a string; a writer for bytes
 * needs another `compileWriter` and another `write` of the values, not other declarations.
 */

/** Writes addresses as JSON, in raw form with upper-case digits. */
interface AddressWriter {
  add(address: Address): string;
  /** Adds addresses that are written already, in their order. */
  addWritten(addresses: readonly WrittenAddress[]): void;
}

/** Collects the addresses that an answer names, each once, in the order in which they are written: for its address book. */
export class AddressCollector implements AddressWriter {
  readonly #byRaw = new Map<string, Address>();

  /** By their raw form, hexadecimal digits in upper case. */
  get byRaw(): ReadonlyMap<string, Address> {
    return this.#byRaw;
  }

  add(address: Address): string {
    const raw = upperCaseRaw(address);
    this.#byRaw.set(raw, address);
    return `"${raw}"`;
  }

  addWritten(addresses: readonly WrittenAddress[]): void {
    for (const [raw, address] of addresses) this.#byRaw.set(raw, address);
  }
}

/** State of one answer while it is written. */
export interface AnswerPage {
  readonly profile: Profile;
  readonly addresses: AddressWriter;
  /** Texts of final transactions and traces in this profile; absent: each is written anew. */
  readonly texts?: TextsOfProfile | undefined;
  /** Messages of transactions that are written, by hash; absent: a message is written for its sender and again for its receiver. */
  readonly messages?: Map<string, WrittenMessage> | undefined;
}

/** JSON text of a value. */
export type JsonWriter<Value> = (value: Value, page: AnswerPage) => string;

/** A kind of value in answers: how it is documented and how it is written. */
export interface AnswerValue<Value> {
  readonly schema: TSchema;
  readonly write: Readonly<Record<Profile, JsonWriter<Value>>>;
  /** The value's own text is its JSON: integers and booleans. The compiled writer then calls no function. */
  readonly isPlain?: true;
}

/** Where a member's value comes from: the member of the input with this name, or a function of the input. */
// biome-ignore lint/suspicious/noExplicitAny: inputs of all types; AnswerInput takes them from the functions
type MemberSource<Value> = string | ((input: any) => Value);

/** A member of an answer object. `nullable`: without a value it is left out in `spec` and null in `toncenter`; `optional`: left out in both. */
export interface Member<Presence extends 'required' | 'nullable' | 'optional', Value, Source> {
  readonly presence: Presence;
  readonly value: AnswerValue<Value>;
  /** Undefined: the member of the input with the same name. */
  readonly source: Source;
}

// biome-ignore lint/suspicious/noExplicitAny: members of all kinds stand in one object
type AnyMember = AnswerValue<any> | Member<any, any, any>;
export type AnswerMembers = Readonly<Record<string, AnyMember>>;

/** A member that reads another member of the input, or a function of it. One that is a plain {@link AnswerValue} reads its own name. */
export function required<Value, const Source extends MemberSource<Value>>(
  value: AnswerValue<Value>,
  source: Source,
): Member<'required', Value, Source> {
  return { presence: 'required', value, source };
}

export function nullable<Value>(value: AnswerValue<Value>): Member<'nullable', Value, undefined>;
export function nullable<Value, const Source extends MemberSource<Value | null | undefined>>(
  value: AnswerValue<Value>,
  source: Source,
): Member<'nullable', Value, Source>;
export function nullable<Value>(value: AnswerValue<Value>, source?: unknown): Member<'nullable', Value, unknown> {
  return { presence: 'nullable', value, source };
}

export function optional<Value>(value: AnswerValue<Value>): Member<'optional', Value, undefined>;
export function optional<Value, const Source extends MemberSource<Value | null | undefined>>(
  value: AnswerValue<Value>,
  source: Source,
): Member<'optional', Value, Source>;
export function optional<Value>(value: AnswerValue<Value>, source?: unknown): Member<'optional', Value, unknown> {
  return { presence: 'optional', value, source };
}

type InputKey<Name, M, Presence> =
  // biome-ignore lint/suspicious/noExplicitAny: matches members of all values
  M extends Member<infer P, any, infer Source>
    ? P extends Presence
      ? Source extends string
        ? Source
        : Source extends undefined
          ? Name
          : never
      : never
    : 'required' extends Presence
      ? Name
      : never;
type ValueOfMember<M> =
  // biome-ignore lint/suspicious/noExplicitAny: matches members of all presences and sources
  M extends Member<any, infer Value, any> ? Value : M extends AnswerValue<infer Value> ? Value : never;
// biome-ignore lint/suspicious/noExplicitAny: matches members of all values
type ComputedInput<M> = M extends Member<any, any, (input: infer Input) => unknown> ? (input: Input) => void : never;
type Intersection<Functions> = [Functions] extends [never]
  ? unknown
  : Functions extends (input: infer Input) => void
    ? Input
    : never;

/** What an answer object is written from: an object with the members that its declaration reads. */
export type AnswerInput<Members> = {
  readonly [Name in keyof Members as InputKey<Name, Members[Name], 'required'> & string]: ValueOfMember<Members[Name]>;
} & {
  readonly [Name in keyof Members as InputKey<Name, Members[Name], 'nullable'> & string]: ValueOfMember<
    Members[Name]
  > | null;
} & {
  readonly [Name in keyof Members as InputKey<Name, Members[Name], 'optional'> & string]?:
    | ValueOfMember<Members[Name]>
    | null
    | undefined;
} & Intersection<{ readonly [Name in keyof Members]: ComputedInput<Members[Name]> }[keyof Members]>;

/** An object of the published document. */
export interface AnswerType<Input> extends AnswerValue<Input> {
  readonly schema: TObject;
}

/** The input of an answer type. */
export type InputOf<Type> = Type extends AnswerValue<infer Input> ? Input : never;

/**
 * Declares an answer type.
 *
 * @param $id its name in the published document
 * @param members in the order in which they are written
 */
export function answerType<const Members extends AnswerMembers>(
  $id: string,
  members: Members,
  description?: string,
): AnswerType<AnswerInput<Members>> {
  const write = new WritersOnUse<AnswerInput<Members>>((profile) => compileWriter(members, profile));
  return { schema: objectSchema($id, members, description), write };
}

/** Makes each writer when it is used first: a process uses few of them. */
export class WritersOnUse<Input> implements Readonly<Record<Profile, JsonWriter<Input>>> {
  readonly #make: (profile: Profile) => JsonWriter<Input>;
  #spec: JsonWriter<Input> | null = null;
  #toncenter: JsonWriter<Input> | null = null;

  constructor(make: (profile: Profile) => JsonWriter<Input>) {
    this.#make = make;
  }

  get spec(): JsonWriter<Input> {
    this.#spec ??= this.#make('spec');
    return this.#spec;
  }

  get toncenter(): JsonWriter<Input> {
    this.#toncenter ??= this.#make('toncenter');
    return this.#toncenter;
  }
}

function objectSchema($id: string, members: AnswerMembers, description: string | undefined): TObject {
  const properties: Record<string, TSchema> = {};
  const nulls: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    if (!('presence' in member)) properties[name] = member.schema;
    else properties[name] = member.presence === 'required' ? member.value.schema : Type.Optional(member.value.schema);
    if ('presence' in member && member.presence === 'nullable') nulls.push(name);
  }
  const words = nulls.length === 0 ? {} : nullInToncenter(nulls);
  return Type.Object(properties, { $id, ...(description === undefined ? {} : { description }), ...words });
}

/**
 * Compiles the writer of an object to one expression that concatenates its members, as `formats/tlb/codec/record.ts` does with
 * codecs. Only names and numbers of the declaration go into the code.
 */
function compileWriter<Input>(members: AnswerMembers, profile: Profile): JsonWriter<Input> {
  const bound: unknown[] = [];
  const bind = (one: unknown) => `f${bound.push(one) - 1}`;
  const parts: string[] = [];
  let isFirstSure = true;
  for (const [name, member] of Object.entries(members)) {
    const { presence, value, source } =
      'presence' in member ? member : ({ presence: 'required', value: member, source: undefined } as const);
    const read = typeof source === 'function' ? `${bind(source)}(input)` : `input[${JSON.stringify(source ?? name)}]`;
    const write = (text: string) => (value.isPlain ? text : `${bind(value.write[profile])}(${text}, page)`);
    const isAlways = presence === 'required' || (presence === 'nullable' && profile === 'toncenter');
    if (parts.length === 0) isFirstSure = isAlways;
    const key = JSON.stringify(`${parts.length === 0 && isAlways ? '' : ','}${JSON.stringify(name)}:`);
    if (presence === 'required') {
      parts.push(`${key} + ${write(read)}`);
      continue;
    }
    const without = isAlways ? JSON.stringify(`${JSON.parse(key)}null`) : "''";
    parts.push(`((v = ${read}) == null ? ${without} : ${key} + ${write('v')})`);
  }
  const text = parts.join(' + ');
  const object = isFirstSure ? `'{' + ${text} + '}'` : `'{' + (${text}).slice(1) + '}'`;
  const names = bound.map((_, i) => `f${i}`).join(', ');
  const make = new Function('bound', `const [${names}] = bound; return (input, page) => { let v; return ${object}; };`);
  return make(bound) as JsonWriter<Input>;
}

/** A value that both profiles write alike. */
export function answerValue<Value>(schema: TSchema, write: JsonWriter<Value>): AnswerValue<Value> {
  return { schema, write: { spec: write, toncenter: write } };
}

/** JSON text of a value of an answer type. */
export function writeAnswerJson<Value>({ write }: AnswerValue<Value>, value: Value, page: AnswerPage): string {
  return write[page.profile](value, page);
}

/** A string. */
export function text(description: string, options: { readonly enum?: readonly string[] } = {}): AnswerValue<string> {
  return answerValue(Type.String({ description, ...options }), (value) => JSON.stringify(value));
}

/** A string in which nothing must be escaped: base64, digits, names from a fixed list. */
export function word(description: string, options: { readonly enum?: readonly string[] } = {}): AnswerValue<string> {
  return answerValue(Type.String({ description, ...options }), (value) => `"${value}"`);
}

/** 256 bits. */
export function hash(description: string): AnswerValue<Uint8Array> {
  return answerValue(Type.String({ description: `${description} 32 bytes in base64.` }), base64Text);
}

/** 256 bits that are base64 already. */
export function hashInBase64(description: string): AnswerValue<string> {
  return answerValue(hash(description).schema, (value) => `"${value}"`);
}

/** A BoC: its bytes, or a cell, which is then serialised with a checksum. */
export function boc(description: string): AnswerValue<Uint8Array | Cell> {
  const schema = Type.String({ description: `${description} A bag of cells in base64.`, contentEncoding: 'base64' });
  return answerValue(schema, (value) =>
    value instanceof Uint8Array ? base64Text(value) : `"${checkedBocBase64(value)}"`,
  );
}

export function decimal(description: string): AnswerValue<bigint | number> {
  return answerValue(Type.String({ description: `${description} A decimal number as text.` }), decimalText);
}

/** An address; the address book of the answer lists it. */
export function address(description: string): AnswerValue<Address> {
  const schema = Type.String({ description: `${description} Raw form, hexadecimal digits in upper case.` });
  return answerValue(schema, (value, { addresses }) => addresses.add(value));
}

const UNLISTED: AddressWriter = { add: addressText, addWritten: () => {} };

/** The same value, with addresses that the address book of the answer need not list. */
export function unlisted<Value>({ schema, write }: AnswerValue<Value>): AnswerValue<Value> {
  const spec: AnswerPage = { profile: 'spec', addresses: UNLISTED };
  const toncenter: AnswerPage = { profile: 'toncenter', addresses: UNLISTED };
  return {
    schema,
    write: { spec: (value) => write.spec(value, spec), toncenter: (value) => write.toncenter(value, toncenter) },
  };
}

/** Addresses that the address book of the answer lists. */
export function addressList(description: string): AnswerValue<readonly Address[]> {
  const schema = Type.Array(Type.String(), { description });
  return answerValue(schema, (value, { addresses }) => `[${value.map((each) => addresses.add(each)).join(',')}]`);
}

export function integer(description?: string): AnswerValue<number | bigint> {
  return { ...answerValue(Type.Integer(description === undefined ? {} : { description }), String), isPlain: true };
}

export function flag(description: string): AnswerValue<boolean> {
  return { ...answerValue(Type.Boolean({ description }), String), isPlain: true };
}

/** A shard prefix, unsigned. */
export const shard: AnswerValue<bigint> = {
  schema: Type.String({
    ...byProfile({
      spec: { description: 'Shard: a signed 64-bit decimal number as text.' },
      toncenter: { description: 'Shard: hexadecimal in upper case, such as 8000000000000000.' },
    }),
  }),
  write: {
    spec: (value) => `"${BigInt.asIntN(64, value)}"`,
    toncenter: (value) => `"${value.toString(16).toUpperCase()}"`,
  },
};

/** Schema of an object whose keys are data. */
export function mapSchema(value: TSchema, options: { readonly $id?: string; readonly description: string }): TObject {
  return Type.Object({}, { ...options, additionalProperties: value });
}

/** Amounts by currency id. */
export const currencies: AnswerValue<Iterable<readonly [number, bigint]>> = answerValue(
  mapSchema(Type.String(), {
    description: 'Other currencies: amount by currency id, both decimal numbers as text; empty without any.',
  }),
  currenciesText,
);

/** Any object, written by `JSON.stringify`. */
export function anyObject(description: string): AnswerValue<object> {
  return answerValue(Type.Object({}, { additionalProperties: true, description }), (value) => JSON.stringify(value));
}

/** JSON text that is written already. */
export function jsonOf(schema: TSchema): AnswerValue<string> {
  return answerValue(schema, (value) => value);
}

/** An array. */
export function list<Value>(items: AnswerValue<Value>, description?: string): AnswerValue<readonly Value[]> {
  const writeList = (profile: Profile): JsonWriter<readonly Value[]> => {
    const write = items.write[profile];
    return (values, page) => {
      let json = '';
      for (const value of values) json += json === '' ? write(value, page) : `,${write(value, page)}`;
      return `[${json}]`;
    };
  };
  return {
    schema: Type.Array(items.schema, description === undefined ? {} : { description }),
    write: new WritersOnUse(writeList),
  };
}

/** One of several answer types, chosen by the member `kind` of the input. */
export function oneOfTypes<const Types extends Readonly<Record<string, AnswerValue<never>>>>(
  types: Types,
): AnswerValue<{ [Kind in keyof Types]: { readonly kind: Kind } & InputOf<Types[Kind]> }[keyof Types]> {
  const writeOne =
    (profile: Profile): JsonWriter<{ readonly kind: keyof Types }> =>
    (value, page) =>
      types[value.kind]!.write[profile](value as never, page);
  return {
    schema: Type.Union(Object.values(types).map(({ schema }) => schema)),
    write: { spec: writeOne('spec'), toncenter: writeOne('toncenter') },
  };
}
