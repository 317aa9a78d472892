import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { lookup } from '#formats/cells/dict-lookup.js';
import type { SimpleLibs } from '#formats/tlb/state-init.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';

/** Global version from which on contracts find published libraries only, not their account's own. */
const ONLY_PUBLISHED = 15;

/**
 * The libraries that a contract finds, as a dictionary by hash with a reference to the library first in each value.
 *
 * @param published root of the libraries of the masterchain
 * @param own libraries of the account; one that is stored under another hash than its own is not found
 */
export function visibleLibraries(published: Cell | null, own: SimpleLibs, globalVersion: number): Cell | null {
  if (globalVersion >= ONLY_PUBLISHED) return published;
  let libraries = published;
  for (const [hash, { root }] of own) {
    if (!bytesEqual(root.hash(), hash) || lookup(libraries, 256, hash) !== null) continue;
    libraries = setEntry(libraries, 256, hash, new Builder().storeRef(root));
  }
  return libraries;
}
