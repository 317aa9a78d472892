import { Address } from '#formats/address/address.js';
import { copyBits } from '#formats/cells/dict-label.js';
import type { Shard } from '#formats/proofs/block-id.js';
import { accountPrefix, MASTERCHAIN, shardContains } from '#formats/tlb/block-id.js';
import type { IntermediateAddress } from '#formats/tlb/block-messages.js';
import type { MsgAddressInt } from '#formats/tlb/msg-address.js';

/** A place on a message's route: workchain and the first 64 bits of an account id, 96 bits in all. */
export interface RoutingPrefix {
  readonly workchain: number;
  readonly prefix: bigint;
}

/** All bits of a {@link RoutingPrefix}: the message is at its destination. */
export const ARRIVED = 96;

const WORKCHAIN_BITS = 32;
const ALL = (1n << 64n) - 1n;

/** Bits per hop of hypercube routing. */
const HOP_BITS = 4;

export function routingPrefix(address: MsgAddressInt): RoutingPrefix {
  if (address instanceof Address) return { workchain: address.workchain, prefix: accountPrefix(address.hash) };
  const id = new Uint8Array(8);
  const { anycast, workchain_id } = address;
  if (address.kind === 'addr_std') id.set(address.address.subarray(0, 8));
  else copyBits(id, 0, address.address.bytes, 0, Math.min(64, address.address.length));
  if (anycast !== null) copyBits(id, 0, anycast.rewrite_pfx.bytes, 0, anycast.depth);
  return { workchain: workchain_id, prefix: accountPrefix(id) };
}

/** The place with the first `bits` of 96 bits from the destination, and the others from the source. */
export function interpolate(src: RoutingPrefix, dest: RoutingPrefix, bits: number): RoutingPrefix {
  if (bits <= 0) return src;
  if (bits >= ARRIVED) return dest;
  if (bits >= WORKCHAIN_BITS) {
    const mask = ALL >> BigInt(bits - WORKCHAIN_BITS);
    return { workchain: dest.workchain, prefix: (dest.prefix & ~mask & ALL) | (src.prefix & mask) };
  }
  const mask = -1 >>> bits;
  return { workchain: (dest.workchain & ~mask) | (src.workchain & mask), prefix: src.prefix };
}

/** The place of an {@link IntermediateAddress} on the route from `src` to `dest`. */
export function intermediatePrefix(at: IntermediateAddress, src: RoutingPrefix, dest: RoutingPrefix): RoutingPrefix {
  if (at.kind === 'interm_addr_regular') return interpolate(src, dest, at.use_dest_bits);
  return { workchain: at.workchain_id, prefix: at.addr_pfx };
}

export function contains(shard: Shard, place: RoutingPrefix): boolean {
  return shard.workchain === place.workchain && shardContains(shard.shard, place.prefix);
}

/** How many bits of the destination the current and the next hop have. */
export interface Route {
  readonly current: number;
  readonly next: number;
}

/**
 * The next hop of a message at `from` in `shard`: the destination itself if it is in this shard, or if one of both is
 * in the masterchain; otherwise another workchain first; otherwise the next four bits of the destination that lead out
 * of this shard.
 */
export function nextHop(from: RoutingPrefix, dest: RoutingPrefix, shard: Shard): Route {
  if (contains(shard, dest)) return { current: ARRIVED, next: ARRIVED };
  if (from.workchain === MASTERCHAIN || dest.workchain === MASTERCHAIN) return { current: 0, next: ARRIVED };
  if (from.workchain !== dest.workchain) return { current: 0, next: WORKCHAIN_BITS };
  const difference = from.prefix ^ dest.prefix;
  let bits = (64 - difference.toString(2).length) & -HOP_BITS;
  for (;;) {
    bits += HOP_BITS;
    const mask = ALL >> BigInt(bits);
    if (!shardContains(shard.shard, from.prefix ^ (difference & ~mask & ALL))) break;
  }
  return { current: WORKCHAIN_BITS + bits - HOP_BITS, next: WORKCHAIN_BITS + bits };
}
