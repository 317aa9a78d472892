import {
  actionType,
  addressField,
  amountField,
  hexField,
  integerField,
  recordOf,
  textField,
} from '#domain/actions/action-type.js';
import { lenientText } from '#domain/actions/comments.js';
import { anyCall, call, type MatchContext, meaning, pattern } from '#domain/actions/pattern.js';
import { isDomainOfTon } from '#domain/actions/protocols/dns-items.js';
import { itemDetails } from '#domain/actions/protocols/nfts.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { bytesEqual, concatBytes } from '#kernel/bytes.js';

/* Domains (TEP-81): records, renewal, purchase at auction and release. */

const ChangeDnsRecord = layout('change_dns_record#4eb1f0f9 query_id:uint64 key:bits256 value:(Opt ^Cell)');
const ReleaseDomain = layout('dns_balance_release#4ed14b65 query_id:uint64');
const FillUp = layout('teleitem_ok#370fec51 query_id:uint64');

const Tagged = layout('_ tag:uint16');
const NextResolver = layout('dns_next_resolver#ba93 resolver:MsgAddress');
const AdnlAddress = layout('dns_adnl_address#ad01 adnl_addr:bits256 flags:uint8');
const SmcAddress = layout('dns_smc_address#9fd3 smc_addr:MsgAddress flags:uint8');
const StorageAddress = layout('dns_storage_address#7473 bag_id:bits256');
const DNS_TEXT = 0x1eda;

const value = recordOf('ChangeDnsValue', 'The new record.', {
  sum_type: textField('Kind of the record.', [
    ...['DNSNextResolver', 'DNSAdnlAddress', 'DNSSmcAddress', 'DNSStorageAddress', 'DNSText'],
  ]),
  dns_smc_address: addressField('A contract, such as a wallet.'),
  dns_adnl_address: hexField('ADNL address of a site.'),
  dns_text: textField('A text.'),
  dns_next_resolver_address: addressField('A contract with records of subdomains.'),
  dns_storage_address: hexField('A bag of TON Storage.'),
  flags: integerField('Flags of the record.'),
});

export const changeDnsType = actionType('change_dns', 'A record of a domain was set.', {
  key: hexField('Key of the record: hash of its name.'),
  value,
  source: addressField('Who set it.', 'source'),
  asset: addressField('The domain.', 'destination'),
  nft_collection: addressField('Collection of the domain.', 'asset'),
});
export const deleteDnsType = actionType('delete_dns', 'A record of a domain was deleted.', {
  hash: hexField('Key of the record: hash of its name.'),
  source: addressField('Who deleted it.', 'source'),
  asset: addressField('The domain.', 'destination'),
  nft_collection: addressField('Collection of the domain.', 'asset'),
});
export const renewDnsType = actionType('renew_dns', 'A domain was renewed.', {
  source: addressField('Who renewed it.', 'source'),
  asset: addressField('The domain.', 'destination'),
  nft_collection: addressField('Collection of the domain.', 'asset'),
});

const RENEWAL = new Uint8Array(32);

export const changeDns = pattern(
  'change_dns',
  call(ChangeDnsRecord, { to: 'nft_item' }),
  ({ block, data }, context) => {
    const { collection } = context.fact(block.destination, 'nft_item')!;
    const common = { source: block.source, asset: block.destination, nft_collection: collection };
    const { failed } = block;
    if (data.value !== null) {
      const details = { ...common, key: data.key, value: recordValue(data.value, context) };
      return meaning(changeDnsType, details, { failed });
    }
    if (bytesEqual(data.key, RENEWAL)) return meaning(renewDnsType, common, { kind: 'renew_dns', failed });
    return meaning(deleteDnsType, { ...common, hash: data.key }, { kind: 'delete_dns', failed });
  },
  { kinds: ['change_dns', 'renew_dns', 'delete_dns'], takesBounced: true },
);

function recordValue(cell: Cell, context: MatchContext) {
  const { tag } = context.read(Tagged, cell);
  switch (tag) {
    case NextResolver.tag: {
      const { resolver } = context.read(NextResolver, cell);
      return { sum_type: 'DNSNextResolver', dns_next_resolver_address: resolver };
    }
    case AdnlAddress.tag: {
      const { adnl_addr, flags } = context.read(AdnlAddress, cell);
      return { sum_type: 'DNSAdnlAddress', dns_adnl_address: adnl_addr, flags };
    }
    case SmcAddress.tag: {
      const { smc_addr, flags } = context.read(SmcAddress, cell);
      return { sum_type: 'DNSSmcAddress', dns_smc_address: smc_addr, flags };
    }
    case StorageAddress.tag: {
      const { bag_id } = context.read(StorageAddress, cell);
      return { sum_type: 'DNSStorageAddress', dns_storage_address: bag_id };
    }
    case DNS_TEXT:
      return { sum_type: 'DNSText', dns_text: textRecord(cell) };
    default:
      return context.refuse(`records of kind 0x${tag.toString(16)} are not understood`);
  }
}

/** `dns_text#1eda _:Text`: `chunks:(## 8)`, then for each chunk its length in bytes, the bytes, and a reference to the next. */
function textRecord(cell: Cell): string {
  let slice = openCell(cell).skip(16);
  const parts: Uint8Array[] = [];
  const chunks = slice.loadUint(8);
  for (let i = 0; i < chunks; i++) {
    parts.push(slice.loadBytes(slice.loadUint(8)));
    if (i < chunks - 1) slice = openCell(slice.loadRef());
  }
  return lenientText(concatBytes(...parts));
}

export const dnsPurchaseType = actionType('dns_purchase', 'A domain was bought at auction.', {
  nft_collection: addressField('Collection of the domain.', 'asset'),
  nft_item: addressField('The domain.', 'asset_secondary'),
  nft_item_index: amountField('Its index in the collection.'),
  new_owner: addressField('Who bought it.', 'destination'),
  price: amountField('Nanotons.'),
  query_id: amountField('Chosen by the sender.'),
  payout_amount: amountField('Nanotons that went to the collection.'),
});

export const dnsPurchase = pattern(
  'dns_purchase',
  call(FillUp, { from: 'nft_item', before: anyCall() }),
  ({ block, data, before }, context) => {
    const facts = context.fact(block.source, 'nft_item')!;
    context.check(isDomainOfTon(block.source!, facts, context), 'the item is no domain of .ton');
    const details = {
      ...itemDetails(block.source!, facts),
      new_owner: before.block.source,
      price: block.value,
      query_id: data.query_id,
      payout_amount: block.value,
    };
    return meaning(dnsPurchaseType, details, { failed: block.failed, without: [before.block] });
  },
);

export const dnsReleaseType = actionType('dns_release', 'A domain that was not renewed was put up for auction.', {
  query_id: amountField('Chosen by the sender.'),
  source: addressField('Who released it, and bids first.', 'source'),
  nft_item: addressField('The domain.', 'destination'),
  nft_collection: addressField('Its collection.', 'asset'),
  nft_item_index: amountField('Its index in the collection.'),
  value: amountField('Nanotons of the first bid.', 'value'),
});

export const dnsRelease = pattern(
  'dns_release',
  call(ReleaseDomain, { to: 'nft_item' }),
  ({ block, data }, context) => {
    const facts = context.fact(block.destination, 'nft_item')!;
    context.check(isDomainOfTon(block.destination!, facts, context), 'the item is no domain of .ton');
    const { source, value: nanotons } = block;
    const details = { ...itemDetails(block.destination!, facts), query_id: data.query_id, source, value: nanotons };
    return meaning(dnsReleaseType, details, { failed: block.failed });
  },
);
