import { isIPv4, isIPv6 } from 'node:net';

/** Where a server listens. */
export interface ListenAddress {
  /** Name or address, IPv6 without brackets. */
  readonly host: string;
  /** 0 for one that is free. */
  readonly port: number;
}

/** Something that is meant for one network, as `testnet=…`; or for all, without a name. */
export interface ForNetwork<Value> {
  readonly network: string | null;
  readonly value: Value;
}

/** `HOST:PORT`, with an IPv6 address in brackets. `undefined` for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65_535) return undefined;
  const [, ipv6, name = '', port] = match;
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined;
  if (/^[\d.]+$/.test(name) && !isIPv4(name)) return undefined;
  return { host: ipv6 ?? name, port: Number(port) };
}

/** As it is written in URLs: `127.0.0.1:8081`, `[::1]:8081`. */
export function printListenAddress({ host, port }: ListenAddress): string {
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
