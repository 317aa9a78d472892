import type { ColumnType, ColumnValues } from '#domain/contracts/kinds/contract-kind.js';
import type { CopyRows } from '#drivers/store/copy-rows.js';
import { addressBytes } from '#drivers/store/keys.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';

/** A value of a column of contracts. */
export type ColumnValue = ColumnValues[ColumnType] | null;

interface ColumnForm<Type extends ColumnType> {
  /** Whether the column can hold it: contracts answer with integers of 257 bits. Absent: whatever the type allows. */
  readonly holds?: (value: ColumnValues[Type]) => boolean;
  readonly copy: (rows: CopyRows, value: ColumnValues[Type] | null) => void;
}

const MIN_INT8 = -(1n << 63n);
const MAX_INT8 = (1n << 63n) - 1n;

const FORMS: { readonly [Type in ColumnType]: ColumnForm<Type> } = {
  address: { copy: (rows, value) => rows.bytea(value === null ? null : addressBytes(value)) },
  addresses: { copy: (rows, value) => rows.byteaArray(value === null ? null : value.map(addressBytes)) },
  bytea: { copy: (rows, value) => rows.bytea(value) },
  boc: { copy: (rows, value) => rows.bytea(value === null ? null : serializeBoc(value)) },
  numeric: { copy: (rows, value) => rows.numeric(value) },
  int8: {
    holds: (value) =>
      typeof value === 'bigint' ? value >= MIN_INT8 && value <= MAX_INT8 : Number.isSafeInteger(value),
    copy: (rows, value) => rows.int8(value),
  },
  int4: { holds: (value) => (value | 0) === value, copy: (rows, value) => rows.int4(value) },
  boolean: { copy: (rows, value) => rows.bool(value) },
  text: { copy: (rows, value) => rows.text(value === null ? null : storableText(value)) },
  jsonb: { copy: (rows, value) => rows.jsonb(value === null ? null : storableJson(value)) },
};

/** Whether a column of that type can hold the value. */
export function holdsValue(type: ColumnType, value: ColumnValue): boolean {
  const { holds } = FORMS[type] as ColumnForm<ColumnType>;
  return value === null || holds === undefined || holds(value);
}

/** Writes a value as a field of a row. */
export function copyValue(rows: CopyRows, type: ColumnType, value: ColumnValue): void {
  (FORMS[type] as ColumnForm<ColumnType>).copy(rows, value);
}

/** PostgreSQL has no character 0 in texts. */
function storableText(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** As {@link storableText}, of all texts in JSON; there halves of surrogate pairs are refused as well. */
function storableJson(json: string): string {
  return /\\u(?:0000|d[89a-f])/i.test(json) ? JSON.stringify(storableValue(JSON.parse(json))) : json;
}

function storableValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value).replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(storableValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableValue(key) as string, storableValue(inner)]),
  );
}
