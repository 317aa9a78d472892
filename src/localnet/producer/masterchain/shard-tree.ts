import type { Shard } from '#formats/proofs/block-id.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { findShard, type ShardEntry, ShardHashes, ShardTree } from '#formats/tlb/shard-hashes.js';
import { isShardAncestor, shardChildren, shardHex, shardParent, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
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

/** The entry of exactly this shard. */
export function findExact(hashes: ShardHashes, { workchain, shard }: Shard): ShardEntry | null {
  const found = findShard(hashes, workchain, shard);
  return found?.shard === shard ? found : null;
}

/**
 * The entries that a block of this shard follows: that of the shard; or of the shard that it is a half of, if that was to
 * be split; or of both its halves, left one first, if they were to merge. Empty when it follows none.
 */
export function shardsBefore(hashes: ShardHashes, { workchain, shard }: Shard): readonly ShardEntry[] {
  const found = findShard(hashes, workchain, shard);
  if (found === null) return [];
  if (found.shard === shard) return found.descr.before_split || found.descr.before_merge ? [] : [found];
  if (isShardAncestor(found.shard, shard))
    return found.shard === shardParent(shard) && found.descr.before_split ? [found] : [];
  const halves = shardChildren(shard).map((half) => findExact(hashes, { workchain, shard: half }));
  return halves.every((half) => half?.descr.before_merge === true) ? (halves as ShardEntry[]) : [];
}
