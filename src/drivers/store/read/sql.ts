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
export interface Statement {
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
export function unseen(value: unknown, type: string): Sql {
  return sql`(SELECT ${value}::${raw(type)})`;
}

export const nothing: Sql = raw('');

/** Pieces with `separator` between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return nothing;
  return new Sql(['', ...Array.from({ length: parts.length - 1 }, () => separator), ''], parts);
}

/** All of the conditions; `true` where there is none. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('true') : join(conditions, ' AND ');
}

export function render(piece: Sql): Statement {
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
