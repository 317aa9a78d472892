import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { webErrors } from '#drivers/web/errors.js';

/** An IP address that a connection goes to. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Decides where connections may go. */
export interface TargetPolicy {
  /**
   * The addresses to connect to for a URL, and only to these.
   *
   * @throws web/port, web/host, web/address, web/unresolved, and the reason of `signal`
   */
  addressesOf(url: URL, signal: AbortSignal): Promise<readonly HostAddress[]>;
}

/** Finds all addresses of a host name. Rejects with what `node:dns` throws. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly HostAddress[]>;

export interface TargetPolicyOptions {
  /**
   * Whether any host, address and port is allowed: private networks, this machine, names of its hosts file. Only for URLs that
   * come from whoever operates the service.
   */
  readonly allowPrivateNetworks?: boolean;
  /** Default: {@link resolveByDns}; with private networks the resolver of the operating system. */
  readonly resolve?: Resolve;
  /** Default: {@link WEB_PORTS}; with private networks any. */
  readonly ports?: ReadonlySet<number> | 'any';
}

/** A request to another port could reach any service that listens there. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/** Names that mean something only within a network (RFC 6761, 6762, 8375, 9476, and those of clouds and clusters). */
const PRIVATE_NAMES =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|alt|invalid|test|consul|cluster\.local)$/;

/** Most addresses of one host name. */
const MAX_ADDRESSES = 64;

/**
 * Allows connections to public servers only, unless private networks are allowed: every address of a name is checked, and one
 * that is not public refuses the name. The caller connects to the returned addresses and does not resolve the name again.
 */
export function targetPolicy(options: TargetPolicyOptions = {}): TargetPolicy {
  const { allowPrivateNetworks = false } = options;
  const { resolve = allowPrivateNetworks ? resolveByOs : resolveByDns } = options;
  const { ports = allowPrivateNetworks ? 'any' : WEB_PORTS } = options;
  return {
    async addressesOf(url, signal) {
      const port = portOf(url);
      if (ports !== 'any' && !ports.has(port)) throw webErrors.port({ port, accepted: [...ports].join(', ') });
      const host = hostOf(url);
      const family = isIP(host);
      if (family === 0 && !allowPrivateNetworks) requirePublicName(host);
      const addresses =
        family !== 0 ? [{ address: host, family: family as 4 | 6 }] : await resolved(host, resolve, signal);
      if (allowPrivateNetworks) return addresses;
      for (const { address } of addresses) {
        const problem = addressRefusal(address) ?? ownAddressRefusal(address);
        if (problem !== null) throw webErrors.address({ host, address, problem });
      }
      return addresses;
    },
  };
}

const resolveByOs: Resolve = async (name) => (await lookup(name, { all: true })) as HostAddress[];

/**
 * Queries the name servers of the system configuration, for IPv4 and IPv6. The hosts file and search domains of this machine do
 * not count, and a slow name server blocks no other lookup of this process.
 */
const resolveByDns: Resolve = async (name, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 }) as const)
        : [],
    );
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (found.length === 0 && failed !== undefined) throw failed.reason;
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/** The host of a URL as it is resolved: a name, or an IP address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** @throws web/host */
function requirePublicName(host: string): void {
  if (host === '' || host.length > 253) throw webErrors.host({ host: host.slice(0, 60), problem: 'it is not a name' });
  if (!host.includes('.')) throw webErrors.host({ host, problem: 'it is a name without a domain' });
  if (PRIVATE_NAMES.test(host)) throw webErrors.host({ host, problem: 'it is a name of a private network' });
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host)) throw webErrors.host({ host, problem: 'it is not a name' });
}

async function resolved(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly HostAddress[]> {
  let addresses: readonly HostAddress[];
  try {
    addresses = await unlessAborted(resolve(host, signal), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw webErrors.unresolved({ host, problem: (error as NodeJS.ErrnoException).code ?? String(error) }, error);
  }
  if (addresses.length === 0) throw webErrors.unresolved({ host, problem: 'its name servers know no address' });
  if (addresses.length > MAX_ADDRESSES) {
    throw webErrors.unresolved({ host, problem: `its name servers return ${addresses.length} addresses` });
  }
  return addresses;
}

/** For resolvers that cannot be cancelled. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(done, fail).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Ranges of IPv4 that are not public, or not of servers (IANA special-purpose registry, RFC 6890, and those of clouds). */
const NOT_PUBLIC: readonly (readonly [range: string, bits: number, what: string])[] = [
  ['0.0.0.0', 8, 'is of this network itself'],
  ['10.0.0.0', 8, 'is private'],
  ['100.64.0.0', 10, 'is shared behind a provider'],
  ['127.0.0.0', 8, 'is this machine'],
  // Cloud metadata services are at 169.254.169.254 and other addresses of this range.
  ['169.254.0.0', 16, 'is link-local'],
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
  ['224.0.0.0', 4, 'is multicast'],
  ['240.0.0.0', 4, 'is reserved'],
  // Public by number, but machines in Azure reach their host there.
  ['168.63.129.16', 32, 'is a metadata service'],
];

/** The allocated unicast range of IPv6. All else (loopback, link-local, unique local, multicast, …) is refused. */
const GLOBAL_UNICAST = { range: '2000::', bits: 3 } as const;

/** Ranges in there that are not of servers, among them those that embed an IPv4 address (6to4, Teredo). */
const NOT_PUBLIC_6: readonly (readonly [range: string, bits: number, what: string])[] = [
  ['2001::', 23, 'is of a protocol, such as Teredo'],
  ['2001:db8::', 32, 'is for documentation'],
  ['2002::', 16, 'is a 6to4 address'],
  ['2620:4f:8000::', 48, 'is reserved'],
  ['3fff::', 20, 'is for documentation'],
  ['3ffe::', 16, 'is reserved'],
];

const rules4 = NOT_PUBLIC.map(([range, bits, what]) => ({ list: subnet(range, bits, 'ipv4'), what }));
const rules6 = NOT_PUBLIC_6.map(([range, bits, what]) => ({ list: subnet(range, bits, 'ipv6'), what }));
const globalUnicast = subnet(GLOBAL_UNICAST.range, GLOBAL_UNICAST.bits, 'ipv6');

/**
 * Why an address is not public; null for a public one. For an IPv6 address that stands for an IPv4 address (IPv4-mapped, NAT64)
 * the latter decides.
 *
 * @param address as text, in any form; a text that is no address is refused
 */
export function addressRefusal(address: string): string | null {
  if (isIPv4(address)) return rules4.find(({ list }) => list.check(address, 'ipv4'))?.what ?? null;
  // Zone identifiers belong to links of this machine.
  if (!isIPv6(address) || address.includes('%')) return 'is not an IP address';
  const embedded = embeddedAddress(ipv6Groups(address));
  if (embedded !== null) return addressRefusal(embedded);
  if (!globalUnicast.check(address, 'ipv6')) return 'is not public';
  return rules6.find(({ list }) => list.check(address, 'ipv6'))?.what ?? null;
}

/** Why an address is refused: it belongs to this machine; null for one that does not. */
export function ownAddressRefusal(address: string): string | null {
  for (const each of Object.values(networkInterfaces()).flat()) {
    if (each === undefined) continue;
    const own = new BlockList();
    own.addAddress(each.address.replace(/%.*/, ''), each.family === 'IPv4' ? 'ipv4' : 'ipv6');
    if (own.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')) return 'is this machine';
  }
  return null;
}

/** The embedded IPv4 address of `::ffff:a.b.c.d` (RFC 4291) and `64:ff9b::a.b.c.d` (RFC 6052); null for other addresses. */
function embeddedAddress(groups: readonly number[]): string | null {
  const [prefix, low] = [groups.slice(0, 6).join(), groups.slice(6)];
  const isMapped = prefix === [0, 0, 0, 0, 0, 0xffff].join();
  const isNat64 = prefix === [0x64, 0xff9b, 0, 0, 0, 0].join();
  return isMapped || isNat64 ? low.flatMap((group) => [group >> 8, group & 0xff]).join('.') : null;
}

/** The eight 16-bit groups of an IPv6 address. */
function ipv6Groups(address: string): number[] {
  // The URL parser writes the shortest form, without dots.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before, after] = text.split('::') as [string, string | undefined];
  const read = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [read(before), read(after ?? '')];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function subnet(range: string, bits: number, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  list.addSubnet(range, bits, family);
  return list;
}
