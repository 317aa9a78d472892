import { describe, expect, it } from 'vitest';
import {
  type DnsRecord,
  dnsCategoryName,
  NEXT_RESOLVER_CATEGORY,
  readDnsEntries,
  readDnsRecord,
} from '#domain/contracts/dns-records.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { toBase64 } from '#kernel/bytes.js';

const address = Address.ofParts(0, new Uint8Array(32).fill(0xab));
const hash = new Uint8Array(32).fill(0xcd);
const tagged = (tag: number): Builder => new Builder().storeUint(tag, 16);
const withAddress = (tag: number): Builder => tagged(tag).storeUint(0b100, 3).storeInt(0, 8).storeBytes(address.hash);

describe('readDnsRecord', () => {
  it('reads all kinds, with flags after them and without', () => {
    const records: [Builder, DnsRecord][] = [
      [withAddress(0xba93), { kind: 'dns_next_resolver', resolver: address }],
      [withAddress(0x9fd3).storeUint(0, 8), { kind: 'dns_smc_address', smc_addr: address }],
      [withAddress(0x9fd3), { kind: 'dns_smc_address', smc_addr: address }],
      [tagged(0xad01).storeBytes(hash).storeUint(0, 8), { kind: 'dns_adnl_address', adnl_addr: hash }],
      [tagged(0x7473).storeBytes(hash), { kind: 'dns_storage_address', bag_id: hash }],
    ];
    for (const [builder, record] of records) expect(readDnsRecord(builder.endCell())).toEqual(record);
  });

  it('reads text in chunks', () => {
    const rest = new Builder().storeUint(3, 8).storeBytes(Buffer.from('lo!')).endCell();
    const text = tagged(0x1eda).storeUint(2, 8).storeUint(3, 8).storeBytes(Buffer.from('hel')).storeRef(rest).endCell();
    expect(readDnsRecord(text)).toEqual({ kind: 'dns_text', text: 'hello!' });
    expect(readDnsRecord(tagged(0x1eda).storeUint(0, 8).endCell())).toEqual({ kind: 'dns_text', text: '' });
  });

  it('gives what it does not know as it is', () => {
    const unknown = [
      EMPTY_CELL,
      tagged(0x1234).endCell(),
      tagged(0x9fd3).storeUint(0, 2).endCell(),
      tagged(0xad01).storeUint(0, 255).endCell(),
      tagged(0x1eda).storeUint(2, 8).storeUint(0, 8).endCell(),
    ];
    for (const cell of unknown) expect(readDnsRecord(cell)).toEqual({ kind: 'unknown', cell });
  });
});

describe('readDnsEntries', () => {
  it('reads the records by category', () => {
    const record = withAddress(0x9fd3).endCell();
    const entries = [
      [sha256KeyOf('picture'), new Builder().storeUint(1, 1)],
      [sha256KeyOf('wallet'), new Builder().storeRef(record)],
    ] as const;
    expect(readDnsEntries(buildDictionary(256, entries))).toEqual([
      { category: sha256KeyOf('wallet'), record: { kind: 'dns_smc_address', smc_addr: address } },
    ]);
    expect(readDnsEntries(null)).toEqual([]);
  });
});

describe('categories', () => {
  it('have the hashes of their names', () => {
    expect(dnsCategoryName(sha256KeyOf('site'))).toBe('site');
    expect(dnsCategoryName(hash)).toBeNull();
    expect(toBase64(NEXT_RESOLVER_CATEGORY)).toBe('GfAkQe5Yj9sm7iSyVo3QNcPJIG4Rq5eb5i5VVYodF/8=');
  });
});
