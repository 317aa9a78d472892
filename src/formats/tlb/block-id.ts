import { type Codec, ref, type ValueOf } from '#formats/tlb/codec/codec.js';
import { bits256, bool, constrained, int32, uint, uint32, uint64 } from '#formats/tlb/codec/primitives.js';
import { dependent, record, variant } from '#formats/tlb/codec/record.js';
import { tlbErrors } from '#formats/tlb/errors.js';

/** Maximum length of a shard prefix in bits. */
export const MAX_SHARD_PREFIX = 60;

/** The masterchain's workchain number. */
export const MASTERCHAIN = -1;

/** The shard that is a whole workchain: the tag bit alone. */
export const WHOLE_WORKCHAIN = 1n << 63n;

/**
 * `uint64` without bits after the first `i + 1`, for each prefix length `i`. Bit `i + 1`, where a shard id has its tag, is
 * zero except in some old states (such as the zerostate of the mainnet basechain).
 */
const PREFIXES: readonly Codec<bigint>[] = Array.from({ length: MAX_SHARD_PREFIX + 1 }, (_, bits) =>
  constrained(
    uint64,
    `no bit set after the first ${bits + 1}`,
    (prefix) => (prefix & ((1n << BigInt(63 - bits)) - 1n)) === 0n,
  ),
);

/**
 * A shard: the accounts of a workchain whose ids start with the first `shard_pfx_bits` bits of `shard_prefix`.
 * {@link shardOf} returns the usual shard id, with a tag bit after the prefix.
 */
export const ShardIdent = record(
  'shard_ident$00 shard_pfx_bits:(#<= 60) workchain_id:int32 shard_prefix:uint64 = ShardIdent;',
  {
    shard_pfx_bits: constrained(uint(6), 'shard_pfx_bits <= 60', (bits) => bits <= MAX_SHARD_PREFIX),
    workchain_id: int32,
    shard_prefix: dependent('shard_pfx_bits', (bits: number) => PREFIXES[bits] as Codec<bigint>),
  },
);
export type ShardIdent = ValueOf<typeof ShardIdent>;

/** The shard id: uint64, the prefix, a 1 bit (the tag), zeros. `0x8000000000000000` is the whole workchain. */
export function shardOf(ident: ShardIdent): bigint {
  return ident.shard_prefix | (1n << BigInt(63 - ident.shard_pfx_bits));
}

/** The inverse of {@link shardOf}. @throws tlb/shard-id */
export function shardIdent(workchain: number, shard: bigint): ShardIdent {
  const tag = tagOf(shard);
  return { shard_pfx_bits: shardPrefixLength(shard), workchain_id: workchain, shard_prefix: shard ^ tag };
}

/** Number of bits before the tag bit. @throws tlb/shard-id */
export function shardPrefixLength(shard: bigint): number {
  return 64 - tagOf(shard).toString(2).length;
}

/** Whether an account belongs to the shard; `prefix` is the first 64 bits of its id. @throws tlb/shard-id */
export function shardContains(shard: bigint, prefix: bigint): boolean {
  const tag = tagOf(shard);
  return ((shard ^ prefix) & -(tag << 1n) & MAX_UINT64) === 0n;
}

/** Whether `ancestor` is the same shard as `shard` or an ancestor of it. @throws tlb/shard-id */
export function isShardAncestor(ancestor: bigint, shard: bigint): boolean {
  return tagOf(ancestor) >= tagOf(shard) && shardContains(ancestor, shard);
}

/** Whether two shards share accounts: they are equal, or one is an ancestor of the other. @throws tlb/shard-id */
export function shardsIntersect(a: bigint, b: bigint): boolean {
  return isShardAncestor(a, b) || isShardAncestor(b, a);
}

/** The parent shard. @throws tlb/shard-id for a whole workchain */
export function shardParent(shard: bigint): bigint {
  const tag = tagOf(shard);
  if (tag === WHOLE_WORKCHAIN) throw tlbErrors['shard-id']({ shard: shardHex(shard), problem: 'has no parent' });
  return (shard ^ tag) | (tag << 1n);
}

/** The left and right child of a shard: accounts with a 0 or a 1 after its prefix. @throws tlb/shard-id when it cannot be split */
export function shardChildren(shard: bigint): readonly [bigint, bigint] {
  const tag = tagOf(shard);
  if (shardPrefixLength(shard) === MAX_SHARD_PREFIX)
    throw tlbErrors['shard-id']({ shard: shardHex(shard), problem: 'cannot be split further' });
  return [(shard ^ tag) | (tag >> 1n), shard | (tag >> 1n)];
}

/** The sibling shard: the other child of its parent. @throws tlb/shard-id for a whole workchain */
export function shardSibling(shard: bigint): bigint {
  shardParent(shard);
  return shard ^ (tagOf(shard) << 1n);
}

/** The first 64 bits of an account id, which determine its shard. */
export function accountPrefix(accountId: Uint8Array): bigint {
  let high = 0;
  let low = 0;
  for (let i = 0; i < 4; i++) {
    high = high * 256 + (accountId[i] ?? 0);
    low = low * 256 + (accountId[i + 4] ?? 0);
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

/** The account id before the first one of a shard (null: that is the first of all), and the last one. */
export function accountIdsOf(shard: bigint): { readonly before: Uint8Array | null; readonly last: Uint8Array } {
  const tag = tagOf(shard);
  const first = shard ^ tag;
  const before = new Uint8Array(32).fill(0xff);
  const last = new Uint8Array(32).fill(0xff);
  new DataView(last.buffer).setBigUint64(0, shard | (tag - 1n));
  if (first === 0n) return { before: null, last };
  new DataView(before.buffer).setBigUint64(0, first - 1n);
  return { before, last };
}

/** A shard id as 16 hex digits. */
export function shardHex(shard: bigint): string {
  return shard.toString(16).padStart(16, '0');
}

const MAX_UINT64 = (1n << 64n) - 1n;

/** The lowest set bit. */
function tagOf(shard: bigint): bigint {
  const tag = shard & -shard;
  if (shard <= 0n || shard > MAX_UINT64 || tag < 1n << BigInt(63 - MAX_SHARD_PREFIX))
    throw tlbErrors['shard-id']({
      shard: shard.toString(16),
      problem: 'is not a 64-bit shard id whose last 1 bit is among the first 61',
    });
  return tag;
}

/** A reference to a block of a shard known from the context. */
export const ExtBlkRef = record(
  'ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash:bits256 file_hash:bits256 = ExtBlkRef;',
  { end_lt: uint64, seq_no: uint32, root_hash: bits256, file_hash: bits256 },
);
export type ExtBlkRef = ValueOf<typeof ExtBlkRef>;

/** A block's full identity. */
export const BlockIdExt = record(
  'block_id_ext$_ shard_id:ShardIdent seq_no:uint32 root_hash:bits256 file_hash:bits256 = BlockIdExt;',
  { shard_id: ShardIdent, seq_no: uint32, root_hash: bits256, file_hash: bits256 },
);
export type BlockIdExt = ValueOf<typeof BlockIdExt>;

/** The masterchain block that a shard block or state was created on. */
export const BlkMasterInfo = record('master_info$_ master:ExtBlkRef = BlkMasterInfo;', { master: ExtBlkRef });
export type BlkMasterInfo = ValueOf<typeof BlkMasterInfo>;

/** `BlkPrevInfo 0`: the one previous block. */
export const PrevBlkInfo = variant('prev_blk_info$_ prev:ExtBlkRef = BlkPrevInfo 0;', { prev: ExtBlkRef });
export type PrevBlkInfo = ValueOf<typeof PrevBlkInfo>;

/** `BlkPrevInfo 1`: after a merge, the last blocks of the left and the right shard. */
export const PrevBlksInfo = variant('prev_blks_info$_ prev1:^ExtBlkRef prev2:^ExtBlkRef = BlkPrevInfo 1;', {
  prev1: ref(ExtBlkRef),
  prev2: ref(ExtBlkRef),
});
export type PrevBlksInfo = ValueOf<typeof PrevBlksInfo>;

export type BlkPrevInfo = PrevBlkInfo | PrevBlksInfo;

/** The codec of `BlkPrevInfo after_merge`; the flag is a field of the block header. */
export function blkPrevInfo(afterMerge: boolean): Codec<BlkPrevInfo> {
  return (afterMerge ? PrevBlksInfo : PrevBlkInfo) as Codec<BlkPrevInfo>;
}

/** The previous block, or the two after a merge, left one first. */
export function previousBlocks(info: BlkPrevInfo): readonly ExtBlkRef[] {
  return info.kind === 'prev_blk_info' ? [info.prev] : [info.prev1.value, info.prev2.value];
}

/** A masterchain block, and whether it is a key block. */
export const KeyExtBlkRef = record('_ key:Bool blk_ref:ExtBlkRef = KeyExtBlkRef;', { key: bool, blk_ref: ExtBlkRef });
export type KeyExtBlkRef = ValueOf<typeof KeyExtBlkRef>;

/** For a set of masterchain blocks: whether one is a key block, and the greatest end lt. */
export const KeyMaxLt = record('_ key:Bool max_end_lt:uint64 = KeyMaxLt;', { key: bool, max_end_lt: uint64 });
export type KeyMaxLt = ValueOf<typeof KeyMaxLt>;
