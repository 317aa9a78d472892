import { ifAnswered } from '#domain/contracts/answered.js';
import type { AskedContract, ContractView } from '#domain/contracts/contract-view.js';
import { readDnsEntries } from '#domain/contracts/dns-records.js';
import { DNS_ROOTS, dnsRootOf } from '#domain/contracts/dns-root.js';
import { ALL_CATEGORIES, dnsresolve, getDomain, getFullDomain, SELF } from '#domain/contracts/domain-item.js';
import { decodeDomainName } from '#domain/contracts/domain-name.js';
import type { DomainContent } from '#domain/contracts/token-data.js';
import type { Address } from '#formats/address/address.js';

/**
 * The content of an NFT that is a domain: all items of the `.ton` collections, and others that have records. Null: it is
 * none. Only names in the `.ton` collections end in `.ton`: others could claim any; they have the name that they give
 * themselves, or the label alone.
 *
 * @throws cells/* for records that are no dictionary; as {@link ContractView.ask} when it could not be asked
 */
export async function readDomainContent(
  view: ContractView,
  item: AskedContract,
  collection: Address | null,
): Promise<DomainContent | null> {
  const answer = await ifAnswered(() => view.ask(item, dnsresolve, SELF, ALL_CATEGORIES));
  const dotTon = dnsRootOf(collection, DNS_ROOTS)?.zone === 'ton';
  if (answer === null || answer.taken > SELF.length || (answer.value === null && !dotTon)) return null;
  const entries = readDnsEntries(answer.value);
  const domain = await readName(view, item, dotTon);
  return { type: 'domain', domain: domain ?? '', records: { resolver: item.address, name: '.', entries } };
}

async function readName(view: ContractView, item: AskedContract, dotTon: boolean): Promise<string | null> {
  const full = dotTon ? null : await ifAnswered(() => view.ask(item, getFullDomain));
  if (full !== null) return ownName(full);
  const label = await ifAnswered(() => view.ask(item, getDomain));
  if (label === null) return null;
  return dotTon ? `${utf8.decode(label)}.ton` : ownName(label);
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The name that a domain outside of `.ton` gives itself. Empty when it claims to be in `.ton`, where it is not. */
function ownName(bytes: Uint8Array): string {
  const name = decodeDomainName(bytes).slice(0, -1);
  return name === 'ton' || name.toLowerCase().endsWith('.ton') ? '' : name;
}
