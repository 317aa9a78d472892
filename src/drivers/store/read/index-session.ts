import type { QueryResultRow } from 'pg';
import type { Database } from '#drivers/store/database.js';
import type { IndexReadOptions } from '#drivers/store/read/index-reads.js';
import { render, type Sql } from '#drivers/store/read/sql.js';
import { sha256 } from '#formats/cells/sha256.js';
import { toHex } from '#kernel/bytes/bytes.js';

const encoder = new TextEncoder();

/** Most statements that each connection keeps prepared: each costs memory in the database. */
const MOST_NAMES = 128;

/** From how many rows on a read goes another way: what is sorted as a whole below it is walked in its order above. */
export interface ReadThresholds {
  /** Messages of one key. Default: 2,000. */
  readonly messages: number;
  /** Messages of one key whose transactions are asked for. Default: 20,000. */
  readonly messagesOfTransactions: number;
  /** Events of the accounts or the token of one condition. Default: 1,000. */
  readonly tokenEvents: number;
}

export const DEFAULT_THRESHOLDS: ReadThresholds = { messages: 2000, messagesOfTransactions: 20_000, tokenEvents: 1000 };

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
    const name = `tern_${toHex(sha256(encoder.encode(text)).subarray(0, 12))}`;
    this.#names.set(text, name);
    return name;
  }
}

/** The statements of one read of the index, on one connection. */
export class IndexSession {
  readonly #reader: Reader;
  readonly #names: StatementNames;
  readonly thresholds: ReadThresholds;

  constructor(reader: Reader, names: StatementNames, thresholds: ReadThresholds) {
    this.#reader = reader;
    this.#names = names;
    this.thresholds = thresholds;
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
  readonly #thresholds: ReadThresholds;

  constructor(database: Database, thresholds: ReadThresholds) {
    this.#database = database;
    this.#thresholds = thresholds;
  }

  read<T>(options: IndexReadOptions, work: (session: IndexSession) => Promise<T>): Promise<T> {
    return this.#database.read((reader) => work(new IndexSession(reader, this.#names, this.#thresholds)), options);
  }
}
