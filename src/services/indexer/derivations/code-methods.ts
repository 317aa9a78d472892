import { codeMethods } from '#domain/contracts/code-methods.js';
import { libraryHashOf } from '#domain/contracts/interface-registry.js';
import { recordContractChange } from '#drivers/store/event-log.js';
import {
  codesWithoutMethods,
  readStoredCodes,
  type StoredCode,
  setCodeMethods,
} from '#drivers/store/write/accounts.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { toHex } from '#kernel/bytes.js';
import type { IndexerContext } from '#services/indexer/index-progress.js';

/** Codes in one transaction of the database. */
const PAGE = 100;

/** Libraries that are not among the codes will hardly be so soon after. */
const AGAIN_AFTER_MS = 60_000;

/**
 * Looks for the get methods of codes that were indexed before there was such a thing, and of references to libraries that have
 * become known as codes of contracts; some in each transaction of the database.
 */
export class CodeMethodsDeriver {
  readonly #work: Pick<IndexerContext, 'database' | 'retries' | 'clock'>;
  #again = 0;

  constructor(work: Pick<IndexerContext, 'database' | 'retries' | 'clock'>) {
    this.#work = work;
  }

  /** Ends when all codes have been looked at; soon after that it does nothing. @throws indexer/stopped */
  async run(signal: AbortSignal): Promise<void> {
    const { retries, clock } = this.#work;
    if (clock.now() < this.#again) return;
    for (let after: Uint8Array | null = null; ; ) {
      const position: Uint8Array | null = after;
      const page: StoredCode[] = await retries.run(() => this.#step(position), signal);
      if (page.length < PAGE) break;
      after = page.at(-1)!.code_hash;
    }
    this.#again = clock.now() + AGAIN_AFTER_MS;
  }

  #step(after: Uint8Array | null): Promise<StoredCode[]> {
    return this.#work.database.transaction(async (client) => {
      const page = await codesWithoutMethods(client, after, PAGE);
      const cells = page.map(({ boc }) => parseBocRoot(boc));
      const references = cells.map(libraryHashOf);
      const libraries = await readStoredCodes(
        client,
        references.filter((hash) => hash !== null),
      );
      const known = new Map(libraries.map(({ code_hash, boc }) => [toHex(code_hash), parseBocRoot(boc)]));
      let changed = false;
      for (const [i, { code_hash }] of page.entries()) {
        const reference = references[i]!;
        const code = reference === null ? cells[i]! : known.get(toHex(reference));
        if (code === undefined) continue;
        await setCodeMethods(client, code_hash, codeMethods(code));
        changed = true;
      }
      if (changed) await recordContractChange(client, null);
      return page;
    });
  }
}
