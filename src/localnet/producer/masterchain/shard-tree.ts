import type { Shard } from '#formats/proofs/block-id.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { type ShardEntry, ShardHashes, ShardTree } from '#formats/tlb/shard-hashes.js';
import { shardChildren, shardHex, shardParent, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import { masterchainErrors } from '#localnet/producer/masterchain/errors.js';

/**
 * The shard configuration with these entries, in any order: of each workchain they must be the leaves of one tree.
 * @throws producer/shards-incomplete
 */
export function shardHashesOf(entries: Iterable<ShardEntry>): ShardHashes {
  const workchains = new Map<number, Map<bigint, ShardEntry>>();
  for (const entry of entries) {
    const shards = workchains.get(entry.workchain) ?? new Map<bigint, ShardEntry>();
    workchains.set(entry.workchain, shards.set(entry.shard, entry));
  }
  return ShardHashes.of([...workchains].map(([workchain, shards]) => [workchain, treeOf({ workchain }, shards)]));
}

function treeOf({ workchain }: Pick<Shard, 'workchain'>, shards: ReadonlyMap<bigint, ShardEntry>): Lazy<ShardTree> {
  const above = new Set<bigint>();
  for (let shard of shards.keys()) {
    while (shard !== WHOLE_WORKCHAIN && !above.has(shardParent(shard))) {
      shard = shardParent(shard);
      above.add(shard);
    }
  }
  let leaves = 0;
  const tree = (shard: bigint): Lazy<ShardTree> => {
    if (above.has(shard)) {
      const [left, right] = shardChildren(shard);
      return Lazy.ofValue(ShardTree, { kind: 'bt_fork', left: tree(left), right: tree(right) });
    }
    const entry = shards.get(shard);
    if (entry === undefined) throw masterchainErrors['shards-incomplete']({ workchain, shard: shardHex(shard) });
    leaves++;
    return Lazy.ofValue(ShardTree, { kind: 'bt_leaf', leaf: entry.descr });
  };
  const root = tree(WHOLE_WORKCHAIN);
  if (leaves !== shards.size) throw masterchainErrors['shards-incomplete']({ workchain, shard: 'overlapping ones' });
  return root;
}
