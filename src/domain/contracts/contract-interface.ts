import type { ContractView, ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Kinds of columns with the types of their values. */
export interface ColumnValues {
  /** bytea: workchain (1 byte, signed) and account id. */
  readonly address: Address;
  /** bytea[] */
  readonly addresses: readonly Address[];
  readonly bytea: Uint8Array;
  /** bytea: the cell as a BoC */
  readonly boc: Cell;
  readonly numeric: bigint;
  readonly int8: bigint | number;
  readonly int4: number;
  readonly boolean: boolean;
  readonly text: string;
  /** JSON text */
  readonly jsonb: string;
}
export type ColumnKind = keyof ColumnValues;
/** With `?` the column may be null. */
export type ColumnType = ColumnKind | `${ColumnKind}?`;
export type ColumnTypes = Readonly<Record<string, ColumnType>>;

/** `address` of `address?`. */
export function columnKind(type: ColumnType): ColumnKind {
  return type.replace('?', '') as ColumnKind;
}

/** A row: one value for each declared column. */
type ContractRow<Columns extends ColumnTypes> = {
  readonly [Name in keyof Columns]: ValueOfColumn<Columns[Name], ColumnValues>;
};

/** The value of a column, by the values of the kinds. */
export type ValueOfColumn<
  Type extends ColumnType,
  Values extends Readonly<Record<ColumnKind, unknown>>,
> = Type extends `${infer Kind extends ColumnKind}?` ? Values[Kind] | null : Values[Type & ColumnKind];

/**
 * A contract interface: how contracts that have it are detected, read and verified, and the row that is stored of them. Each table
 * also has the columns of `ContractState` in drivers/store/write, and `id` and `lapsed` (when the row was superseded).
 */
export interface ContractInterface<
  Name extends string = string,
  Data = unknown,
  Columns extends ColumnTypes = ColumnTypes,
> {
  readonly name: Name;
  /** A code that has all get-methods of one of these sets is a candidate, if its method ids are known. */
  readonly methods: readonly (readonly string[])[];
  /** Known codes with this interface. */
  readonly codes: readonly NativeCode[];
  /**
   * Reads a contract, and verifies it with the contracts that it names.
   *
   * @throws contract-data/not-verified if another contract does not confirm it; as {@link ContractView.runGetMethod}
   */
  read(view: ContractView, contract: ViewedContract): Promise<Data>;
  /** Its table in `migrations/0002-contracts.sql`. */
  readonly table: { readonly name: string; readonly columns: Columns };
  row(data: Data): ContractRow<Columns>;
}

/** Declares an interface, with the types of its data, columns and row checked against each other. */
export function contractInterface<const Name extends string, Data, const Columns extends ColumnTypes>(
  declaration: ContractInterface<Name, Data, Columns>,
): ContractInterface<Name, Data, Columns> {
  return declaration;
}

/** Maximal length of stored content in characters. */
const MAX_CONTENT = 32_768;

/**
 * Content of a token as JSON text for a jsonb column: strings by their keys, the link of off-chain content as `uri`, then `more`.
 * PostgreSQL stores no U+0000: each becomes U+FFFD.
 *
 * @throws contract-data/too-large
 */
export function contentColumn(content: TokenContent, more: Readonly<Record<string, string>> = {}): string {
  const texts = content.type === 'offchain' ? { uri: content.data } : content.data;
  const entries = Object.entries({ ...texts, ...more }).map(([key, text]) => [key, text.replaceAll('\0', '\ufffd')]);
  const json = JSON.stringify(Object.fromEntries(entries));
  if (json.length <= MAX_CONTENT) return json;
  throw contractDataErrors['too-large']({ what: 'content', size: json.length, limit: MAX_CONTENT });
}
