import { tvmErrors } from '#drivers/tvm/errors.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { setEntry } from '#formats/cells/dict-edit.js';
import { lookup } from '#formats/cells/dict-lookup.js';
import { bytesEqual, toHex } from '#kernel/bytes/bytes.js';

/** Gets libraries by their hashes; null in the place of one that there is none. */
export type ResolveLibrary = (hashes: readonly Uint8Array[]) => Promise<readonly (Cell | null)[]>;

/** As far as the reference looks into code for libraries. */
const MAX_DEPTH = 24;
const MAX_FOUND = 32;

/** Hashes of the libraries that code names in its cells down to depth 24, 32 of them at most, the shallowest first. */
export function findLibraries(code: Cell): Uint8Array[] {
  const found: Uint8Array[] = [];
  const seen = new Set<string>();
  let level: Cell[] = [code];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: Cell[] = [];
    for (const cell of level) {
      const key = toHex(cell.hash());
      if (seen.has(key)) continue;
      seen.add(key);
      if (cell.type === CellType.libraryReference) {
        if (found.length === MAX_FOUND) return found;
        found.push(cell.bytes.slice(cell.dataOffset + 1, cell.dataOffset + 33));
      } else if (cell.type === CellType.ordinary) {
        for (let i = 0; i < cell.refCount; i++) below.push(cell.ref(i));
      }
    }
    level = below;
  }
  return found;
}

/** The libraries that a run may use: those of the request, and those that were fetched for it. */
export class LibraryCollection {
  readonly #resolve: ResolveLibrary | null;
  readonly #missing = new Set<string>();
  /** A `HashmapE 256 ^Cell`; with more in its values (`LibDescr`) it serves as well. */
  root: Cell | null;

  constructor(root: Cell | null, resolve: ResolveLibrary | null) {
    this.root = root;
    this.#resolve = resolve;
  }

  /**
   * Fetches libraries that are not there yet.
   *
   * @returns whether there are more than before
   * @throws tvm/bad-library, and what the function that fetches them throws
   */
  async add(hashes: readonly Uint8Array[]): Promise<boolean> {
    const wanted = hashes.filter((hash) => !this.#missing.has(toHex(hash)) && lookup(this.root, 256, hash) === null);
    if (this.#resolve === null || wanted.length === 0) return false;
    const cells = await this.#resolve(wanted);
    let more = false;
    wanted.forEach((hash, i) => {
      const cell = cells[i] ?? null;
      if (cell === null) {
        this.#missing.add(toHex(hash));
        return;
      }
      if (!bytesEqual(cell.hash(), hash)) {
        throw tvmErrors['bad-library']({ wanted: toHex(hash), found: toHex(cell.hash()) });
      }
      const value = new Builder().storeRef(cell);
      this.root = setEntry(this.root, 256, hash, value);
      more = true;
    });
    return more;
  }
}
