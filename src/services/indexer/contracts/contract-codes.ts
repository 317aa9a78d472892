import { codeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/kinds/contract-kinds.js';
import type { Cell } from '#formats/cells/cell.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import type { PublishedLibraries } from '#services/indexer/contracts/published-libraries.js';

/** A code, and what is known of it. */
export interface ContractCode {
  readonly cell: Cell;
  /** Lower-case hexadecimal. */
  readonly hash: string;
  /** Of a library reference: the hash of the library. */
  readonly library: Uint8Array | null;
  /** Ids of its get methods; null: it has no table of them that can be read. */
  readonly methods: readonly number[] | null;
  /** Not where it refers to a library that nobody has published. */
  readonly isWhole: boolean;
}

const CODES_BYTES = 64 * 2 ** 20;

/** Codes by their hash; those that are used are kept. */
export class ContractCodes {
  readonly #kept = new LruByBytes<ContractCode>(CODES_BYTES);
  readonly #libraries: PublishedLibraries;

  constructor(libraries: PublishedLibraries) {
    this.#libraries = libraries;
  }

  get(hash: string): ContractCode | undefined {
    return this.#kept.get(hash);
  }

  async add(hash: string, cell: Cell, bytes: number): Promise<ContractCode> {
    const library = libraryHashOf(cell);
    const whole = library === null ? cell : await this.#libraries.find(library);
    const isWhole = whole !== null;
    const code = { cell, hash, library, methods: isWhole ? codeMethods(whole) : null, isWhole };
    // A library may be published later.
    if (isWhole) this.#kept.set(hash, code, 2 * bytes);
    return code;
  }
}
