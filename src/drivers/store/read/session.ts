import type { QueryResultRow } from 'pg';
import type { ActionLayout } from '#drivers/store/action-row.js';
import type { DatabaseReader, SqlValue } from '#drivers/store/database.js';
import type { Page } from '#drivers/store/read/index-types.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { WorkSlices } from '#kernel/work-slices.js';

const encoder = new TextEncoder();

/** Statements that each connection keeps prepared, at most: each costs memory in the database. */
const MOST_NAMES = 128;

/** Row counts from which a read is planned otherwise: below, all rows are sorted; above, an index is walked in its order. */
export interface ReadThresholds {
  /** Messages of one key. Default: 2,000. */
  readonly messages: number;
  /** Messages of one key whose transactions are wanted. Default: 20,000. */
  readonly messagesOfTransactions: number;
  /** Events of the accounts or the token of one condition. Default: 1,000. */
  readonly tokenEvents: number;
}

export const DEFAULT_THRESHOLDS: ReadThresholds = { messages: 2000, messagesOfTransactions: 20_000, tokenEvents: 1000 };

/** How a statement is planned. */
export interface PlanningOptions {
  /**
   * Plan it for these very values: for statements whose best plan depends on them, and for texts that hardly ever come twice.
   * Otherwise the statement is prepared, and PostgreSQL soon stops planning it.
   */
  readonly planned?: 'each time';
}

/** Memory for the codes that stored transactions leave out, in bytes of their bags of cells. */
const CODE_CACHE_BYTES = 32 * 2 ** 20;
/** Memory for the get-method ids of codes, in bytes. */
const METHOD_CACHE_BYTES = 4 * 2 ** 20;
/** Memory for the digests of pages that were asked for lately, in bytes. */
const PAGE_CACHE_BYTES = 2 ** 20;

/** What the reads of one index share. All of it is immutable in the database. */
export class ReadCaches {
  /** Codes by their hash in hexadecimal. */
  readonly codes = new LruByBytes<Cell>(CODE_CACHE_BYTES);
  /** Ids of the get methods of codes by the hash of the code in hexadecimal; null: it has no table of methods. */
  readonly methods = new LruByBytes<{ readonly ids: readonly number[] | null }>(METHOD_CACHE_BYTES);
  /** How actions are encoded, by the number of the layout (`action_layouts`): some hundred at most. */
  readonly layouts = new Map<number, { readonly type: string; readonly layout: ActionLayout }>();
  readonly #names = new Map<string, string>();
  readonly #pages = new LruByBytes<true>(PAGE_CACHE_BYTES);

  /** @returns whether this page of the list was asked for lately */
  notePage(digest: Uint8Array, { offset, cursor }: Pick<Page, 'offset' | 'cursor'>): boolean {
    const key = `${toHex(digest)} ${cursor ?? offset}`;
    const isKnown = this.#pages.get(key) === true;
    if (!isKnown) this.#pages.set(key, true, 0);
    return isKnown;
  }

  /** The name under which a text is prepared; undefined when as many as is good are prepared already. */
  statementName(text: string): string | undefined {
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
  readonly #reader: Pick<DatabaseReader, 'query'>;
  readonly caches: ReadCaches;
  readonly thresholds: ReadThresholds;
  /** For what is made of many rows. */
  readonly slices: WorkSlices;

  /** @param signal calls the read off; null: nothing does */
  constructor(
    reader: Pick<DatabaseReader, 'query'>,
    caches: ReadCaches,
    thresholds: ReadThresholds,
    signal: AbortSignal | null = null,
  ) {
    this.#reader = reader;
    this.caches = caches;
    this.thresholds = thresholds;
    this.slices = new WorkSlices(systemClock, signal);
  }

  async rows<Row extends QueryResultRow>(statement: Sql, { planned }: PlanningOptions = {}): Promise<Row[]> {
    const { text, values } = render(statement);
    const name = planned === undefined ? this.caches.statementName(text) : undefined;
    return this.#reader.query<Row>(name === undefined ? { text, values } : { name, text, values });
  }
}

/** A piece of SQL with its parameters; pieces nest. Made by {@link sql}. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly (SqlValue | Sql)[];

  constructor(strings: readonly string[], values: readonly (SqlValue | Sql)[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** SQL as it goes to the database: values are parameters `$1`, `$2`, … */
interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** ``sql`lt <= ${lt}` ``: a value becomes a parameter, a {@link Sql} becomes part of the text. */
export function sql(strings: TemplateStringsArray, ...values: readonly (SqlValue | Sql)[]): Sql {
  return new Sql(strings, values);
}

/** SQL text: names and directions from the code, numbers that the planner has to know. Never input of a user. */
export function raw(text: string | number): Sql {
  return new Sql([String(text)], []);
}

/**
 * A parameter whose value is hidden from the planner, so that one generic plan is used. Planning a statement for its very values
 * takes as long as running it, and PostgreSQL keeps doing so while the generic plan only seems more expensive, as it does for
 * lists of unknown length and for keys some of which are frequent.
 */
export function opaqueToPlanner(value: SqlValue, type: string): Sql {
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

function render(piece: Sql): SqlStatement {
  const values: SqlValue[] = [];
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
