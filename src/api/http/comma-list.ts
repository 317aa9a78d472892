import { type ArrayOptions, type TArray, type TSchema, Type } from '@sinclair/typebox';

/** Keyword of arrays whose items may also stand in one argument of a query, between commas. */
export const COMMA_SEPARATED = 'x-comma-separated';

/** An array that a query may give as `a=1&a=2` as well as `a=1,2`; no item may contain a comma or be empty. */
export function commaList<Item extends TSchema>(items: Item, options: ArrayOptions = {}): TArray<Item> {
  return Type.Array(items, { ...options, [COMMA_SEPARATED]: true });
}
