import { CopyRows } from '#drivers/store/copy-rows.js';
import {
  BLOCKS,
  MESSAGES,
  OPEN_MESSAGES,
  ORPHAN_MESSAGES,
  STAGED_ACCOUNTS,
  STAGED_CODES,
  type TableRows,
  TOKEN_EVENTS,
  TRACE_ACCOUNTS,
  TRACES,
  TRANSACTIONS,
} from '#drivers/store/encode/table-rows.js';
import type { EncodedTable } from '#drivers/store/write/write-batch.js';

/** The tables that a batch is copied into, in the order in which they are written. */
const TABLES = {
  blocks: BLOCKS,
  transactions: TRANSACTIONS,
  messages: MESSAGES,
  token_events: TOKEN_EVENTS,
  traces: TRACES,
  trace_accounts: TRACE_ACCOUNTS,
  open_messages: OPEN_MESSAGES,
  orphan_messages: ORPHAN_MESSAGES,
  accounts: STAGED_ACCOUNTS,
  codes: STAGED_CODES,
} as const;

type Tables = typeof TABLES;
type RowOf<Name extends keyof Tables> = Tables[Name] extends TableRows<infer Row> ? Row : never;

/** Gathers the rows of a batch in the form in which they are copied. The space is used again by the next batch. */
export class BatchEncoder {
  readonly #rows = Object.fromEntries(Object.keys(TABLES).map((name) => [name, new CopyRows(4096)])) as {
    readonly [Name in keyof Tables]: CopyRows;
  };

  add<Name extends keyof Tables>(table: Name, row: RowOf<Name>): void {
    (TABLES[table] as TableRows<RowOf<Name>>).write(this.#rows[table], row);
  }

  addAll<Name extends keyof Tables>(table: Name, rows: Iterable<RowOf<Name>>): void {
    const { write } = TABLES[table] as TableRows<RowOf<Name>>;
    for (const row of rows) write(this.#rows[table], row);
  }

  /** What was added; views that are good until something is added again. */
  finish(): EncodedTable[] {
    return (Object.keys(TABLES) as (keyof Tables)[]).map((name) => {
      const { table, columns } = TABLES[name];
      const rows = this.#rows[name];
      return { table, columns, bytes: rows.finish(), rows: rows.rows };
    });
  }

  reset(): void {
    for (const rows of Object.values(this.#rows)) rows.reset();
  }
}
