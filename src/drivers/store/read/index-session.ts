import type { QueryResultRow } from 'pg';
import type { Database } from '#drivers/store/database.js';
import type { IndexReadOptions } from '#drivers/store/read/index-reads.js';
import { render, type Sql } from '#drivers/store/read/sql.js';

/** Most statements that each connection keeps prepared: each costs memory in the database. */
const MOST_NAMES = 128;

/** How one statement is to be run. */
export interface QueryManner {
  /**
   * Plan it for these very values. For statements whose good plan depends on them, and for texts that hardly come twice.
   * Otherwise the statement is prepared: PostgreSQL soon plans it no more.
   */
  readonly planned?: 'each time';
}

/** A connection of the database. */
interface Reader {
  query<Row extends QueryResultRow>(query: {
    readonly name?: string;
    readonly text: string;
    readonly values: readonly unknown[];
  }): Promise<Row[]>;
}

/** Names of prepared statements, by text; the first ones that come are kept. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_NAMES) return undefined;
    const name = `tern_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** The statements of one read of the index, on one connection. */
export class IndexSession {
  readonly #reader: Reader;
  readonly #names: StatementNames;

  constructor(reader: Reader, names: StatementNames) {
    this.#reader = reader;
    this.#names = names;
  }

  async rows<Row extends QueryResultRow>(piece: Sql, manner: QueryManner = {}): Promise<Row[]> {
    const { text, values } = render(piece);
    const name = manner.planned === undefined ? this.#names.of(text) : undefined;
    return this.#reader.query<Row>(name === undefined ? { text, values } : { name, text, values });
  }
}

/** Opens sessions. */
export class IndexSessions {
  readonly #database: Database;
  readonly #names = new StatementNames();

  constructor(database: Database) {
    this.#database = database;
  }

  read<T>(options: IndexReadOptions, work: (session: IndexSession) => Promise<T>): Promise<T> {
    return this.#database.read((reader) => work(new IndexSession(reader, this.#names)), options);
  }
}
