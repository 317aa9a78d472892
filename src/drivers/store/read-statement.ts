import type pg from 'pg';
import { valueTypes } from '#drivers/store/connection.js';
import { toHex } from '#kernel/bytes.js';

/** A value of a parameter: bytes as they are, everything else as PostgreSQL reads it from text. */
export type SqlValue = (string | number | bigint | boolean | Uint8Array | null | undefined) | readonly SqlValue[];

/**
 * A query. A named one is parsed once per connection, and planned once if a generic plan is as good as one for the very values.
 * The same name must always have the same text.
 */
export interface SqlQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/** What is used of a connection of node-postgres; its types declare less. */
interface StatementConnection {
  readonly stream: { cork(): void; uncork(): void };
  /** Texts of the named statements that the server knows, and of those that it was sent and has not answered yet. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly text: string; readonly name: string }): void;
  bind(values: { readonly statement: string; readonly values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { readonly type: 'P' }): void;
  execute(portal: null): void;
  sync(): void;
  sendCopyFail(reason: string): void;
}

/** A column in a `RowDescription`. */
interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Makes an object of the columns of a `DataRow`. */
type RowReader = (fields: readonly (string | null)[]) => unknown;

/** Readers of rows by their columns: they are as many as the statements in the code. */
const readers = new Map<string, RowReader>();

/** The columns of named statements, which the server describes once for each connection. */
const describedBy = new WeakMap<StatementConnection, Map<string, RowReader>>();

/**
 * A statement of a read, as node-postgres takes it (`Submittable`). In place of `pg.Query`, because most reads are small and
 * done hundreds of times a second: a named statement is described by the server once for each connection and not each time, and
 * rows are made by a compiled function.
 */
export class ReadStatement<Row> implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  /** All rows, once the server is ready for the next statement. Rejects with what the server or the connection reports. */
  readonly rows: Promise<Row[]>;
  readonly #values: readonly (string | Buffer | null)[];
  readonly #takes: (bytes: number) => boolean;
  readonly #resolve: (rows: Row[]) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #rows: Row[] = [];
  #reader: RowReader | null = null;
  #described: Map<string, RowReader> | null = null;
  #failed: { readonly reason: unknown } | null = null;

  /** @param takes told of the bytes of each row as it comes, before it is read; false: it is dropped */
  constructor({ name, text, values }: SqlQuery, takes: (bytes: number) => boolean) {
    this.name = name ?? '';
    this.text = text;
    this.#values = (values ?? []).map(parameterOf);
    this.#takes = takes;
    let settle: [(rows: Row[]) => void, (reason: unknown) => void];
    this.rows = new Promise((...both) => {
      settle = both;
    });
    [this.#resolve, this.#reject] = settle!;
  }

  submit(given: pg.Connection): Error | null {
    const connection = given as unknown as StatementConnection;
    const { name, text } = this;
    if (name !== '') this.#described = describedOf(connection);
    this.#reader = this.#described?.get(name) ?? null;
    const known = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name];
    if (known !== undefined && known !== text)
      return new TypeError(`The statement ${name} has another text on this connection.`);
    connection.stream.cork();
    if (known === undefined) {
      connection.parse({ text, name });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values });
    if (this.#reader === null) connection.describe({ type: 'P' });
    connection.execute(null);
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly Column[] }): void {
    this.#reader = readerOf(fields);
    this.#described?.set(this.name, this.#reader);
  }

  handleDataRow({ length, fields }: { readonly length: number; readonly fields: readonly (string | null)[] }): void {
    if (!this.#takes(length) || this.#failed !== null) return;
    try {
      this.#rows.push(this.#reader!(fields) as Row);
    } catch (reason) {
      this.#failed = { reason };
    }
  }

  handleReadyForQuery(): void {
    if (this.#failed === null) this.#resolve(this.#rows);
    else this.#reject(this.#failed.reason);
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  /** Does not happen: rows are asked for without a bound. */
  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: StatementConnection): void {
    connection.sendCopyFail('a read copies nothing');
  }

  handleCopyData(): void {}
}

function describedOf(connection: StatementConnection): Map<string, RowReader> {
  const known = describedBy.get(connection);
  if (known !== undefined) return known;
  const described = new Map<string, RowReader>();
  describedBy.set(connection, described);
  return described;
}

function readerOf(columns: readonly Column[]): RowReader {
  const key = columns.map(({ name, dataTypeID }) => `${dataTypeID} ${name}`).join('\n');
  const known = readers.get(key);
  if (known !== undefined) return known;
  const parsers = columns.map(({ dataTypeID }) => valueTypes.getTypeParser(dataTypeID, 'text'));
  const members = columns.map(
    ({ name }, i) => `[${JSON.stringify(name)}]: fields[${i}] === null ? null : parsers[${i}](fields[${i}])`,
  );
  const reader = new Function('parsers', `return (fields) => ({ ${members.join(', ')} });`)(parsers) as RowReader;
  readers.set(key, reader);
  return reader;
}

function parameterOf(value: SqlValue): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Array.isArray(value) ? arrayText(value) : String(value);
}

function arrayText(values: readonly SqlValue[]): string {
  let text = '{';
  for (const [i, value] of values.entries()) {
    if (i > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (value instanceof Uint8Array) text += `"\\\\x${toHex(value)}"`;
    else if (Array.isArray(value)) text += arrayText(value);
    else text += typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : String(value);
  }
  return `${text}}`;
}
