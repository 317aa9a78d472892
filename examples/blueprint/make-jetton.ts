// npx blueprint run make-jetton: deploys a jetton whose content is on chain, and mints 1,000 of it for the wallet that pays.
import { createHash } from 'node:crypto';
import type { NetworkProvider } from '@ton/blueprint';
import { type Address, beginCell, type Cell, Dictionary, toNano } from '@ton/core';
import { JettonMinter } from '@ton-community/assets-sdk';

/** Content on chain as of TEP-64: a dictionary of texts by the SHA-256 of their names. */
function contentOf(fields: Record<string, string>): Cell {
  const content = Dictionary.empty(Dictionary.Keys.Buffer(32), Dictionary.Values.Cell());
  for (const [name, text] of Object.entries(fields)) {
    const key = createHash('sha256').update(name).digest();
    content.set(key, beginCell().storeUint(0, 8).storeStringTail(text).endCell());
  }
  return beginCell().storeUint(0, 8).storeDict(content).endCell();
}

export async function run(provider: NetworkProvider): Promise<void> {
  const owner = provider.sender().address as Address;
  const content = contentOf({
    name: 'Example',
    symbol: 'EXM',
    decimals: '9',
    description: 'A jetton of a local network',
  });
  const minter = provider.open(JettonMinter.createFromConfig({ admin: owner, content }));
  await minter.sendDeploy(provider.sender(), toNano('0.1'));
  await provider.waitForDeploy(minter.address, 30, 500);
  await minter.sendMint(provider.sender(), owner, toNano('1000'));

  const wallet = await minter.getWalletAddress(owner);
  await provider.waitForDeploy(wallet, 30, 500);
  console.log(`jetton         ${minter.address}`);
  console.log(`jetton wallet  ${wallet} of ${owner}`);
}
