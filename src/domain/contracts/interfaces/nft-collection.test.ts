import { describe, expect, it } from 'vitest';
import { nftCollection } from '#domain/contracts/interfaces/nft-collection.js';
import { sha256KeyOf } from '#domain/contracts/token-content.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { storeSnakeText } from '#formats/cells/snake.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { VM_NULL, vmCell, vmInt } from '#formats/tlb/vm-stack.js';
import { addressOf, addressSlice, FakeView, linkContent } from '#test/support/fake-view.js';

const [collection, owner] = [addressOf(1), addressOf(2)] as const;

async function rowOf(get_collection_data: VmStack) {
  const view = new FakeView([{ address: collection, methods: { get_collection_data } }]);
  return nftCollection.row(await nftCollection.read(view, await view.contract(collection)));
}

describe('a collection of NFTs', () => {
  it('makes a row of what it says', async () => {
    expect(await rowOf([vmInt(-1), vmCell(linkContent('https://c')), addressSlice(owner)])).toEqual({
      next_item_index: -1n,
      owner,
      content: '{"uri":"https://c"}',
    });
    const entry = (name: string, text: string) =>
      [
        sha256KeyOf(name),
        new Builder().storeRef(storeSnakeText(text, new Builder().storeUint(0, 8)).endCell()),
      ] as const;
    const entries = [entry('name', 'C'), entry('uri', 'https://c')].sort(([a], [b]) => Buffer.compare(a, b));
    const both = new Builder().storeUint(0, 8).storeBit(true).storeRef(buildDictionary(256, entries)!).endCell();
    const row = await rowOf([vmInt(3), vmCell(both), addressSlice(null)]);
    expect(row).toMatchObject({ next_item_index: 3n, owner: null });
    expect(JSON.parse(row.content!)).toEqual({ name: 'C', uri: 'https://c' });
  });

  it('is none without content of TEP-64', async () => {
    await expect(rowOf([vmInt(1), vmCell(EMPTY_CELL), addressSlice(owner)])).rejects.toMatchObject({
      code: 'contract-data/content-prefix',
    });
    await expect(rowOf([vmInt(1), VM_NULL, addressSlice(owner)])).rejects.toMatchObject({
      code: 'contract-data/method-result',
    });
  });
});
