import { parseAddress } from '#formats/address/address.js';
import type { Place } from '../routing/location.js';

/** The networks that everybody knows. */
export type KnownNetwork = 'mainnet' | 'testnet';

/** Root hashes of zerostates. */
const ZEROSTATES: Readonly<Record<string, KnownNetwork>> = {
  'F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=': 'mainnet',
  'gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg=': 'testnet',
};

/** The network of a zerostate; null: it is neither, or not known yet. */
export function networkOfZerostate(rootHash: string | null): KnownNetwork | null {
  return rootHash === null ? null : (ZEROSTATES[rootHash] ?? null);
}

/** Whether the text of an address has the mark of test networks. */
export function isTestnetAddress(text: string): boolean {
  try {
    return parseAddress(text).testnet === true;
  } catch {
    return false;
  }
}

/** Explorers that show mainnet unless their link says otherwise. */
const EXPLORERS =
  /(?:^|\.)(?:tonviewer\.com|tonscan\.org|tonscan\.com|ton\.cx|dton\.io|explorer\.toncoin\.org|toncenter\.com|tonwhales\.com|tonapi\.io|getgems\.io|tonmoon\.org)$/;

/** The network that a link to an explorer is about; null where it does not say. */
export function networkOfLink(link: string): KnownNetwork | null {
  const host = /^(?:https?:)?\/\/([^/?#:@]+)/i.exec(link)?.[1]?.toLowerCase() ?? '';
  const isTest = /(?:^|[.-])test(?:net)?[.-]/.test(host) || /[?&]testnet(?:=true|=1)?(?:&|#|$)/i.test(link);
  if (isTest) return 'testnet';
  return EXPLORERS.test(host) ? 'mainnet' : null;
}

/** In the address of a page: the network that what was pasted is about. */
export const NETWORK_QUERY = 'network';

/** What the address of a page says of its network. */
export interface NamedNetwork {
  readonly network: KnownNetwork;
  /** By the mark in an address, which people also use on networks of their own; else by a link. */
  readonly isByMark: boolean;
}

/** The network that a page is asked for; null where nothing says. */
export function namedNetwork({ parts, query }: Place): NamedNetwork | null {
  const named = query.get(NETWORK_QUERY);
  if (named === 'mainnet' || named === 'testnet') return { network: named, isByMark: false };
  return parts[1] !== undefined && isTestnetAddress(parts[1]) ? { network: 'testnet', isByMark: true } : null;
}

/** Whether a page was meant for another network than this one. */
export function isOtherNetwork({ network, isByMark }: NamedNetwork, current: KnownNetwork | null): boolean {
  return isByMark ? current === 'mainnet' : current !== network;
}
