import { MAX_SHARD_PREFIX, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { type AugmentedDictionary, hashmapAugE } from '#formats/tlb/codec/augmented-dictionary.js';
import { type Codec, deferred, type Lazy, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bigUintKey, type Dictionary, hashmapE, intKey, type KeyCodec } from '#formats/tlb/codec/dictionary.js';
import { bits256, bool, constrained, uint, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { record, union, variant } from '#formats/tlb/codec/record.js';
import { addCurrency, CurrencyCollection, NO_CURRENCY } from '#formats/tlb/currency.js';
import { tlbErrors } from '#formats/tlb/errors.js';
import { concatBytes, int32At, uint64At } from '#kernel/bytes.js';

/** A binary tree with a value at each leaf; the bits of the path select a leaf: 0 is left, 1 is right. */
export type BinTree<T> =
  | { readonly kind: 'bt_leaf'; readonly leaf: T }
  | { readonly kind: 'bt_fork'; readonly left: Lazy<BinTree<T>>; readonly right: Lazy<BinTree<T>> };

/** The codec of `BinTree X`. */
export function binTree<T>(leaf: Codec<T>): Codec<BinTree<T>> {
  const tree: Codec<BinTree<T>> = union(`(BinTree ${leaf.type})`, [
    variant('bt_leaf$0 {X:Type} leaf:X = BinTree X;', { leaf }),
    variant('bt_fork$1 {X:Type} left:^(BinTree X) right:^(BinTree X) = BinTree X;', {
      left: ref(deferred(`(BinTree ${leaf.type})`, () => tree)),
      right: ref(deferred(`(BinTree ${leaf.type})`, () => tree)),
    }),
  ]) as Codec<BinTree<T>>;
  return tree;
}

/** A planned split or merge of a shard: start in unix seconds, and duration in seconds. */
export const FutureSplitMerge = union('FutureSplitMerge', [
  variant('fsm_none$0 = FutureSplitMerge;', {}),
  variant('fsm_split$10 split_utime:uint32 interval:uint32 = FutureSplitMerge;', {
    split_utime: uint32,
    interval: uint32,
  }),
  variant('fsm_merge$11 merge_utime:uint32 interval:uint32 = FutureSplitMerge;', {
    merge_utime: uint32,
    interval: uint32,
  }),
]);
export type FutureSplitMerge = ValueOf<typeof FutureSplitMerge>;

/** The anonymous cell of `shard_descr_new`, a separate type because proofs may prune it. */
export const ShardDescrFees = record(
  '_ fees_collected:CurrencyCollection funds_created:CurrencyCollection = ShardDescrFees;',
  { fees_collected: CurrencyCollection, funds_created: CurrencyCollection },
);
export type ShardDescrFees = ValueOf<typeof ShardDescrFees>;

const common = {
  seq_no: uint32,
  reg_mc_seqno: uint32,
  start_lt: uint64,
  end_lt: uint64,
  root_hash: bits256,
  file_hash: bits256,
  before_split: bool,
  before_merge: bool,
  want_split: bool,
  want_merge: bool,
  nx_cc_updated: bool,
  flags: constrained(uint(3), 'flags = 0', (flags) => flags === 0),
  next_catchain_seqno: uint32,
  next_validator_shard: uint64,
  min_ref_mc_seqno: uint32,
  gen_utime: uint32,
  split_merge_at: FutureSplitMerge,
} as const;

/**
 * The newest block of a shard that the masterchain has committed. The path in the tree identifies the shard; see
 * {@link shardDescrs}. Today only the first entry of a new workchain is a `shard_descr`. For fees see {@link shardDescrFees}.
 */
export const ShardDescr = union('ShardDescr', [
  variant(
    `shard_descr#b seq_no:uint32 reg_mc_seqno:uint32 start_lt:uint64 end_lt:uint64 root_hash:bits256 file_hash:bits256
      before_split:Bool before_merge:Bool want_split:Bool want_merge:Bool nx_cc_updated:Bool flags:(## 3) { flags = 0 }
      next_catchain_seqno:uint32 next_validator_shard:uint64 min_ref_mc_seqno:uint32 gen_utime:uint32
      split_merge_at:FutureSplitMerge fees_collected:CurrencyCollection funds_created:CurrencyCollection = ShardDescr;`,
    { ...common, fees_collected: CurrencyCollection, funds_created: CurrencyCollection },
  ),
  variant(
    `shard_descr_new#a seq_no:uint32 reg_mc_seqno:uint32 start_lt:uint64 end_lt:uint64 root_hash:bits256 file_hash:bits256
      before_split:Bool before_merge:Bool want_split:Bool want_merge:Bool nx_cc_updated:Bool flags:(## 3) { flags = 0 }
      next_catchain_seqno:uint32 next_validator_shard:uint64 min_ref_mc_seqno:uint32 gen_utime:uint32
      split_merge_at:FutureSplitMerge fees:^ShardDescrFees = ShardDescr;`,
    { ...common, fees: ref(ShardDescrFees) },
  ),
]);
export type ShardDescr = ValueOf<typeof ShardDescr>;

/** Fees collected and coins created by a shard's blocks since the previously committed one, for either constructor. */
export function shardDescrFees(descr: ShardDescr): ShardDescrFees {
  return descr.kind === 'shard_descr' ? descr : descr.fees.value;
}

/** The shards of one workchain, the path from the root to a leaf being the shard's prefix. */
export type ShardTree = BinTree<ShardDescr>;
export const ShardTree: Codec<ShardTree> = binTree(ShardDescr);

/** `_ (HashmapE 32 ^(BinTree ShardDescr)) = ShardHashes;` — the shards by workchain. */
export const ShardHashes = hashmapE(intKey(32), ref(ShardTree));
export type ShardHashes = Dictionary<number, Lazy<ShardTree>>;

/** A shard and its newest committed block. */
export interface ShardEntry {
  readonly workchain: number;
  /** uint64 with the tag bit. */
  readonly shard: bigint;
  readonly descr: ShardDescr;
}

/** All shards of all workchains, those of a workchain from left to right. @throws cells/pruned-branch, tlb/shard-depth */
export function* shardDescrs(hashes: ShardHashes): Generator<ShardEntry> {
  for (const [workchain, tree] of hashes) yield* shardLeaves(workchain, tree.value);
}

/** All shards in one workchain's tree. @throws cells/pruned-branch, tlb/shard-depth */
export function* shardLeaves(workchain: number, root: ShardTree): Generator<ShardEntry> {
  const stack: { readonly tree: ShardTree; readonly shard: bigint }[] = [{ tree: root, shard: WHOLE_WORKCHAIN }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { tree, shard } = next;
    if (tree.kind === 'bt_leaf') {
      yield { workchain, shard, descr: tree.leaf };
    } else {
      const half = halfTag(shard);
      stack.push({ tree: tree.right.value, shard: shard | half });
      stack.push({ tree: tree.left.value, shard: (shard ^ (half << 1n)) | half });
    }
  }
}

/**
 * The shard that contains an account, or `null` when there is no such workchain. Walks one path, so the others may be
 * pruned.
 *
 * @param prefix the first 64 bits of the account id, or a shard id: then the shard that contains its first account
 */
export function findShard(hashes: ShardHashes, workchain: number, prefix: bigint): ShardEntry | null {
  let tree = hashes.get(workchain)?.value;
  if (tree === undefined) return null;
  let shard = WHOLE_WORKCHAIN;
  while (tree.kind === 'bt_fork') {
    const half = halfTag(shard);
    const right: boolean = (prefix & (half << 1n)) !== 0n;
    shard = right ? shard | half : (shard ^ (half << 1n)) | half;
    tree = (right ? tree.right : tree.left).value;
  }
  return { workchain, shard, descr: tree.leaf };
}

/** Half the tag bit of a shard: the tag of its halves. */
function halfTag(shard: bigint): bigint {
  const half = (shard & -shard) >> 1n;
  if (half < 1n << BigInt(63 - MAX_SHARD_PREFIX)) throw tlbErrors['shard-depth']({ limit: MAX_SHARD_PREFIX });
  return half;
}

const int32Key = intKey(32);
const uint64Key = bigUintKey(64);

/** A workchain, and a shard in it as uint64 with the tag bit. */
export interface ShardKey {
  readonly workchain: number;
  readonly shard: bigint;
}

/** Keys of 96 bits: workchain int32, shard uint64. */
export const shardKey: KeyCodec<ShardKey> = {
  bits: 96,
  encode: ({ workchain, shard }) => concatBytes(int32Key.encode(workchain), uint64Key.encode(shard)),
  decode: (bytes) => ({ workchain: int32At(bytes, 0), shard: uint64At(bytes, 4) }),
};

/** Fees collected and coins created by the shard blocks that a masterchain block commits. */
export const ShardFeeCreated = record('_ fees:CurrencyCollection create:CurrencyCollection = ShardFeeCreated;', {
  fees: CurrencyCollection,
  create: CurrencyCollection,
});
export type ShardFeeCreated = ValueOf<typeof ShardFeeCreated>;

/**
 * `_ (HashmapAugE 96 ShardFeeCreated ShardFeeCreated) = ShardFees;`
 * By shard; the extra of a node is the sum.
 */
export const ShardFees = hashmapAugE(shardKey, ShardFeeCreated, ShardFeeCreated, {
  empty: { fees: NO_CURRENCY, create: NO_CURRENCY },
  leaf: (value) => value,
  combine: (left, right) => ({
    fees: addCurrency(left.fees, right.fees),
    create: addCurrency(left.create, right.create),
  }),
});
export type ShardFees = AugmentedDictionary<ShardKey, ShardFeeCreated, ShardFeeCreated>;
