import { expect } from 'vitest';
import type { Listed, Page } from '#drivers/store/read/index-types.js';

/** Numbers that are the same in each run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * end);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** How each filter is made so that something meets it. */
export type FilterParts<Fact, Filter> = Readonly<Record<string, (fact: Fact, dice: Dice) => Partial<Filter>>>;

/** A list of the index, and the same by brute force. */
export interface ComparedList<Fact, Filter, Row> {
  readonly parts: FilterParts<Fact, Filter>;
  readonly facts: readonly Fact[];
  read(filter: Filter, page: Page): Promise<Listed<Row>>;
  /** What names a row. */
  nameOf(row: Row): string;
  /** Names of all that meets the filter, in order. */
  expected(filter: Filter, sort: 'asc' | 'desc'): readonly string[];
}

/**
 * Compares a list for no filter, each filter, each pair of filters, and some larger sets, in both directions: its first page,
 * a page behind an offset, and all pages by their cursors.
 *
 * @returns how many queries found something
 */
export async function compareCombinations<Fact, Filter extends object, Row>(
  list: ComparedList<Fact, Filter, Row>,
  dice: Dice,
  larger: number,
): Promise<number> {
  const names = Object.keys(list.parts);
  const sets: string[][] = [[], ...names.map((name) => [name])];
  for (const [i, a] of names.entries()) for (const b of names.slice(i + 1)) sets.push([a, b]);
  for (let i = 0; i < larger; i++) sets.push(Array.from({ length: 3 + dice.below(3) }, () => dice.pick(names)));
  let found = 0;
  for (const set of sets) {
    // Most filters are made of one fact, so that they meet; some of another one.
    const fact = dice.pick(list.facts);
    const filter = {} as Filter;
    for (const name of set)
      Object.assign(filter, list.parts[name]!(dice.below(6) === 0 ? dice.pick(list.facts) : fact, dice));
    for (const sort of ['asc', 'desc'] as const) if (await compareList(list, filter, sort, dice)) found++;
  }
  return found;
}

async function compareList<Fact, Filter, Row>(
  list: ComparedList<Fact, Filter, Row>,
  filter: Filter,
  sort: 'asc' | 'desc',
  dice: Dice,
): Promise<boolean> {
  const expected = list.expected(filter, sort);
  const said = `${describeFilter(filter)} ${sort}`;
  const limit = dice.pick([1, 5, 20, 100]);
  const offset = dice.below(4);
  const page = await list.read(filter, { limit, offset, sort, cursor: null });
  expect(page.rows.map(list.nameOf), `${said} limit ${limit} offset ${offset}`).toEqual(
    expected.slice(offset, offset + limit),
  );
  expect(page.next !== null, `${said} limit ${limit} offset ${offset}: more`).toBe(expected.length > offset + limit);
  // Pages on from somewhere: small ones from the end of a first one, a few of them.
  let cursor: string | null = page.next;
  let at = offset + limit;
  for (let pages = 0; cursor !== null && pages < 4; pages++) {
    const size = dice.pick([2, 7, 50]);
    const next: Listed<Row> = await list.read(filter, { limit: size, offset: 0, sort, cursor });
    expect(next.rows.map(list.nameOf), `${said} from ${at}`).toEqual(expected.slice(at, at + size));
    at += size;
    cursor = next.next;
    expect(cursor !== null, `${said} more from ${at}`).toBe(expected.length > at);
  }
  return expected.length > 0;
}

function describeFilter(filter: unknown): string {
  return JSON.stringify(filter, (_, value) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  });
}
