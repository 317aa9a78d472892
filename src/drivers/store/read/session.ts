import type { QueryResultRow } from 'pg';
import type { Database } from '#drivers/store/database.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import { sha256 } from '#formats/cells/digests.js';
import { toHex } from '#kernel/bytes.js';

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
export interface PlanningOptions {
  /**
   * Plan it for these very values. For statements whose good plan depends on them, and for texts that hardly come twice.
   * Otherwise the statement is prepared: PostgreSQL soon plans it no more.
   */
  readonly planned?: 'each time';
}

/** A connection of the database. */
interface StatementRunner {
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
  readonly #reader: StatementRunner;
  readonly #names: StatementNames;
  readonly thresholds: ReadThresholds;

  constructor(reader: StatementRunner, names: StatementNames, thresholds: ReadThresholds) {
    this.#reader = reader;
    this.#names = names;
    this.thresholds = thresholds;
  }

  async rows<Row extends QueryResultRow>(piece: Sql, manner: PlanningOptions = {}): Promise<Row[]> {
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

/** A piece of SQL with the values that stand in it; pieces are put into pieces. Made by {@link sql}. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** SQL as it goes to the database: values are parameters `$1`, `$2`, … */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** ``sql`lt <= ${lt}` ``: a value becomes a parameter, a {@link Sql} becomes part of the text. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  return new Sql(strings, values);
}

/** Text that is SQL itself: names and directions from the code, numbers that the planner has to know. */
export function raw(text: string | number): Sql {
  return new Sql([String(text)], []);
}

/**
 * A value that the planner does not look at. Planning a statement for the very values takes as long as running it; PostgreSQL
 * goes on doing that when the plan for any values only seems to be dearer, as it does for lists of unknown length and for keys
 * of which some are frequent.
 */
export function opaqueToPlanner(value: unknown, type: string): Sql {
  return sql`(SELECT ${value}::${raw(type)})`;
}

export const emptySql: Sql = raw('');

/** Pieces with `separator` between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return emptySql;
  return new Sql(['', ...Array.from({ length: parts.length - 1 }, () => separator), ''], parts);
}

/** All of the conditions; `true` where there is none. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('true') : join(conditions, ' AND ');
}

export function render(piece: Sql): SqlStatement {
  const values: unknown[] = [];
  const write = ({ strings, values: inner }: Sql): string => {
    let text = strings[0]!;
    for (let i = 0; i < inner.length; i++) {
      const value = inner[i];
      text += value instanceof Sql ? write(value) : `$${values.push(value)}`;
      text += strings[i + 1]!;
    }
    return text;
  };
  return { text: write(piece), values };
}
