import { describe, expect, it } from 'vitest';
import { nftItem, nftItemInterface } from '#domain/contracts/interfaces/nft-item.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import type { FakeAnswer, FakeContract } from '#test/support/fake-contracts.js';
import { addressOf, addressSlice, FakeView, linkContent } from '#test/support/fake-view.js';

const [item, collection, owner, other] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)] as const;
const own = linkContent('https://i');
const itemData: VmStack = [vmInt(-1), vmInt(4), addressSlice(collection), addressSlice(owner), vmCell(own)];
const whole = [vmCell(linkContent('https://c/i'))];

async function rowOf(contracts: readonly FakeContract[], kind = nftItem) {
  const view = new FakeView(contracts);
  return kind.row(await kind.read(view, await view.contract(item)));
}

const subject = (get_nft_data: FakeAnswer, more: FakeContract['methods'] = {}): FakeContract => ({
  address: item,
  methods: { get_nft_data, ...more },
});
const of = (get_nft_address_by_index: FakeAnswer, get_nft_content: FakeAnswer = whole): FakeContract => ({
  address: collection,
  methods: { get_nft_address_by_index, get_nft_content },
});

describe('an NFT', () => {
  it('makes a row of what it says, with the content that its collection puts together', async () => {
    expect(await rowOf([subject(itemData), of([addressSlice(item)])])).toEqual({
      init: true,
      index: 4n,
      collection,
      owner,
      content: '{"uri":"https://c/i"}',
    });
  });

  it('stands alone without collection', async () => {
    const alone = itemData.map((value, i) => (i === 2 ? addressSlice(null) : value));
    expect(await rowOf([subject(alone)])).toMatchObject({ collection: null, content: '{"uri":"https://i"}' });
  });

  it('has no content and no owner before it is set up', async () => {
    const fresh = [vmInt(0), vmInt(4), addressSlice(collection), VM_NULL, VM_NULL];
    expect(await rowOf([subject(fresh), of([addressSlice(item)])])).toEqual({
      init: false,
      index: 4n,
      collection,
      owner: null,
      content: '{}',
    });
  });

  it('is none of a collection that does not agree, or does not answer', async () => {
    const refused = { code: 'contract-data/not-verified' };
    await expect(rowOf([subject(itemData), of([addressSlice(other)])])).rejects.toMatchObject(refused);
    await expect(rowOf([subject(itemData), of([addressSlice(null)])])).rejects.toMatchObject(refused);
    await expect(rowOf([subject(itemData), of(11)])).rejects.toMatchObject(refused);
    await expect(rowOf([subject(itemData)])).rejects.toMatchObject(refused);
  });

  it('is none when its collection makes no content of it', async () => {
    const content = (answer: FakeAnswer) => rowOf([subject(itemData), of([addressSlice(item)], answer)]);
    await expect(content(9)).rejects.toMatchObject({ code: 'contract-data/method-failed' });
    await expect(content([vmCell(EMPTY_CELL)])).rejects.toMatchObject({ code: 'contract-data/content-prefix' });
  });

  it('has its name in its content where the collection is a root of domains', async () => {
    const label = (text: string) => [vmSlice(new Builder().storeBytes(Buffer.from(text)).endCell())];
    const kind = nftItemInterface([{ collection, zone: 'ton' }]);
    const named = subject(itemData, { get_domain: label('alice') });
    const contracts = [named, of([addressSlice(item)])];
    expect(await rowOf(contracts, kind)).toMatchObject({ content: '{"uri":"https://c/i","domain":"alice.ton"}' });
    expect(await rowOf(contracts)).toMatchObject({ content: '{"uri":"https://c/i"}' });
    const nameless = [subject(itemData), of([addressSlice(item)])];
    expect(await rowOf(nameless, kind)).toMatchObject({ content: '{"uri":"https://c/i"}' });
  });
});
