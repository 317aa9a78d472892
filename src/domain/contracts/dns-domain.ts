import { type ContractView, nullOnContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import { type DnsAnswer, dnsAnswerOf, MAX_DOMAIN_NAME } from '#domain/contracts/dns-records.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod, MethodResult } from '#domain/contracts/get-method.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { vmInt, vmSlice } from '#formats/tlb/vm-stack.js';

/** A collection whose items are domains (TEP-81). Items of other collections only claim to be domains. */
export interface DnsRoot {
  readonly collection: Address;
  /** The zone of its names, without a leading dot: `ton`, `t.me`. */
  readonly zone: string;
}

const root = (collection: string, zone: string): DnsRoot => ({ collection: parseAddress(collection).address, zone });

/** The well-known collections. */
export const DNS_ROOTS: readonly DnsRoot[] = [
  root('0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf', 'ton'),
  // testnet
  root('0:e33ed33a42eb2032059f97d90c706f8400bb256d32139ca707f1564ad699c7dd', 'ton'),
  // Telegram usernames
  root('0:80d78a35f955a14b679faa887ff4cd5bfc0f43b4a4eea2a7e6927f3701b273c2', 't.me'),
];

/** The root with this collection; null if there is none. */
export function dnsRootOf(collection: Address | null, roots: readonly DnsRoot[]): DnsRoot | null {
  if (collection === null) return null;
  return roots.find((one) => one.collection.equals(collection)) ?? null;
}

/** The name of a resolver itself: one zero byte. */
export const DNS_SELF: Uint8Array = new Uint8Array(1);
/** The category that requests all records. */
export const ALL_CATEGORIES = 0n;

/** `(int bits, cell value) dnsresolve(slice subdomain, int category)` (TEP-81); the name as encoded by `encodeDomainName` */
export const dnsresolve: GetMethod<readonly [subdomain: Uint8Array, category: bigint], DnsAnswer> = {
  name: 'dnsresolve',
  stack: (subdomain, category) => [vmSlice(new Builder().storeBytes(subdomain).endCell()), vmInt(category)],
  parse: (stack) => dnsAnswerOf(stack, MAX_DOMAIN_NAME + 1),
};

/** `slice get_domain()` of `.ton` items: the bytes of the label. */
export const getDomain = getMethod('get_domain', (stack) => new MethodResult('get_domain', stack, 1).bytes());

/** `slice get_full_domain()` of Telegram usernames: zero-terminated labels, the top-level one first. */
export const getFullDomain = getMethod('get_full_domain', (stack) =>
  new MethodResult('get_full_domain', stack, 1).bytes(),
);

/** Throws a TypeError. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The name of an item of a root, such as `alice.ton`: the result of `get_full_domain`, which must be in the zone of the root, or the
 * label from `get_domain` followed by the zone.
 *
 * @throws contract-data/domain-name if the label is invalid or the name is not in the zone; as {@link ContractView.runGetMethod}
 */
export async function readDomainName(view: ContractView, item: ViewedContract, { zone }: DnsRoot): Promise<string> {
  const full = await nullOnContractError(() => view.runGetMethod(item, getFullDomain));
  const name =
    full === null ? `${domainLabel(await view.runGetMethod(item, getDomain))}.${zone}` : fullDomainName(full);
  if (name.endsWith(`.${zone}`)) return name;
  throw contractDataErrors['domain-name']({ name, problem: `it is not in ${zone}` });
}

function fullDomainName(bytes: Uint8Array): string {
  if (bytes.at(-1) !== 0) throw refuseDomain(bytes, 'its last label has no zero byte after it');
  const labels: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    labels.push(domainLabel(bytes.subarray(start, end)));
    start = end + 1;
  }
  return labels.reverse().join('.');
}

/** One label: UTF-8 without control characters, spaces and dots. */
function domainLabel(bytes: Uint8Array): string {
  if (bytes.length === 0 || bytes.length > MAX_DOMAIN_NAME)
    throw refuseDomain(bytes, `a label has ${bytes.length} bytes`);
  if (bytes.some((byte) => byte <= 0x20 || byte === 0x2e)) throw refuseDomain(bytes, 'a label has a space or a dot');
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw refuseDomain(bytes, 'a label is not UTF-8');
  }
}

function refuseDomain(bytes: Uint8Array, problem: string): Error {
  const name = new TextDecoder().decode(bytes.subarray(0, MAX_DOMAIN_NAME));
  return contractDataErrors['domain-name']({ name, problem });
}
