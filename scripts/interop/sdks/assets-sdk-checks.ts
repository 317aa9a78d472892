import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import { type Loaded, type SdkStage, until } from './sdk-stage.js';

/** Jettons and NFTs deployed, sent and read by @ton-community/assets-sdk. */
export async function checkAssetsSdk(stage: SdkStage, report: CheckReport): Promise<void> {
  const check = (name: string, run: () => Promise<string>) => report.check(`@ton-community/assets-sdk: ${name}`, run);
  const { client, load, wallets } = stage;
  const { Address, toNano } = load('@ton/core');
  const { mnemonicToPrivateKey } = load('@ton/crypto');
  const { WalletContractV4 } = load('@ton/ton');
  const { AssetsSDK, NoopStorage } = load('@ton-community/assets-sdk');

  const { mnemonic } = wallets.find(({ version, mnemonic }) => version === 'v4r2' && mnemonic !== null)!;
  const keys = await mnemonicToPrivateKey([...mnemonic!]);
  const wallet = client.open(WalletContractV4.create({ workchain: 0, publicKey: keys.publicKey }));
  const sdk = AssetsSDK.create({
    api: client,
    storage: new NoopStorage(),
    sender: { ...wallet.sender(keys.secretKey), address: wallet.address },
  });
  const friend = new Address(0, Buffer.alloc(32, 0x77));
  const isDeployed = (what: string, address: Loaded) => until(what, () => client.isContractDeployed(address));

  await check('a jetton with its own content', async () => {
    const content = { name: 'Interop', symbol: 'IOP', decimals: 6, description: 'of a test' };
    const jetton = await sdk.deployJetton(content, { onchainContent: true, premintAmount: 1_000n });
    await isDeployed('the jetton', jetton.address);
    const own = await jetton.getWallet(wallet.address);
    await isDeployed('the wallet of the jetton', own.address);
    const data = await jetton.getData();
    expectSame(
      ['1000', wallet.address.toRawString()],
      [`${data.totalSupply}`, data.adminAddress.toRawString()],
      'data of the jetton',
    );
    const read = await jetton.getContent();
    expectSame({ ...content }, Object.fromEntries(Object.keys(content).map((key) => [key, read[key]])), 'content');
    await own.send(sdk.sender, friend, 300n, { notify: { amount: toNano('0.02') } });
    const other = await jetton.getWallet(friend);
    await isDeployed('the wallet of the receiver', other.address);
    const balances = [(await own.getData()).balance, (await other.getData()).balance];
    expectSame(['700', '300'], balances.map(String), 'balances after the transfer');
    await own.sendBurn(sdk.sender, 100n);
    await until('the burn', async () => (await jetton.getData()).totalSupply === 900n);
    return 'deployed, sent, burned; supply 900';
  });

  await check('a collection with an item', async () => {
    const collection = await sdk.deployNftCollection(
      { collectionContent: { name: 'Interop items' }, commonContent: 'https://example.com/' },
      { onchainContent: true },
    );
    await isDeployed('the collection', collection.address);
    await collection.sendMint(sdk.sender, {
      index: 0n,
      owner: friend,
      individualContent: '0.json',
      value: toNano('0.05'),
    });
    const item = await collection.getItem(0n);
    await isDeployed('the item', item.address);
    const data = await item.getData();
    expectSame(
      [true, '0', friend.toRawString(), collection.address.toRawString()],
      [data.initialized, `${data.index}`, data.owner.toRawString(), data.collection.toRawString()],
      'data of the item',
    );
    const { nextItemIndex } = await collection.getData();
    expectSame('1', `${nextItemIndex}`, 'next index of the collection');
    return 'item 0 belongs to whom it was minted for';
  });
}
