import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Kinds of fields in the details of an action, with the types of their values. Each but `currencies` may be null. */
export interface FieldKinds {
  readonly address: Address;
  readonly addresses: readonly Address[];
  /** Amounts in the smallest units, ids, prices: integers of any size. */
  readonly amount: bigint;
  readonly integer: number;
  readonly flag: boolean;
  readonly text: string;
  /** Bytes that are shown in hexadecimal. */
  readonly hex: Uint8Array;
  /** Bytes that are shown in base64. */
  readonly hash: Uint8Array;
  /** Unsigned 32 bits. */
  readonly opcode: number;
  /** A cell that is shown as a BoC with a checksum. */
  readonly boc: Cell;
  /** A cell that is shown as a BoC without a checksum. */
  readonly bare_boc: Cell;
  /** Amounts by currency id; empty without any. */
  readonly currencies: ReadonlyMap<number, bigint>;
}
export type FieldKind = keyof FieldKinds;

/**
 * What a field is to the action as a whole. Accounts that are a source or a destination are participants: their lists of actions
 * contain it.
 */
export type FieldRole =
  | 'source'
  | 'source_secondary'
  | 'destination'
  | 'destination_secondary'
  | 'asset'
  | 'asset_secondary'
  | 'asset2'
  | 'asset2_secondary'
  | 'amount'
  | 'value';

/** A field with one value. */
export interface ScalarField<Kind extends FieldKind = FieldKind> {
  readonly kind: Kind;
  /** `nullable`: always shown by clients that know the field, as null when there is none. `optional`: not shown then. */
  readonly presence: 'nullable' | 'optional';
  readonly role: FieldRole | null;
  readonly description: string;
  /** Text only: values that occur. */
  readonly known: readonly string[];
}

/** An object among the details; never null, though all its members may be. */
export interface RecordField<Fields extends DetailFields = DetailFields> {
  readonly kind: 'record';
  /** Name of its schema. */
  readonly name: string;
  readonly fields: Fields;
  readonly description: string;
}

/** An array of objects. */
export interface ListField<Fields extends DetailFields = DetailFields> {
  readonly kind: 'list';
  /** Name of the schema of its items. */
  readonly name: string;
  readonly fields: Fields;
  readonly description: string;
}

export type DetailField = ScalarField | RecordField | ListField;

/** The details of a type of actions, in the order in which they are written. */
export interface DetailFields {
  readonly [name: string]: DetailField;
}

/** The values of fields. */
export type DetailValues<Fields> = { readonly [Name in keyof Fields]: ValueOfField<Fields[Name]> };
type ValueOfField<Field> =
  Field extends ScalarField<infer Kind>
    ? Kind extends 'currencies'
      ? FieldKinds[Kind]
      : FieldKinds[Kind] | null
    : Field extends RecordField<infer Fields>
      ? DetailValues<Fields>
      : Field extends ListField<infer Fields>
        ? readonly DetailValues<Fields>[]
        : never;

/** As {@link DetailValues}, with fields that have no value left out. */
export type GivenDetails<Fields> = { readonly [Name in keyof Fields]?: GivenField<Fields[Name]> | undefined };
type GivenField<Field> =
  Field extends RecordField<infer Fields>
    ? GivenDetails<Fields>
    : Field extends ListField<infer Fields>
      ? readonly GivenDetails<Fields>[]
      : ValueOfField<Field>;

/**
 * A type of actions. TypeScript types, the published schema, the JSON writer and the stored form all follow from this one
 * declaration.
 */
export interface ActionType<Name extends string = string, Fields = DetailFields> {
  readonly name: Name;
  readonly description: string;
  readonly fields: Fields;
}

/** Declares a type of actions. */
export function actionType<const Name extends string, const Fields extends DetailFields>(
  name: Name,
  description: string,
  fields: Fields,
): ActionType<Name, Fields> {
  return { name, description, fields };
}

/** The details of a type of which only some fields are known. */
export function completeDetails<Fields>(fields: Fields, given: GivenDetails<Fields>): DetailValues<Fields> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields as DetailFields)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    values[name] = completeField(field, value ?? null);
  }
  return values as DetailValues<Fields>;
}

const NO_CURRENCIES: ReadonlyMap<number, bigint> = new Map();

function completeField(field: DetailField, value: unknown): unknown {
  if (field.kind === 'record') return completeDetails(field.fields, (value ?? {}) as GivenDetails<DetailFields>);
  if (field.kind === 'list') {
    return ((value ?? []) as readonly GivenDetails<DetailFields>[]).map((one) => completeDetails(field.fields, one));
  }
  return field.kind === 'currencies' ? (value ?? NO_CURRENCIES) : value;
}

function scalar<const Kind extends FieldKind>(kind: Kind, role: FieldRole | null, description: string) {
  return { kind, presence: 'nullable', role, description, known: [] } as const satisfies ScalarField<Kind>;
}

/** An account. */
export function addressField(description: string, role: FieldRole | null = null): ScalarField<'address'> {
  return scalar('address', role, description);
}

export function addressesField(description: string): ScalarField<'addresses'> {
  return scalar('addresses', null, description);
}

/** An integer of any size. */
export function amountField(description: string, role: FieldRole | null = null): ScalarField<'amount'> {
  return scalar('amount', role, description);
}

/** An integer of at most 53 bits. */
export function integerField(description: string): ScalarField<'integer'> {
  return scalar('integer', null, description);
}

export function flagField(description: string): ScalarField<'flag'> {
  return scalar('flag', null, description);
}

/** @param known values that occur, when there are few */
export function textField(description: string, known: readonly string[] = []): ScalarField<'text'> {
  return { ...scalar('text', null, description), known };
}

export function hexField(description: string): ScalarField<'hex'> {
  return scalar('hex', null, description);
}

export function base64Field(description: string): ScalarField<'hash'> {
  return scalar('hash', null, description);
}

export function opcodeField(description: string): ScalarField<'opcode'> {
  return scalar('opcode', null, description);
}

export function bocField(description: string): ScalarField<'boc'> {
  return scalar('boc', null, description);
}

export function bareBocField(description: string): ScalarField<'bare_boc'> {
  return scalar('bare_boc', null, description);
}

export function currenciesField(description: string): ScalarField<'currencies'> {
  return scalar('currencies', null, description);
}

/** The same field, which is left out when it has no value. */
export function optionalField<const Kind extends FieldKind>(field: ScalarField<Kind>): ScalarField<Kind> {
  return { ...field, presence: 'optional' };
}

/** An object among the details. */
export function recordOf<const Name extends string, const Fields extends DetailFields>(
  name: Name,
  description: string,
  fields: Fields,
): RecordField<Fields> {
  return { kind: 'record', name, description, fields };
}

/** An array of objects among the details. */
export function listOf<const Name extends string, const Fields extends DetailFields>(
  name: Name,
  description: string,
  fields: Fields,
): ListField<Fields> {
  return { kind: 'list', name, description, fields };
}
