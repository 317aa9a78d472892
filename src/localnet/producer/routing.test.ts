import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { contains, interpolate, nextHop, type RoutingPrefix, routingPrefix } from '#localnet/producer/routing.js';

const at = (prefix: bigint, workchain = 0): RoutingPrefix => ({ workchain, prefix });
const shard = (id: bigint, workchain = 0) => ({ workchain, shard: id });

/** All hops of a message from the shard of its sender on, among shards of equal size. */
function hops(from: RoutingPrefix, dest: RoutingPrefix, prefixBits: number): string[] {
  const tag = 1n << BigInt(63 - prefixBits);
  const shardAt = ({ prefix }: RoutingPrefix) => shard((prefix & ~(2n * tag - 1n)) | tag);
  const way: string[] = [];
  for (let place = from; ; ) {
    const here = shardAt(place);
    way.push(here.shard.toString(16).padStart(16, '0'));
    if (contains(here, dest)) return way;
    place = interpolate(place, dest, nextHop(place, dest, here).next);
  }
}

describe('nextHop', () => {
  it.each([
    ['stays in its shard', at(0x11n << 56n), at(0x7fn << 56n), shard(0x4000000000000000n), { current: 96, next: 96 }],
    ['goes to the sibling', at(0x11n << 56n), at(0x9fn << 56n), shard(0x4000000000000000n), { current: 32, next: 36 }],
    ['goes to the masterchain', at(1n), at(2n, -1), shard(1n << 63n), { current: 0, next: 96 }],
    ['comes from the masterchain', at(1n, -1), at(2n), shard(1n << 63n, -1), { current: 0, next: 96 }],
    ['goes to another workchain', at(1n), at(2n, 1), shard(1n << 63n), { current: 0, next: 32 }],
    [
      'goes on in the second four bits when the first are the same',
      at(0x11n << 56n),
      at(0x1fn << 56n),
      shard(0x1100000000000000n),
      { current: 36, next: 40 },
    ],
  ])('%s', (_, from, dest, here, route) => {
    expect(nextHop(from, dest, here)).toEqual(route);
  });

  it('arrives after one hop for each four bits that differ', () => {
    expect(hops(at(0x1234n << 48n), at(0xa2c4n << 48n), 4)).toEqual(['1800000000000000', 'a800000000000000']);
    expect(hops(at(0x1234n << 48n), at(0xa2c4n << 48n), 12)).toEqual([
      '1238000000000000',
      'a238000000000000',
      'a2c8000000000000',
    ]);
    expect(hops(at(0x1234n << 48n), at(0xa2c4n << 48n), 0)).toEqual(['8000000000000000']);
  });
});

describe('interpolate', () => {
  it('takes the first bits from the destination', () => {
    const from = at(0x1111111111111111n, -1);
    const dest = at(0xeeeeeeeeeeeeeeeen, 0);
    expect(interpolate(from, dest, 0)).toEqual(from);
    expect(interpolate(from, dest, 96)).toEqual(dest);
    expect(interpolate(from, dest, 32)).toEqual(at(0x1111111111111111n, 0));
    expect(interpolate(from, dest, 37)).toEqual(at(0xe911111111111111n, 0));
    expect(interpolate(from, dest, 8)).toEqual(at(0x1111111111111111n, 0x00ffffff));
  });
});

describe('routingPrefix', () => {
  it('is the first 64 bits of the id, rewritten by an anycast prefix', () => {
    const hash = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
    expect(routingPrefix(Address.ofParts(0, hash))).toEqual(at(0x0102030405060708n));
    const anycast = { depth: 4, rewrite_pfx: { bytes: Uint8Array.of(0xf0), length: 4 } };
    const address = { kind: 'addr_std', anycast, workchain_id: 0, address: hash } as unknown as Address;
    expect(routingPrefix(address)).toEqual(at(0xf102030405060708n));
  });
});
