import { configErrors } from '#app/config/errors.js';
import { type ForNetwork, type ListenAddress, printListenAddress } from '#app/config/listen-address.js';

/** An address to listen on, and what is served there. */
export interface Listener {
  readonly address: ListenAddress;
  /** Names of networks; the first one is for requests whose host name selects no other. Never empty. */
  readonly networks: readonly string[];
}

/** What settings say about where networks are served. */
export interface ListenerSettings {
  readonly listen: readonly ForNetwork<ListenAddress>[];
  readonly hostOf: readonly { readonly network: string; readonly host: string }[];
}

/**
 * Which networks are served on which address. An address with a name serves that network alone; one without a name serves
 * the others, told apart by host name.
 *
 * @param networks names, in the order in which they were given
 * @throws config/setting-conflict
 */
export function assignListeners(networks: readonly string[], { listen, hostOf }: ListenerSettings): Listener[] {
  const known = new Set(networks);
  for (const { network } of hostOf) requireKnown('--host-of', network, known);
  const hosts = new Map<string, string>();
  for (const { network, host } of hostOf) {
    const other = hosts.get(host) ?? network;
    if (other !== network) throw conflict(`--host-of gives ${host} to both ${other} and ${network}`);
    hosts.set(host, network);
  }
  const alone = new Set<string>();
  for (const { network } of listen) {
    if (network !== null) alone.add(requireKnown('--listen', network, known));
  }
  const hosted = new Set(hosts.values());
  const together = networks.filter((name) => !alone.has(name) || hosted.has(name));
  const [, ...others] = together;
  const lost = others.find((name) => !hosted.has(name));
  const common = listen.filter(({ network }) => network === null);
  if (common.length === 0) {
    const missing = together.find((name) => !alone.has(name));
    if (missing !== undefined) throw conflict(`${missing} is served nowhere: no --listen is for it`);
  } else if (lost !== undefined) {
    throw conflict(
      `${lost} cannot be told from ${together[0]}: give it a host name (--host-of ${lost}=HOSTNAME) or an address (--listen ${lost}=HOST:PORT)`,
    );
  } else if (together.length === 0) {
    throw conflict(
      `nothing is served on ${printListenAddress(common[0]!.value)}: each network has an address of its own`,
    );
  }
  const listeners = listen.map(({ network, value }) => ({
    address: value,
    networks: network === null ? together : [network],
  }));
  refuseTwins(listeners);
  return listeners;
}

function requireKnown(flag: string, network: string, known: ReadonlySet<string>): string {
  if (known.has(network)) return network;
  throw conflict(`${flag} names the network "${network}"; served are ${[...known].join(', ')}`);
}

function refuseTwins(listeners: readonly Listener[]): void {
  const seen = new Set<string>();
  for (const { address } of listeners) {
    const text = printListenAddress(address);
    if (address.port !== 0 && seen.has(text)) throw conflict(`--listen names ${text} twice`);
    seen.add(text);
  }
}

function conflict(problem: string) {
  return configErrors['setting-conflict']({ problem });
}
