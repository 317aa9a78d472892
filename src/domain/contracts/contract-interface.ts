import type { ContractView, ViewedContract } from '#domain/contracts/contract-view.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
import type { TokenContent } from '#domain/contracts/token-content.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** The types of columns, each with the values that it takes; all take null. */
export interface ColumnValues {
  /** bytea: workchain (1 byte, signed) and account id */
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
export type ColumnType = keyof ColumnValues;

/** A row: a value for each declared column. */
export type ContractRow<Columns extends Readonly<Record<string, ColumnType>>> = {
  readonly [Name in keyof Columns]: ColumnValues[Columns[Name]] | null;
};

/**
 * A kind of contracts: how they are recognised, asked and verified, and the row that tells of them. Every table of rows also has
 * the columns of `ContractState` in drivers/store/write, and `id` and `lapsed`.
 */
export interface ContractInterface<
  Name extends string = string,
  Data = unknown,
  Columns extends Readonly<Record<string, ColumnType>> = Readonly<Record<string, ColumnType>>,
> {
  readonly kind: Name;
  /** Code with all of one of these sets of get methods can be of this kind; where the code says what methods it has. */
  readonly methods: readonly (readonly string[])[];
  /** Known codes of this kind. */
  readonly codes: readonly NativeCode[];
  /**
   * Asks a contract, and whom it names, whether it is of this kind.
   *
   * @throws contract-data/not-verified when another contract does not agree; as {@link ContractView.runGetMethod}
   */
  read(view: ContractView, contract: ViewedContract): Promise<Data>;
  /** Of the table of `migrations/0002-contracts.sql`. */
  readonly table: { readonly name: string; readonly columns: Columns };
  row(data: Data): ContractRow<Columns>;
}

/** A kind, with its types checked against one another. */
export function contractInterface<
  const Name extends string,
  Data,
  const Columns extends Readonly<Record<string, ColumnType>>,
>(kind: ContractInterface<Name, Data, Columns>): ContractInterface<Name, Data, Columns> {
  return kind;
}

/** Most characters of content that a row takes. */
const MAX_CONTENT = 32_768;

/**
 * Content of a token as JSON text, for a column of jsonb: the texts by their keys, a link as `uri`; `more` after them.
 * PostgreSQL keeps no zero characters: each becomes U+FFFD.
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
