import type { V2Context } from '#api/v2/context.js';
import { systemClock } from '#kernel/clock.js';
import { WorkSlices } from '#kernel/work-slices.js';

const FOR_EVER = new AbortController().signal;

/**
 * JSON of a list, written in slices, between which other requests get their turn: a thousand transactions take 100 ms.
 *
 * @throws the reason of the signal when the request is called off
 */
export async function listJson<Item>(
  items: readonly Item[],
  write: (item: Item) => object,
  { read: { signal = FOR_EVER } }: Pick<V2Context, 'read'>,
): Promise<string> {
  const slices = new WorkSlices(systemClock, signal);
  const parts: string[] = [];
  slices.begin();
  for (const item of items) {
    if (slices.isOver) await slices.next();
    parts.push(JSON.stringify(write(item)));
  }
  return `[${parts.join(',')}]`;
}

/** JSON of an object one of whose members is already JSON. */
export function objectJson(members: object, name: string, json: string): string {
  const rest = JSON.stringify(members);
  return `${rest.slice(0, -1)},${JSON.stringify(name)}:${json}}`;
}
