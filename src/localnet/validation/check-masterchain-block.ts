import type { BlockContext, OpenBlock } from '#localnet/validation/block-context.js';
import { checkBlockCreateStats } from '#localnet/validation/block-create-stats.js';
import { type BlockCounts, checkCommon, countsOf } from '#localnet/validation/check-block.js';
import { checkConfigUpdate } from '#localnet/validation/config-update.js';
import { checkLibraries } from '#localnet/validation/libraries.js';
import { checkMasterchainState } from '#localnet/validation/masterchain-state.js';
import { checkShardLayout } from '#localnet/validation/shard-layout.js';
import { checkSpecialMessages } from '#localnet/validation/special-messages.js';

/**
 * Checks a block of the masterchain.
 * @param shards the blocks that it newly lists, by the hex of their root hash
 * @throws validation/broken-rule, validation/malformed
 */
export function checkMasterchainBlock(context: BlockContext, shards: ReadonlyMap<string, OpenBlock>): BlockCounts {
  const checked = checkCommon(context);
  checkShardLayout(context, shards);
  checkSpecialMessages(context, checked.book);
  checkLibraries(context, checked.accounts);
  checkMasterchainState(context);
  checkConfigUpdate(context, checked.accounts);
  checkBlockCreateStats(context, shards.values());
  return countsOf(checked);
}
