import type { IndexSession } from '#drivers/store/read/index-session.js';
import { sql } from '#drivers/store/read/sql.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';

/** Memory for get methods, in bytes. */
const CACHE_BYTES = 4 * 2 ** 20;
/** Of an entry, and of each of its ids. */
const ENTRY_BYTES = 200;
const ID_BYTES = 8;

interface MethodsFound {
  readonly code_hash: Uint8Array;
  readonly methods: readonly number[] | null;
  readonly methods_read: boolean;
}

/** What is known of the get methods of a code: never changes once they were looked for. */
interface KnownMethods {
  readonly ids: readonly number[] | null;
}

/** The get methods of codes; those of codes that come often are kept. */
export class CodeMethods {
  readonly #known = new LruByBytes<KnownMethods>(CACHE_BYTES);

  /** Ids by the hash of the code in hexadecimal; null or absent: not known, or it has no table of them. */
  async of(
    session: IndexSession,
    codes: readonly Uint8Array[],
  ): Promise<ReadonlyMap<string, readonly number[] | null>> {
    const found = new Map<string, readonly number[] | null>();
    const missing = new Map<string, Uint8Array>();
    for (const code of codes) {
      const key = toHex(code);
      if (found.has(key) || missing.has(key)) continue;
      const known = this.#known.get(key);
      if (known !== undefined) found.set(key, known.ids);
      else missing.set(key, code);
    }
    if (missing.size === 0) return found;
    const rows = await session.rows<MethodsFound>(sql`
      SELECT c.code_hash, c.methods, c.methods_read FROM codes c
      WHERE c.code_hash = ANY(${[...missing.values()]}::bytea[])`);
    for (const { code_hash, methods, methods_read } of rows) {
      const key = toHex(code_hash);
      found.set(key, methods);
      if (methods_read) this.#known.set(key, { ids: methods }, ENTRY_BYTES + (methods?.length ?? 0) * ID_BYTES);
    }
    return found;
  }
}
