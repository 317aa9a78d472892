import { decodeCursor, encodeCursor, type OrderKey, queryDigest } from '#drivers/store/read/cursor.js';
import type { Listed, Page } from '#drivers/store/read/index-reads.js';

/** Which rows of an ordered list to read next. */
export interface Stretch {
  /** Begin behind this row; null: at the first. */
  readonly after: OrderKey | null;
  /** Leave out so many. */
  readonly offset: number;
  /** Read so many, or as many as there are. */
  readonly count: number;
}

/** An ordered list in the database. */
export interface KeysetList<Found, Row> {
  /** Name, filter and key of the list: what its cursors are of. */
  readonly name: string;
  readonly filter: object;
  readonly keyParts: number;
  /** Bits of a part of the key. Default: 64. */
  readonly keyBits?: number;
  /** The first part of a key may be null. */
  readonly keyHasNull?: boolean;
  read(stretch: Stretch): Promise<readonly Found[]>;
  /** Of what was found, what is meant: each with its row, or null for a wrong hit. */
  check(found: readonly Found[]): Promise<readonly (Row | null)[]> | readonly (Row | null)[];
  keyOf(found: Found): OrderKey;
}

/** A page of the list. What turns out as a wrong hit is replaced by what comes behind. */
export async function readPage<Found, Row>(list: KeysetList<Found, Row>, page: Page): Promise<Listed<Row>> {
  const digest = queryDigest(list.name, list.filter, page.sort);
  const form = { parts: list.keyParts, bits: list.keyBits ?? 64, hasNull: list.keyHasNull ?? false };
  let after = page.cursor === null ? null : decodeCursor(digest, page.cursor, form);
  let offset = page.cursor === null ? page.offset : 0;
  const rows: Row[] = [];
  let last: OrderKey | null = null;
  // One more than is wanted tells whether there is a page behind.
  for (let more = true; more && rows.length <= page.limit; offset = 0) {
    const count = page.limit + 1 - rows.length;
    const found = await list.read({ after, offset, count });
    const checked = await list.check(found);
    for (const [i, row] of checked.entries()) {
      if (row === null) continue;
      rows.push(row);
      if (rows.length === page.limit) last = list.keyOf(found[i]!);
    }
    more = found.length === count;
    if (more) after = list.keyOf(found[count - 1]!);
  }
  if (rows.length <= page.limit || last === null) return { rows, next: null };
  return { rows: rows.slice(0, page.limit), next: encodeCursor(digest, last) };
}
