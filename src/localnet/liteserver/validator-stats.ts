import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { iterateEntries } from '#formats/cells/dict-iterate.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { openMcState, stateRootProof } from '#localnet/liteserver/block-reading.js';
import { loadMasterchainBlock, refused } from '#localnet/liteserver/find-block.js';
import type { LiteHandlers } from '#localnet/liteserver/lite-handler.js';
import { MerkleReader } from '#localnet/liteserver/merkle-reader.js';

const MAX_ENTRIES = 1000;

/** Bits of `mode`: begin after a key; or, with the second bit, at it. */
const START_AFTER = 1;
const KNOWN_BITS = 7;

/** How many blocks validators made. `modified_after` changes nothing, as in the reference software. */
export const validatorStatsHandlers: LiteHandlers<'liteServer.getValidatorStats'> = {
  'liteServer.getValidatorStats': ({ mode, id, limit, start_after }, { ledger }) => {
    if (limit <= 0) throw refused('requested entry count limit must be positive');
    if ((mode & ~KNOWN_BITS) !== 0) throw refused('unknown flags set in mode');
    const block = loadMasterchainBlock(ledger, blockIdFromTl(id));
    const reader = new MerkleReader(ledger.state(block));
    const stats = openMcState(reader.root).extra.info.value.block_create_stats;
    if (stats === null) throw refused('cannot extract block create stats from mc state');
    const from = { key: start_after ?? new Uint8Array(32), inclusive: (mode & 3) !== START_AFTER };
    const wanted = Math.min(limit, MAX_ENTRIES);
    const entries = iterateEntries(stats.counters.root, 256, { from });
    let count = 0;
    let complete = false;
    while (count < wanted && !complete) {
      if (entries.next().done === true) complete = true;
      else count++;
    }
    return {
      mode,
      id: blockIdToTl(block.id),
      count,
      complete,
      state_proof: serializeBoc(stateRootProof(block.root)),
      data_proof: reader.proofBytes(),
    };
  },
};
