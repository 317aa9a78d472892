import { Address, toNano } from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey } from '@ton/crypto';
import { expectSame } from '../../same-answer.js';
import { expectDecoded } from './decoded.js';
import { commentIn, expectOutcomes, valueIn } from './outcome.js';
import { type Stage, StageWallet, type WalletVersion } from './stage.js';

const VERSIONS: readonly WalletVersion[] = ['v3r2', 'v4r2', 'v5r1'];

/** For each version: a new wallet with words of its own gets coins, and deploys itself by sending some on. */
export async function walletScenarios(stage: Stage): Promise<null> {
  await Promise.all(VERSIONS.map((version) => newWallet(stage, version)));
  return null;
}

async function newWallet(stage: Stage, version: WalletVersion): Promise<void> {
  const known = await stage.funded(version);
  const keys = await mnemonicToPrivateKey(await mnemonicNew());
  const wallet = new StageWallet(stage, version, keys);
  await stage.fund(wallet.address, toNano('5'));
  expectSame(false, await stage.client.isContractDeployed(wallet.address), 'whether it is deployed');
  const comment = `from a new ${version} 🌍`;
  const transfer = { to: known.address, value: toNano('1.5'), body: comment };
  await wallet.send(`${version}: a new wallet deploys itself and sends a comment`, [transfer], (root) => {
    const said = expectOutcomes(root, [
      [wallet.address, 'ok'],
      [known.address, 'ok'],
    ]);
    expectSame(['uninitialized', 'active'], [root.transaction.oldStatus, root.transaction.endStatus], 'its state');
    expectSame(
      [toNano('1.5'), comment].map(String),
      [`${valueIn(root.children[0]!)}`, commentIn(root.children[0]!)],
      'what came',
    );
    return said;
  });
  expectDecoded(stage.sent.find(({ name }) => name.startsWith(`${version}: a new`))!, ['text_comment']);
  expectSame(1, await wallet.seqno(), 'its seqno');
  const to = [1, 2, 3, 4].map((i) => new Address(0, Buffer.alloc(32, 16 * VERSIONS.indexOf(version) + i)));
  const four = to.map((address, i) => ({
    to: address,
    value: toNano('0.1') + BigInt(i),
    bounce: false,
    body: `part ${i}`,
  }));
  await wallet.send(`${version}: four messages at once`, four, (root) => {
    const said = expectOutcomes(root, [[wallet.address, 'ok'], ...to.map((address) => [address, 'no-state'] as const)]);
    expectSame(
      four.map(({ body, value }) => `${body} ${value}`),
      root.children.map((child) => `${commentIn(child)} ${valueIn(child)}`),
      'what came',
    );
    return said;
  });
  const back = { to: wallet.address, value: toNano('0.25'), body: 'thanks' };
  await known.send(`${version}: a known wallet answers`, [back], (root) =>
    expectOutcomes(root, [
      [known.address, 'ok'],
      [wallet.address, 'ok'],
    ]),
  );
}
