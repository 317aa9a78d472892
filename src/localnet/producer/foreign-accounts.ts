import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';

/** Most accounts of which it is remembered that another chain was asked for them. */
const MOST_ASKED = 100_000;

/** Asks another chain for each account once: what has been taken over from there is not taken over again. */
export function askOnce(ask: (address: Address) => Promise<Cell | null>): (address: Address) => Promise<Cell | null> {
  const asked = new Set<string>();
  return async (address) => {
    const key = address.toRaw();
    if (asked.has(key)) return null;
    const found = await ask(address);
    // What was found may be wanted again: the round in which it was taken over may have failed.
    if (found !== null) return found;
    if (asked.size >= MOST_ASKED) asked.clear();
    asked.add(key);
    return null;
  };
}
