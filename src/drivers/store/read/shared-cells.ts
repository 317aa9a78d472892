import { loadTransaction, sharedCodes } from '#drivers/store/encode/stored-transaction.js';
import type { IndexSession } from '#drivers/store/read/index-session.js';
import { sql } from '#drivers/store/read/sql.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { LruByBytes } from '#kernel/async/lru-by-bytes.js';
import { toHex } from '#kernel/bytes/bytes.js';

interface CodeFound {
  readonly code_hash: Uint8Array;
  readonly boc: Uint8Array;
}

/** Memory for codes, in bytes of their bags. */
const CACHE_BYTES = 32 * 2 ** 20;

/** Completes transactions whose codes are stored apart; the codes that come often are kept. */
export class SharedCells {
  readonly #codes = new LruByBytes<Cell>(CACHE_BYTES);

  /** The whole bags of cells of stored transactions, in their order; codes that are not kept are read in one statement. */
  async complete(session: IndexSession, stored: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    const found = new Map<string, Cell>();
    const missing = new Map<string, Uint8Array>();
    for (const bytes of stored) {
      if (bytes[0] === 0) continue;
      for (const hash of sharedCodes(bytes)) {
        const key = toHex(hash);
        const known = this.#codes.get(key);
        if (known !== undefined) found.set(key, known);
        else if (!found.has(key)) missing.set(key, hash);
      }
    }
    if (missing.size > 0) await this.#read(session, [...missing.values()], found);
    return stored.map((bytes) => {
      if (bytes[0] === 0) return bytes.subarray(1);
      return serializeBoc(loadTransaction(bytes, (hash) => found.get(toHex(hash)) ?? null));
    });
  }

  async #read(session: IndexSession, hashes: readonly Uint8Array[], found: Map<string, Cell>): Promise<void> {
    const rows = await session.rows<CodeFound>(
      sql`SELECT c.code_hash, c.boc FROM codes c WHERE c.code_hash = ANY(${hashes}::bytea[])`,
    );
    for (const { code_hash, boc } of rows) {
      const key = toHex(code_hash);
      const cell = parseBocRoot(boc);
      this.#codes.set(key, cell, boc.length);
      found.set(key, cell);
    }
  }
}
