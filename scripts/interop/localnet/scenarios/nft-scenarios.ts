import { type Address, beginCell, contractAddress, type StateInit, toNano } from '@ton/core';
import { expectSame } from '../../same-answer.js';
import { codeOf } from './contract-codes.js';
import { expectDecoded } from './decoded.js';
import { dataOf } from './jetton-scenarios.js';
import type { Ledger } from './ledger.js';
import { expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

const DEPLOY_ITEM = 1;
const TRANSFER = 0x5fcc3d14;

/** A collection with an item that changes its owner. @returns what compares its tables in API v3 with the accounts */
export async function nftScenarios(stage: Stage): Promise<(ledger: Ledger) => Promise<string>> {
  const owner = await stage.funded('v5r1', 1);
  const buyer = await stage.funded('v5r1', 0);
  const text = (value: string) => beginCell().storeStringTail(value).endCell();
  const metadata = beginCell().storeUint(1, 8).storeStringTail('https://localhost/collection.json').endCell();
  const content = beginCell().storeRef(metadata).storeRef(text('https://localhost/')).endCell();
  const royalty = beginCell().storeUint(5, 16).storeUint(100, 16).storeAddress(owner.address).endCell();
  const itemCode = codeOf('nft-item');
  const data = beginCell().storeAddress(owner.address).storeUint(0, 64).storeRef(content).storeRef(itemCode);
  const init: StateInit = { code: codeOf('nft-collection'), data: data.storeRef(royalty).endCell() };
  const collection = contractAddress(0, init);
  const item = contractAddress(0, {
    code: itemCode,
    data: beginCell().storeUint(0, 64).storeAddress(collection).endCell(),
  });
  const itemContent = beginCell().storeAddress(owner.address).storeRef(text('item-0.json')).endCell();
  const mint = beginCell().storeUint(DEPLOY_ITEM, 32).storeUint(7, 64).storeUint(0, 64).storeCoins(toNano('0.05'));
  await owner.send(
    'NFT: collection deployed, and an item minted',
    [{ to: collection, value: toNano('0.2'), init, body: mint.storeRef(itemContent).endCell() }],
    (root) =>
      expectOutcomes(root, [
        [owner.address, 'ok'],
        [collection, 'ok'],
        [item, 'ok'],
      ]),
  );
  const { stack } = await stage.client.runMethod(collection, 'get_nft_address_by_index', [{ type: 'int', value: 0n }]);
  expectSame(item.toRawString(), stack.readAddress().toRawString(), 'the address that the collection gives');

  const transfer = beginCell().storeUint(TRANSFER, 32).storeUint(8, 64).storeAddress(buyer.address);
  transfer.storeAddress(owner.address).storeBit(false).storeCoins(toNano('0.01')).storeBit(false);
  await owner.send('NFT: transfer', [{ to: item, value: toNano('0.1'), body: transfer.endCell() }], (root) =>
    expectOutcomes(root, [
      [owner.address, 'ok'],
      [item, 'ok'],
      [buyer.address, 'ok'],
      [owner.address, 'ok'],
    ]),
  );
  expectDecoded(stage.sent.at(-1)!, ['nft_transfer', 'nft_ownership_assigned', 'excess']);

  return async (ledger) => {
    const rawOf = (each: Address) => each.toRawString().toUpperCase();
    const inItem = dataOf(ledger, item).beginParse();
    const [index, itsCollection, itsOwner] = [inItem.loadUintBig(64), inItem.loadAddress(), inItem.loadAddress()];
    const row = await stage.v3.row('nft/items', 'nft_items', { address: item.toString() });
    expectSame(
      [`${index}`, rawOf(itsCollection), rawOf(itsOwner), rawOf(buyer.address), true],
      [row.index, row.collection_address, row.owner_address, row.owner_address, row.init] as string[],
      'the item',
    );
    const inCollection = dataOf(ledger, collection).beginParse();
    const [its, next] = [inCollection.loadAddress(), inCollection.loadUintBig(64)];
    const table = await stage.v3.row('nft/collections', 'nft_collections', {
      collection_address: collection.toString(),
    });
    expectSame([`${next}`, rawOf(its)], [table.next_item_index, table.owner_address] as string[], 'the collection');
    const transfers = await stage.v3.rows('nft/transfers', 'nft_transfers', { item_address: item.toString() });
    expectSame(
      [`8 ${rawOf(owner.address)} ${rawOf(buyer.address)}`],
      transfers.map((each) => `${each.query_id} ${each.old_owner} ${each.new_owner}`),
      'transfers',
    );
    return `item ${index} of ${next}, ${transfers.length} transfer`;
  };
}
