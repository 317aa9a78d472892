import type { Cell } from '#formats/cells/cell.js';
import { HashIndex } from '#formats/cells/hash-index.js';
import type { StorageUsed } from '#formats/tlb/account.js';

/** How much a tree takes to store, as `StorageUsed` counts it: distinct cells, its root among them, and their bits. */
export function storageUsed(root: Cell): StorageUsed {
  const seen = new HashIndex();
  seen.add(root.hash());
  const open = [root];
  let bits = 0;
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    bits += cell.bits;
    for (let index = 0; index < cell.refCount; index++) {
      const child = cell.ref(index);
      const known = seen.size;
      if (seen.add(child.hash()) === known) open.push(child);
    }
  }
  return { cells: BigInt(seen.size), bits: BigInt(bits) };
}
