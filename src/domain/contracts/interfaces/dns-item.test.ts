import { describe, expect, it } from 'vitest';
import { dnsItemInterface } from '#domain/contracts/interfaces/dns-item.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import type { FakeAnswer, FakeContract } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView, linkContent } from '#test/support/fake-view.js';

const [item, collection, owner, other] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)] as const;
const hash = new Uint8Array(32).fill(9);

const address = (tag: number, of = other) =>
  new Builder()
    .storeUint(tag, 16)
    .storeSlice(openCell(encodeCell(MsgAddress, of)))
    .storeUint(0, 8)
    .endCell();
const bytes = (tag: number) => new Builder().storeUint(tag, 16).storeBytes(hash).storeUint(0, 8).endCell();
const text = (value: string) => [vmSlice(new Builder().storeBytes(Buffer.from(value)).endCell())];

function recordsOf(records: Readonly<Record<string, Cell>>): Cell {
  const entries = Object.entries(records).map(
    ([name, record]) => [sha256KeyOf(name), new Builder().storeRef(record)] as const,
  );
  return buildDictionary(
    256,
    entries.sort(([a], [b]) => Buffer.compare(a, b)),
  )!;
}

const itemData: VmStack = [vmInt(-1), vmInt(4), addressSlice(collection), addressSlice(owner), vmCell(linkContent(''))];

/** The row of an item of a root with this zone. */
async function rowOf(methods: Readonly<Record<string, FakeAnswer>>, zone = 'ton', root = collection) {
  const kind = dnsItemInterface([{ collection: root, zone }]);
  const contracts: FakeContract[] = [
    { address: item, methods: { get_nft_data: itemData, dnsresolve: [vmInt(8), VM_NULL], ...methods } },
    { address: collection, methods: { get_nft_address_by_index: [addressSlice(item)] } },
  ];
  const view = new FakeView(contracts);
  return kind.row(await kind.read(view, await view.contract(item)));
}

const nothing = { dns_next_resolver: null, dns_wallet: null, dns_site_adnl: null, dns_storage_bag_id: null };

describe('a domain', () => {
  it('makes a row of its name and its records', async () => {
    const records = recordsOf({
      dns_next_resolver: address(0xba93),
      wallet: address(0x9fd3, owner),
      site: bytes(0xad01),
      storage: bytes(0x7473),
      else: bytes(0x7473),
    });
    expect(await rowOf({ get_domain: text('alice'), dnsresolve: [vmInt(8), vmCell(records)] })).toEqual({
      owner,
      domain: 'alice.ton',
      dns_next_resolver: other,
      dns_wallet: owner,
      dns_site_adnl: hash,
      dns_storage_bag_id: hash,
    });
  });

  it('has no record where there is none of the form of its category', async () => {
    expect(await rowOf({ get_domain: text('alice') })).toEqual({ owner, domain: 'alice.ton', ...nothing });
    const mixed = recordsOf({ wallet: bytes(0xad01), site: address(0x9fd3), dns_next_resolver: address(0x9fd3) });
    expect(await rowOf({ get_domain: text('alice'), dnsresolve: [vmInt(8), vmCell(mixed)] })).toEqual({
      owner,
      domain: 'alice.ton',
      ...nothing,
    });
  });

  it('gives its whole name, in the zone of its root', async () => {
    expect(await rowOf({ get_full_domain: text('me\0t\0alice\0') }, 't.me')).toMatchObject({ domain: 'alice.t.me' });
    expect(await rowOf({ get_domain: text('alice') }, 't.me')).toMatchObject({ domain: 'alice.t.me' });
    const refused = { code: 'contract-data/domain-name' };
    for (const name of ['ton\0alice\0', 'me\0t\0', 'me\0t\0alice', 'me\0t\0\0', 'me\0t\0a.b\0', 'me\0t\0a b\0', '']) {
      await expect(rowOf({ get_full_domain: text(name) }, 't.me')).rejects.toMatchObject(refused);
    }
    for (const label of ['', 'a.b', 'a\0b', 'a\nb', 'a'.repeat(127)]) {
      await expect(rowOf({ get_domain: text(label) })).rejects.toMatchObject(refused);
    }
    const latin1 = [vmSlice(new Builder().storeBytes(Uint8Array.of(0xe9)).endCell())];
    await expect(rowOf({ get_domain: latin1 })).rejects.toMatchObject(refused);
  });

  it('is none without a root', async () => {
    const get_domain = text('alice');
    await expect(rowOf({ get_domain }, 'ton', other)).rejects.toMatchObject({ code: 'contract-data/not-verified' });
  });

  it('is none when it does not resolve itself, or does not return its name', async () => {
    const get_domain = text('alice');
    await expect(rowOf({ get_domain, dnsresolve: [vmInt(0), VM_NULL] })).rejects.toMatchObject({
      code: 'contract-data/method-result',
    });
    await expect(rowOf({ get_domain, dnsresolve: 11 })).rejects.toMatchObject({ code: 'contract-data/method-failed' });
    await expect(rowOf({})).rejects.toMatchObject({ code: 'contract-data/method-failed' });
  });
});
