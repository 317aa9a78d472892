import {
  type ColumnKind,
  type ColumnType,
  type ColumnTypes,
  columnKind,
  type ValueOfColumn,
} from '#domain/contracts/contract-interface.js';
import { addressOfBytes } from '#drivers/store/keys.js';
import type { Address } from '#formats/address/address.js';

/** The columns that all contract tables have in common, as node-postgres returns them. */
export interface ContractFound {
  readonly id: bigint;
  readonly address: Uint8Array;
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}

/** A contract, and the state that its row was read from. */
export interface IndexedContract extends Omit<ContractFound, 'id' | 'address'> {
  readonly address: Address;
}

/** Content of a token: keys of TEP-64 and their texts. */
export type TokenTexts = Readonly<Record<string, string>>;

/** Values of columns as node-postgres returns them. */
interface StoredValues {
  readonly address: Uint8Array;
  readonly addresses: readonly Uint8Array[];
  readonly bytea: Uint8Array;
  readonly boc: Uint8Array;
  readonly numeric: bigint;
  readonly int8: bigint;
  readonly int4: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly jsonb: TokenTexts;
}

/** The same as they are read. */
type ReadValues = Omit<StoredValues, 'address' | 'addresses'> & {
  readonly address: Address;
  readonly addresses: readonly Address[];
};

/** A contract interface whose contracts are rows of a table of the index. */
export interface IndexedInterface<Columns extends ColumnTypes = ColumnTypes> {
  readonly table: { readonly name: string; readonly columns: Columns };
}
type ValuesOf<Interface, Values extends Readonly<Record<ColumnKind, unknown>>> =
  Interface extends IndexedInterface<infer Columns>
    ? { readonly [Name in keyof Columns]: ValueOfColumn<Columns[Name], Values> }
    : never;

/** A row of the table of a contract interface, as node-postgres returns it. */
export type StoredContract<Interface extends IndexedInterface> = ContractFound & ValuesOf<Interface, StoredValues>;

/** The columns of the interface itself, as they are read. */
export type ContractValues<Interface extends IndexedInterface> = ValuesOf<Interface, ReadValues>;

/** A row as it is read. */
export type IndexedRow<Interface extends IndexedInterface> = IndexedContract & ContractValues<Interface>;

/** How rows of the table of a contract interface are read: what follows from its columns. */
export interface ContractReader<Interface extends IndexedInterface> {
  readonly table: string;
  /** The SELECT list, for an alias of the row. @param prefix of the names in the result */
  columns(alias: string, prefix?: string): string;
  row(found: StoredContract<Interface>): IndexedRow<Interface>;
  /** @param prefix of the names of its columns */
  prefixedRow(found: object, prefix: string): IndexedRow<Interface>;
}

const STATE = { address: 'address', last_trans_lt: 'int8', code_hash: 'bytea', data_hash: 'bytea' } as const;

const DECODERS: Readonly<Record<string, ((value: never) => unknown) | undefined>> = {
  address: addressOfBytes,
  addresses: (value: readonly Uint8Array[]) => value.map(addressOfBytes),
};

export function contractReader<Interface extends IndexedInterface>({ table }: Interface): ContractReader<Interface> {
  const columns = Object.entries<ColumnType>({ ...STATE, ...table.columns });
  const fields = columns.map(([name, type]) => [name, DECODERS[columnKind(type)]] as const);
  const read = (found: object, prefix: string) => {
    const row: Record<string, unknown> = {};
    for (const [name, decode] of fields) {
      const value: unknown = found[`${prefix}${name}` as never];
      row[name] = value === null || decode === undefined ? value : decode(value as never);
    }
    return row as unknown as IndexedRow<Interface>;
  };
  return {
    table: table.name,
    columns: (alias, prefix = '') =>
      ['id', ...columns.map(([name]) => name)].map((name) => `${alias}.${name} AS ${prefix}${name}`).join(', '),
    row: (found) => read(found, ''),
    prefixedRow: read,
  };
}
