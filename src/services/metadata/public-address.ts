import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Ranges of IPv4 that are not of the internet, or not of servers (IANA special-purpose registry, RFC 6890, and clouds). */
const NOT_PUBLIC: readonly (readonly [range: string, bits: number, what: string])[] = [
  ['0.0.0.0', 8, 'is of this network itself'],
  ['10.0.0.0', 8, 'is private'],
  ['100.64.0.0', 10, 'is shared behind a provider'],
  ['127.0.0.0', 8, 'is this machine'],
  // Metadata of clouds is at 169.254.169.254 and others of this range.
  ['169.254.0.0', 16, 'is of the local link'],
  ['172.16.0.0', 12, 'is private'],
  ['192.0.0.0', 24, 'is reserved'],
  ['192.0.2.0', 24, 'is for documentation'],
  ['192.31.196.0', 24, 'is reserved'],
  ['192.52.193.0', 24, 'is reserved'],
  ['192.88.99.0', 24, 'is a relay to IPv6'],
  ['192.168.0.0', 16, 'is private'],
  ['192.175.48.0', 24, 'is reserved'],
  ['198.18.0.0', 15, 'is for benchmarks'],
  ['198.51.100.0', 24, 'is for documentation'],
  ['203.0.113.0', 24, 'is for documentation'],
  ['224.0.0.0', 4, 'is of many machines'],
  ['240.0.0.0', 4, 'is reserved'],
  // Public by number, but machines in Azure reach their host there.
  ['168.63.129.16', 32, 'is a metadata service'],
];

/** What is allocated of IPv6. All else (loopback, local link, unique local, multicast, …) is refused. */
const GLOBAL_UNICAST = { range: '2000::', bits: 3 } as const;

/** Ranges in there that are not of servers; addresses that hold one of IPv4 are among them (6to4, Teredo). */
const NOT_PUBLIC_6: readonly (readonly [range: string, bits: number, what: string])[] = [
  ['2001::', 23, 'is of a protocol, such as Teredo'],
  ['2001:db8::', 32, 'is for documentation'],
  ['2002::', 16, 'is one of 6to4'],
  ['2620:4f:8000::', 48, 'is reserved'],
  ['3fff::', 20, 'is for documentation'],
  ['3ffe::', 16, 'is reserved'],
];

interface Rule {
  readonly list: BlockList;
  readonly what: string;
}

const rules4 = NOT_PUBLIC.map(([range, bits, what]) => rule(range, bits, 'ipv4', what));
const rules6 = NOT_PUBLIC_6.map(([range, bits, what]) => rule(range, bits, 'ipv6', what));
const globalUnicast = rule(GLOBAL_UNICAST.range, GLOBAL_UNICAST.bits, 'ipv6', '').list;

/**
 * Why an address must not be connected to; null for one of the internet. In addresses of IPv6 that stand for one of IPv4
 * (mapped, NAT64) that one counts.
 *
 * @param address as text, in any form; what is none is refused
 */
export function addressRefusal(address: string): string | null {
  if (isIPv4(address)) return rules4.find(({ list }) => list.check(address, 'ipv4'))?.what ?? null;
  // Zones are of links of this machine.
  if (!isIPv6(address) || address.includes('%')) return 'is no address';
  const groups = groupsOf(address);
  const embedded = embeddedAddress(groups);
  if (embedded !== null) return addressRefusal(embedded);
  if (!globalUnicast.check(address, 'ipv6')) return 'is not of the internet';
  return rules6.find(({ list }) => list.check(address, 'ipv6'))?.what ?? null;
}

/** Why an address is not to be connected to, because it is one of this machine; null for one that is not. */
export function ownAddressRefusal(address: string): string | null {
  for (const each of Object.values(networkInterfaces()).flat()) {
    if (each === undefined) continue;
    const own = new BlockList();
    own.addAddress(each.address.replace(/%.*/, ''), each.family === 'IPv4' ? 'ipv4' : 'ipv6');
    if (own.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')) return 'is this machine';
  }
  return null;
}

/** The address of IPv4 that is meant: `::ffff:a.b.c.d` (RFC 4291), `64:ff9b::a.b.c.d` (RFC 6052). */
function embeddedAddress(groups: readonly number[]): string | null {
  const [prefix, low] = [groups.slice(0, 6).join(), groups.slice(6)];
  const isMapped = prefix === [0, 0, 0, 0, 0, 0xffff].join();
  const isNat64 = prefix === [0x64, 0xff9b, 0, 0, 0, 0].join();
  return isMapped || isNat64 ? low.flatMap((group) => [group >> 8, group & 0xff]).join('.') : null;
}

/** The eight groups of an address. */
function groupsOf(address: string): number[] {
  // The parser of URLs writes the shortest form, without dots.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before, after] = text.split('::') as [string, string | undefined];
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [read(before), read(after ?? '')];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function rule(range: string, bits: number, family: 'ipv4' | 'ipv6', what: string): Rule {
  const list = new BlockList();
  list.addSubnet(range, bits, family);
  return { list, what };
}
