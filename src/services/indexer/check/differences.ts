import { toHex } from '#kernel/bytes/bytes.js';

/** What a difference is about. */
export type CheckedKind = 'block' | 'transaction' | 'message' | 'account' | 'code' | 'trace';

/** Something that the index has otherwise than the chain. */
export interface Difference {
  readonly kind: CheckedKind;
  /** Which row, as a table and its key: `transactions 6442450944`. */
  readonly row: string;
  /** The column, or null when the row as a whole is missing or should not be there. */
  readonly column: string | null;
  /** As the chain has it; null: no such row. */
  readonly expected: string | null;
  /** As the index has it; null: no such row. */
  readonly found: string | null;
}

/** A row, by the names of its columns. */
export type CheckedRow = Readonly<Record<string, unknown>>;

/** Gathers differences: all are counted, some kept. */
export class Differences {
  readonly #most: number;
  readonly #kept: Difference[] = [];
  readonly #counts: Partial<Record<CheckedKind, number>> = {};

  /** @param most so many are kept in detail */
  constructor(most: number) {
    this.#most = most;
  }

  get kept(): readonly Difference[] {
    return this.#kept;
  }

  get counts(): Readonly<Partial<Record<CheckedKind, number>>> {
    return this.#counts;
  }

  add(difference: Difference): void {
    const { kind } = difference;
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    if (this.#kept.length < this.#most) this.#kept.push(difference);
  }

  /** Compares one row; `null` for none. */
  compareRow(
    kind: CheckedKind,
    row: string,
    columns: readonly string[],
    expected: CheckedRow | null,
    found: CheckedRow | null,
  ): void {
    if (expected === null || found === null) {
      if (expected === found) return;
      const present = expected === null ? { expected: null, found: 'a row' } : { expected: 'a row', found: null };
      this.add({ kind, row, column: null, ...present });
      return;
    }
    for (const column of columns) {
      const [wanted, has] = [print(expected[column]), print(found[column])];
      if (wanted !== has) this.add({ kind, row, column, expected: wanted, found: has });
    }
  }

  /** Compares all rows of one table by their keys. */
  compareRows(
    kind: CheckedKind,
    table: string,
    columns: readonly string[],
    expected: ReadonlyMap<string, CheckedRow>,
    found: ReadonlyMap<string, CheckedRow>,
  ): void {
    for (const [key, row] of expected) {
      this.compareRow(kind, `${table} ${key}`, columns, row, found.get(key) ?? null);
    }
    for (const [key, row] of found) {
      if (!expected.has(key)) this.compareRow(kind, `${table} ${key}`, columns, null, row);
    }
  }
}

/** A value as text, the same for all forms in which it comes: bytes in hex, lists by commas. */
function print(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(print).join(',');
  if (value instanceof Map) return [...value].map(([key, each]) => `${key}:${print(each)}`).join(',');
  return String(value);
}

/** Rows by their keys. */
export function byKey<Row extends CheckedRow>(
  rows: Iterable<Row>,
  ...columns: (keyof Row & string)[]
): Map<string, Row> {
  const map = new Map<string, Row>();
  for (const row of rows) map.set(columns.map((column) => print(row[column])).join(' '), row);
  return map;
}
