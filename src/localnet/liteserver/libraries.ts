import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { iterateEntries } from '#formats/cells/dict-iterate.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerLibraryEntry } from '#formats/tl/generated/lite-server.js';
import { compareBytes, toHex } from '#kernel/bytes/bytes.js';
import { openState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { headOf, loadMasterchainBlock } from '#localnet/liteserver/find-block.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';

/** More hashes are left out. */
const MAX_LIBRARIES = 16;
const MAX_PUBLISHERS = 16;

const WITH_PUBLISHERS = 1;
const WITHOUT_DATA = 2;

/** Libraries that the masterchain publishes. */
export const libraryHandlers: LiteHandlers<'liteServer.getLibraries' | 'liteServer.getLibrariesWithProof'> = {
  'liteServer.getLibraries': ({ library_list }, { ledger }) => {
    const { libraries } = openState(ledger.state(headOf(ledger))).totals.value;
    const result: LiteServerLibraryEntry[] = [];
    for (const hash of wantedOf(library_list)) {
      const found = libraries.get(hash);
      if (found !== undefined) result.push({ hash, data: serializeBoc(found.lib) });
    }
    return { result };
  },

  'liteServer.getLibrariesWithProof': ({ id, mode, library_list }, { ledger }) => {
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const { libraries } = openState(reader.root).totals.value;
    const result: LiteServerLibraryEntry[] = [];
    for (const hash of wantedOf(library_list)) {
      const found = libraries.get(hash);
      if (found === undefined) continue;
      if ((mode & WITH_PUBLISHERS) !== 0) {
        let left = MAX_PUBLISHERS;
        for (const _ of iterateEntries(found.publishers.root, 256)) if (--left === 0) break;
      }
      const data = (mode & WITHOUT_DATA) === 0 ? serializeBoc(found.lib) : new Uint8Array();
      result.push({ hash, data });
    }
    return {
      id: blockIdToTl(block.id),
      mode,
      result,
      state_proof: serializeBoc(stateRootProof(block.root)),
      data_proof: reader.proofBytes(),
    };
  },
};

/** The first 16 hashes, sorted, each once. */
function wantedOf(list: readonly Uint8Array[]): readonly Uint8Array[] {
  const distinct = new Map(list.slice(0, MAX_LIBRARIES).map((hash) => [toHex(hash), hash]));
  return [...distinct.values()].sort(compareBytes);
}
