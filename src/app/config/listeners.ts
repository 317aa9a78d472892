import { isIPv4, isIPv6 } from 'node:net';
import { configErrors } from '#app/config/errors.js';

/** A listening address with its networks. */
export interface Listener {
  readonly address: ListenAddress;
  /** Network names; the first is the default for unknown host names. Never empty. */
  readonly networks: readonly string[];
}

/** Settings of listening addresses. */
export interface ListenerSettings {
  readonly listen: readonly ForNetwork<ListenAddress>[];
  readonly hostOf: readonly { readonly network: string; readonly host: string }[];
}

/**
 * Assigns networks to listening addresses. An address with a name serves only that network; an address without a name serves
 * the others, selected by host name.
 *
 * @param networks names in the given order
 * @throws config/setting-conflict
 */
export function assignListeners(networks: readonly string[], { listen, hostOf }: ListenerSettings): Listener[] {
  const known = new Set(networks);
  for (const { network } of hostOf) requireKnown('--host-of', network, known);
  const hosts = new Map<string, string>();
  for (const { network, host } of hostOf) {
    const other = hosts.get(host) ?? network;
    if (other !== network) throw conflict(`--host-of assigns ${host} to both ${other} and ${network}`);
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
    if (missing !== undefined) throw conflict(`${missing} is not served: no --listen applies to it`);
  } else if (lost !== undefined) {
    throw conflict(
      `${lost} cannot be distinguished from ${together[0]}: assign a host name (--host-of ${lost}=HOSTNAME) or an address (--listen ${lost}=HOST:PORT)`,
    );
  } else if (together.length === 0) {
    throw conflict(`no network is served on ${printListenAddress(common[0]!.value)}: each network has its own address`);
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
  throw conflict(`${flag} names the network "${network}"; available: ${[...known].join(', ')}`);
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

/** Listening address of a server. */
export interface ListenAddress {
  /** Host name or address; IPv6 without brackets. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

/** A value for one network (`testnet=…`), or for all networks without a name. */
export interface ForNetwork<Value> {
  readonly network: string | null;
  readonly value: Value;
}

/** Parses `HOST:PORT`, with an IPv6 address in brackets; `undefined` when invalid. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65_535) return undefined;
  const [, ipv6, name = '', port] = match;
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined;
  if (/^[\d.]+$/.test(name) && !isIPv4(name)) return undefined;
  return { host: ipv6 ?? name, port: Number(port) };
}

/** In URL form: `127.0.0.1:8081`, `[::1]:8081`. */
function printListenAddress({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const NETWORK_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

export function isNetworkName(text: string): boolean {
  return NETWORK_NAME.test(text);
}

/** `[NAME=]VALUE` */
export function parseForNetwork<Value>(
  text: string,
  parse: (text: string) => Value | undefined,
): ForNetwork<Value> | undefined {
  const at = text.indexOf('=');
  const network = at < 0 ? null : text.slice(0, at);
  const value = parse(text.slice(at + 1));
  if (value === undefined || (network !== null && !isNetworkName(network))) return undefined;
  return { network, value };
}
