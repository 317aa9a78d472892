import { contractInterface } from '#domain/contracts/contract-interface.js';
import {
  ALL_CATEGORIES,
  DNS_ROOTS,
  DNS_SELF,
  type DnsRoot,
  dnsRootOf,
  dnsresolve,
  getDomain,
  getFullDomain,
  readDomainName,
} from '#domain/contracts/dns-domain.js';
import {
  type DnsAnswer,
  type DnsCategory,
  type DnsRecord,
  dnsCategoryName,
  readDnsEntries,
} from '#domain/contracts/dns-records.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { wholeBytes } from '#domain/contracts/get-method.js';
import {
  DOT_TON_ITEM,
  getNftData,
  loadDotTonItem,
  loadTelemintItem,
  readNftFields,
  TELEMINT_NAME,
} from '#domain/contracts/interfaces/nft-item.js';
import { type NativeCode, type NativeGetMethod, nativeGetMethod } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { concatBytes } from '#kernel/bytes.js';

/** A domain and its records. A record is null if there is none, or one of another type than its category has. */
export interface DnsItem {
  /** Null: none, as during an auction. */
  readonly owner: Address | null;
  /** `alice.ton` */
  readonly domain: string;
  readonly dns_next_resolver: Address | null;
  readonly dns_wallet: Address | null;
  /** 32 bytes. */
  readonly dns_site_adnl: Uint8Array | null;
  /** 32 bytes. */
  readonly dns_storage_bag_id: Uint8Array | null;
}

/** `dnsresolve` of the item itself, all categories. */
function ownRecords(load: (data: Cell) => Cell | null): NativeGetMethod {
  return nativeGetMethod(dnsresolve, ({ data }, subdomain, category): DnsAnswer => {
    if (category === ALL_CATEGORIES && subdomain.length === 1 && subdomain[0] === 0) {
      return { taken: 1, value: load(data) };
    }
    throw contractDataErrors['other-form']({ problem: 'another name or category is queried' });
  });
}

/** Prefix of on-chain content (TEP-64). */
const ON_CHAIN = 0;

const dotTonItem: NativeCode = {
  hashes: [DOT_TON_ITEM],
  getMethods: [
    ownRecords((data) => {
      const content = openCell(loadDotTonItem(data).content);
      if (content.loadUint(8) !== ON_CHAIN) {
        throw contractDataErrors['other-form']({ problem: 'the content is not on-chain' });
      }
      return content.loadBit() ? content.loadRef() : null;
    }),
    nativeGetMethod(getDomain, ({ data }) => wholeBytes(openCell(loadDotTonItem(data).domain))),
  ],
};

/** `token_info` is `length:uint8 name length:uint8 domain`. */
const telemintName: NativeCode = {
  hashes: [TELEMINT_NAME],
  getMethods: [
    ownRecords((data) => loadTelemintItem(data).dns),
    nativeGetMethod(getFullDomain, ({ data }) => {
      const info = openCell(loadTelemintItem(data).token_info);
      const name = info.loadBytes(info.loadUint(8));
      const domain = info.loadBytes(info.loadUint(8));
      info.end();
      return concatBytes(domain, name, new Uint8Array(1));
    }),
  ],
};

/** DNS items: items of the well-known collections, with a name in the zone of their collection. */
export function dnsItemInterface(roots: readonly DnsRoot[]) {
  return contractInterface({
    name: 'dns_item',
    methods: [
      [getNftData.name, dnsresolve.name, getDomain.name],
      [getNftData.name, dnsresolve.name, getFullDomain.name],
    ],
    codes: [dotTonItem, telemintName],
    async read(view, contract): Promise<DnsItem> {
      const { address } = contract;
      const { collection_address, owner_address: owner } = await readNftFields(view, contract);
      const { taken, value } = await view.runGetMethod(contract, dnsresolve, DNS_SELF, ALL_CATEGORIES);
      if (taken !== DNS_SELF.length) {
        const problem = `resolves ${taken} bytes of the name of the item itself`;
        throw contractDataErrors['method-result']({ method: dnsresolve.name, problem });
      }
      const root = dnsRootOf(collection_address, roots);
      if (root === null) {
        const by = collection_address?.toRaw() ?? 'nobody';
        const problem = 'is no collection of domains';
        throw contractDataErrors['not-verified']({ kind: 'dns_item', address: address.toRaw(), by, problem });
      }
      const domain = await readDomainName(view, contract, root);
      return { owner, domain, ...recordsOf(value) };
    },
    table: {
      name: 'dns_items',
      columns: {
        owner: 'address?',
        domain: 'text',
        dns_next_resolver: 'address?',
        dns_wallet: 'address?',
        dns_site_adnl: 'bytea?',
        dns_storage_bag_id: 'bytea?',
      },
    },
    row: (data) => ({ ...data }),
  });
}

/** Of the well-known collections of domains. */
export const dnsItem = dnsItemInterface(DNS_ROOTS);

function recordsOf(root: Cell | null): Omit<DnsItem, 'owner' | 'domain'> {
  const records = new Map<DnsCategory | null, DnsRecord>(
    readDnsEntries(root).map(({ category, record }) => [dnsCategoryName(category), record]),
  );
  const next = records.get('dns_next_resolver');
  const wallet = records.get('wallet');
  const site = records.get('site');
  const storage = records.get('storage');
  return {
    dns_next_resolver: next?.kind === 'dns_next_resolver' ? next.resolver : null,
    dns_wallet: wallet?.kind === 'dns_smc_address' ? wallet.smc_addr : null,
    dns_site_adnl: site?.kind === 'dns_adnl_address' ? site.adnl_addr : null,
    dns_storage_bag_id: storage?.kind === 'dns_storage_address' ? storage.bag_id : null,
  };
}
