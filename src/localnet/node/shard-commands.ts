import { isMasterchain, printShard, type Shard, sameShard } from '#formats/proofs/block-id.js';
import { shardChildren, shardParent, shardPrefixLength, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import { localnetErrors } from '#localnet/node/errors.js';

/** A requested split or merge: the shards that must want it, and how to recognise that it has happened. */
export interface ShardCommand {
  readonly wants: { readonly split: readonly Shard[]; readonly merge: readonly Shard[] };
  readonly happened: (tip: ChainTip) => boolean;
}

/** @throws localnet/no-such-shard, localnet/cannot-split */
export function splitCommand(tip: ChainTip, shard: Shard): ShardCommand {
  requireShard(tip, shard);
  const depth = shardPrefixLength(shard.shard);
  const most = splitLimits(tip, shard.workchain).max_split;
  if (depth >= most) {
    const problem = `its prefix has ${depth} bits, and max_split of the workchain is ${most}`;
    throw localnetErrors['cannot-split']({ shard: printShard(shard), problem });
  }
  const [left] = shardChildren(shard.shard);
  return {
    wants: { split: [shard], merge: [] },
    happened: (now) => hasShard(now, { ...shard, shard: left }),
  };
}

/** @throws localnet/no-such-shard, localnet/cannot-merge */
export function mergeCommand(tip: ChainTip, shard: Shard): ShardCommand {
  requireShard(tip, shard);
  if (shard.shard === WHOLE_WORKCHAIN) {
    throw localnetErrors['cannot-merge']({ shard: printShard(shard), problem: 'it is the whole workchain' });
  }
  const sibling = { ...shard, shard: shardSibling(shard.shard) };
  if (!hasShard(tip, sibling)) {
    throw localnetErrors['cannot-merge']({
      shard: printShard(shard),
      problem: `its sibling ${printShard(sibling)} is split further`,
    });
  }
  const depth = shardPrefixLength(shard.shard);
  const least = splitLimits(tip, shard.workchain).min_split;
  if (depth <= least) {
    const problem = `its prefix has ${depth} bits, and min_split of the workchain is ${least}`;
    throw localnetErrors['cannot-merge']({ shard: printShard(shard), problem });
  }
  return {
    wants: { split: [], merge: [shard, sibling] },
    happened: (now) => hasShard(now, { ...shard, shard: shardParent(shard.shard) }),
  };
}

function hasShard({ shards }: ChainTip, shard: Shard): boolean {
  return shards.some(({ id }) => sameShard(id, shard));
}

function requireShard(tip: ChainTip, shard: Shard): void {
  if (!isMasterchain(shard) && hasShard(tip, shard)) return;
  const shards = tip.shards.map(({ id }) => printShard(id)).join(' ');
  throw localnetErrors['no-such-shard']({ shard: printShard(shard), shards });
}

/** Limits of shard prefix lengths of a workchain, from configuration parameter 12. */
function splitLimits(
  { masterchain }: ChainTip,
  workchain: number,
): { readonly min_split: number; readonly max_split: number } {
  const { config } = decodeCell(ShardStateUnsplit, masterchain.state).custom!.value.config;
  return configParam(config, 12)?.get(workchain) ?? { min_split: 0, max_split: 0 };
}
