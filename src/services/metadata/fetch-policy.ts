import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { metadataErrors } from '#services/metadata/errors.js';
import { addressRefusal, ownAddressRefusal } from '#services/metadata/public-address.js';

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
export function publicPolicy({ resolve, ports = WEB_PORTS }: PublicPolicyOptions): FetchPolicy {
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
export const trustingPolicy: FetchPolicy = {
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
