import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
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
export interface ContractKind<
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
   * @throws contract-data/not-verified when another contract does not agree; as {@link ContractView.ask}
   */
  read(view: ContractView, contract: AskedContract): Promise<Data>;
  /** Of the table of `migrations/0002-contracts.sql`. */
  readonly table: { readonly name: string; readonly columns: Columns };
  row(data: Data): ContractRow<Columns>;
}

/** A kind, with its types checked against one another. */
export function contractKind<
  const Name extends string,
  Data,
  const Columns extends Readonly<Record<string, ColumnType>>,
>(kind: ContractKind<Name, Data, Columns>): ContractKind<Name, Data, Columns> {
  return kind;
}
