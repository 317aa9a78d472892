import { ifAnswered } from '#domain/contracts/answered.js';
import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { type DnsAnswer, dnsAnswerOf } from '#domain/contracts/dns-answer.js';
import type { DnsRoot } from '#domain/contracts/dns-root.js';
import { MAX_DOMAIN_NAME } from '#domain/contracts/domain-name.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod } from '#domain/contracts/get-method.js';
import { MethodResult } from '#domain/contracts/method-result.js';
import { Builder } from '#formats/cells/builder.js';
import { vmInt, vmSlice } from '#formats/tlb/vm-value.js';

/** The name by which a resolver knows itself. */
export const SELF: Uint8Array = new Uint8Array(1);
/** Asks for the records of all categories. */
export const ALL_CATEGORIES = 0n;

/** `(int bits, cell value) dnsresolve(slice subdomain, int category)` (TEP-81); the name as `encodeDomainName` gives it */
export const dnsresolve: GetMethod<readonly [subdomain: Uint8Array, category: bigint], DnsAnswer> = {
  name: 'dnsresolve',
  stack: (subdomain, category) => [vmSlice(new Builder().storeBytes(subdomain).endCell()), vmInt(category)],
  parse: (stack) => dnsAnswerOf(stack, MAX_DOMAIN_NAME + 1),
};

/** `slice get_domain()` of `.ton` items: the bytes of the label. */
export const getDomain = getMethod('get_domain', (stack) => new MethodResult('get_domain', stack, 1).bytes());

/** `slice get_full_domain()` of names of Telegram: labels with a zero byte after each, the last one of the name first. */
export const getFullDomain = getMethod('get_full_domain', (stack) =>
  new MethodResult('get_full_domain', stack, 1).bytes(),
);

/** Throws a TypeError. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The name of an item of a root: what `get_full_domain` gives, when that is in the zone of the root, else the label that
 * `get_domain` gives, before the zone: `alice.ton`.
 *
 * @throws contract-data/domain-name when the item names a label that is none; as {@link ContractView.ask}
 */
export async function readDomainName(view: ContractView, item: AskedContract, { zone }: DnsRoot): Promise<string> {
  const full = await ifAnswered(() => view.ask(item, getFullDomain));
  const name = full === null ? `${labelOf(await view.ask(item, getDomain))}.${zone}` : fullName(full);
  if (name.endsWith(`.${zone}`)) return name;
  throw contractDataErrors['domain-name']({ name, problem: `it is not in ${zone}` });
}

function fullName(bytes: Uint8Array): string {
  if (bytes.at(-1) !== 0) throw refuse(bytes, 'its last label has no zero byte after it');
  const labels: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start);
    labels.push(labelOf(bytes.subarray(start, end)));
    start = end + 1;
  }
  return labels.reverse().join('.');
}

/** One label: no byte of it is a control character, a space or a dot. */
function labelOf(bytes: Uint8Array): string {
  if (bytes.length === 0 || bytes.length > MAX_DOMAIN_NAME) throw refuse(bytes, `a label has ${bytes.length} bytes`);
  if (bytes.some((byte) => byte <= 0x20 || byte === 0x2e)) throw refuse(bytes, 'a label has a space or a dot');
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuse(bytes, 'a label is not UTF-8');
  }
}

function refuse(bytes: Uint8Array, problem: string): Error {
  const name = new TextDecoder().decode(bytes.subarray(0, MAX_DOMAIN_NAME));
  return contractDataErrors['domain-name']({ name, problem });
}
