import { Address } from '#formats/address/address.js';
import type { MsgAddressInt } from '#formats/address/msg-address.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import type { IntermediateAddress } from '#formats/tlb/msg-envelope.js';
import { accountPrefix, MASTERCHAIN, shardContains, shardParent, WHOLE_WORKCHAIN } from '#formats/tlb/shard-ident.js';
import type { BitString } from '#kernel/bytes/bit-string.js';

/** What messages are routed by: workchain, and the first 64 bits of an account's id. */
export interface Prefix {
  readonly workchain: number;
  readonly prefix: bigint;
}

const BITS = 96;
const ALL = (1n << 64n) - 1n;

/** The prefix of an address; the first bits of one with an anycast are replaced. */
export function prefixOf(address: MsgAddressInt): Prefix {
  if (address instanceof Address) return { workchain: address.workchain, prefix: accountPrefix(address.hash) };
  const { workchain_id: workchain, anycast } = address;
  const own = address.kind === 'addr_std' ? accountPrefix(address.address) : firstBits(address.address);
  if (anycast === null) return { workchain, prefix: own };
  const kept = ALL >> BigInt(anycast.depth);
  return { workchain, prefix: (own & kept) | (firstBits(anycast.rewrite_pfx) & ~kept & ALL) };
}

function firstBits(bits: BitString): bigint {
  let value = 0n;
  for (let i = 0; i < 64; i++) value = (value << 1n) | BigInt(i < bits.length ? bits.at(i) : 0);
  return value;
}

export function samePrefix(a: Prefix, b: Prefix): boolean {
  return a.workchain === b.workchain && a.prefix === b.prefix;
}

/** Whether accounts with this prefix are in the shard. */
export function inShard(shard: Shard, { workchain, prefix }: Prefix): boolean {
  return shard.workchain === workchain && shardContains(shard.shard, prefix);
}

/** Whether a shard is one of the two halves of another of the same workchain. */
export function isShardHalf(shard: bigint, parent: bigint): boolean {
  return shard !== WHOLE_WORKCHAIN && shardParent(shard) === parent;
}

/**
 * The first `bits` of 96 bits (workchain, then prefix) are those of the receiver, the others those of the sender. A workchain
 * is changed as a whole.
 */
export function interpolate(src: Prefix, dest: Prefix, bits: number): Prefix {
  if (bits < 32) return src;
  if (bits >= BITS) return dest;
  const own = ALL >> BigInt(bits - 32);
  return { workchain: dest.workchain, prefix: (dest.prefix & ~own & ALL) | (src.prefix & own) };
}

/** How many of the 96 bits two places have in common, from the first one on. */
export function matchingBits(a: Prefix, b: Prefix): number {
  const workchain = Math.clz32(a.workchain ^ b.workchain);
  if (workchain < 32) return workchain;
  const difference = a.prefix ^ b.prefix;
  return difference === 0n ? BITS : BITS - difference.toString(2).length;
}

/** Where an envelope says that its message is; `null` for the forms that no node writes. */
export function placeOf(address: IntermediateAddress, src: Prefix, dest: Prefix): Prefix | null {
  return address.kind === 'interm_addr_regular' ? interpolate(src, dest, address.use_dest_bits) : null;
}

/** How far a message has come, and how far its next step leads, both in bits of the receiver's address. */
export interface Route {
  readonly cur: number;
  readonly next: number;
}

/**
 * The route of a message that is at `at` in a shard: to or from the masterchain and within a shard it goes straight; to
 * another workchain it changes that first; else each step sets the next four bits that differ (and more, until it leaves
 * the shard). `null` when it is not in the shard at all.
 */
export function hypercubeRoute(at: Prefix, dest: Prefix, shard: Shard): Route | null {
  if (!inShard(shard, at)) return null;
  if (inShard(shard, dest)) return { cur: BITS, next: BITS };
  if (isMasterchain(shard) || dest.workchain === MASTERCHAIN) return { cur: 0, next: BITS };
  if (at.workchain !== dest.workchain) return { cur: 0, next: 32 };
  let bits = (matchingBits(at, dest) - 32) & ~3;
  let hop: Prefix;
  do {
    bits += 4;
    hop = interpolate(at, dest, 32 + bits);
  } while (inShard(shard, hop));
  return { cur: 28 + bits, next: 32 + bits };
}
