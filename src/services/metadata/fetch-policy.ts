import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { metadataErrors } from '#services/metadata/errors.js';

/** Where a connection goes. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Decides where connections go. */
export interface FetchPolicy {
  /**
   * The addresses to connect to for a URL, and only to these.
   *
   * @throws metadata/port, metadata/host, metadata/address, metadata/unresolved
   */
  addressesOf(url: URL, signal: AbortSignal): Promise<readonly HostAddress[]>;
}

/** Finds all addresses of a name. Throws what `node:dns` throws. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly HostAddress[]>;

export interface PublicPolicyOptions {
  readonly resolve: Resolve;
  /** Default: those of the web. */
  readonly ports?: ReadonlySet<number> | 'any';
}

/** A link to any other port would make this service ask whatever listens anywhere. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/** Names that mean something only inside of a network (RFC 6761, 6762, 8375, 9476, and what clouds and clusters use). */
const INSIDE =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|alt|invalid|test|consul|cluster\.local)$/;

/** Names in answers of name servers. */
const MAX_ADDRESSES = 64;

/**
 * Lets connections go to public servers only: every address that a name has is looked at, and one that is not of the internet
 * refuses them all. Whoever connects uses the addresses that were looked at: a name is not resolved twice.
 */
export function publicAddressPolicy({ resolve, ports = WEB_PORTS }: PublicPolicyOptions): FetchPolicy {
  return {
    async addressesOf(url, signal) {
      const port = portOf(url);
      if (ports !== 'any' && !ports.has(port)) throw metadataErrors.port({ port, accepted: [...ports].join(', ') });
      const host = hostOf(url);
      const family = isIP(host);
      const addresses =
        family !== 0 ? [{ address: host, family: family as 4 | 6 }] : await named(host, resolve, signal);
      for (const { address } of addresses) {
        const problem = addressRefusal(address) ?? ownAddressRefusal(address);
        if (problem !== null) throw metadataErrors.address({ host, address, problem });
      }
      return addresses;
    },
  };
}

/** Connections to wherever a name leads, as this machine has it: for a server that whoever runs the service has named. */
export const trustedHostPolicy: FetchPolicy = {
  addressesOf: (url, signal) => found(hostOf(url), lookUp, signal),
};

const lookUp: Resolve = async (name) => (await lookup(name, { all: true })) as HostAddress[];

/**
 * Asks the name servers that the system names, for both families. The list of hosts and search domains of this machine do not
 * count, and a name server that is slow holds up nothing else in this process.
 */
export const resolveByDns: Resolve = async (name, signal) => {
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

/** The host of a URL as it is resolved and told: an address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

async function named(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly HostAddress[]> {
  if (host === '' || host.length > 253)
    throw metadataErrors.host({ host: host.slice(0, 60), problem: 'it is no name' });
  if (!host.includes('.')) throw metadataErrors.host({ host, problem: 'it is a name without a domain' });
  if (INSIDE.test(host))
    throw metadataErrors.host({ host, problem: 'such names are those of machines inside of a network' });
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host)) throw metadataErrors.host({ host, problem: 'it is no name' });
  return found(host, resolve, signal);
}

async function found(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly HostAddress[]> {
  let addresses: readonly HostAddress[];
  try {
    addresses = await unlessAborted(resolve(host, signal), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw metadataErrors.unresolved({ host, problem: (error as NodeJS.ErrnoException).code ?? String(error) }, error);
  }
  if (addresses.length === 0) throw metadataErrors.unresolved({ host, problem: 'its name servers know none' });
  if (addresses.length > MAX_ADDRESSES) {
    throw metadataErrors.unresolved({ host, problem: `its name servers tell of ${addresses.length}` });
  }
  return addresses;
}

/** Some resolvers cannot be told to stop. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(done, fail).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

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
