import type { Cell } from '#formats/cells/cell.js';
import { verifyLibraries } from '#formats/proofs/library.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerLibraryResultWithProof } from '#formats/tl/generated/lite-server.js';
import { LiteServerGetLibrariesWithProof } from '#formats/tl/generated/lite-server-functions.js';
import { fromHex, toHex } from '#kernel/bytes/bytes.js';
import type { BlockIds } from '#services/chain/block-ids.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { needOfState } from '#services/chain/need.js';
import type { Answered, ReadAt } from '#services/chain/read-options.js';
import { expectBlock } from '#services/chain/tl-block-id.js';

/** Libraries that the masterchain publishes after a block. */
export interface LibrariesRead extends Answered<readonly LiteServerLibraryResultWithProof[]> {
  /** By hash in lower-case hex; one that is not there is proven not to be published. */
  readonly libraries: ReadonlyMap<string, Cell>;
}

/** Most libraries in one answer. */
const MAX_LISTED = 16;

/** Most libraries in one read. */
const MAX_WANTED = 1024;

/** Reads of libraries. */
export class Libraries {
  readonly #blockIds: BlockIds;

  constructor(blockIds: BlockIds) {
    this.#blockIds = blockIds;
  }

  async libraries(call: Call, hashes: readonly Uint8Array[], { at }: ReadAt): Promise<LibrariesRead> {
    for (const { length } of hashes) {
      if (length === 32) continue;
      throw chainErrors.parameter({ name: 'hash', value: `${length} bytes long`, wanted: '32 bytes' });
    }
    const wanted = [...new Set(hashes.map(toHex))].sort();
    if (wanted.length > MAX_WANTED) {
      const value = `a list of ${wanted.length}`;
      throw chainErrors.parameter({ name: 'hashes', value, wanted: `at most ${MAX_WANTED}` });
    }
    const block = await this.#blockIds.resolveMasterchain(call, at);
    const { id } = block;
    const libraries = new Map<string, Cell>();
    const answers: LiteServerLibraryResultWithProof[] = [];
    for (let i = 0; i < wanted.length; i += MAX_LISTED) {
      const library_list = wanted.slice(i, i + MAX_LISTED).map((hash) => fromHex(hash)!);
      const { value, answer } = await call.ask({
        fn: LiteServerGetLibrariesWithProof,
        query: { id: blockIdToTl(id), mode: 0, library_list },
        need: needOfState(block),
        immutable: true,
        verifiedAs: 'libraries',
        verify: (found) => {
          expectBlock(found.id, id);
          return verifyLibraries(id, library_list, found).map(({ hash, cell }) => {
            if (cell !== null) return { hash, cell };
            throw chainErrors['incomplete-answer']({ problem: `library ${toHex(hash)} comes without its cells` });
          });
        },
      });
      for (const { hash, cell } of value) libraries.set(toHex(hash), cell);
      if (call.wantsProof) answers.push(answer);
    }
    return { block: id, gen_utime: block.gen_utime, libraries, proof: call.proof(answers) };
  }
}
