import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Address, Cell, loadMessage, toNano } from '@ton/core';
import { mnemonicNew, mnemonicToPrivateKey } from '@ton/crypto';
import { expectSame } from '../../same-answer.js';
import { commentIn, expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

/** The part of tonweb that is used; the package has types of its own only for browsers. */
interface Query {
  send(): Promise<unknown>;
  getQuery(): Promise<{ toBoc(hasIndex: boolean): Promise<Uint8Array> }>;
}
interface TonwebWallet {
  getAddress(): Promise<{ toString(userFriendly: boolean): string }>;
  deploy(secretKey: Uint8Array): Query;
  readonly methods: {
    seqno(): { call(): Promise<number | null> };
    transfer(parameters: object): Query;
  };
}
interface TonwebClass {
  readonly HttpProvider: new (host: string) => object;
  readonly Wallets: {
    readonly all: Readonly<Record<string, new (provider: object, options: object) => TonwebWallet>>;
  };
  readonly utils: { toNano(amount: string): object };
}

/** A wallet that tonweb makes, deploys and sends from. */
export async function tonwebScenarios(stage: Stage, packages: string): Promise<null> {
  const tonweb = createRequire(join(packages, 'package.json'))('tonweb') as TonwebClass;
  const provider = new tonweb.HttpProvider(`${stage.network.url}/api/v2/jsonRPC`);
  const receiver = await stage.funded('v4r2', 1);
  for (const version of ['v3R2', 'v4R2']) {
    const { publicKey, secretKey } = await mnemonicToPrivateKey(await mnemonicNew());
    const wallet = new tonweb.Wallets.all[version]!(provider, { publicKey: new Uint8Array(publicKey), wc: 0 });
    const address = Address.parse((await wallet.getAddress()).toString(false));
    await stage.fund(address, toNano('2'));
    const key = new Uint8Array(secretKey);
    await send(stage, `tonweb: ${version} deployed`, wallet.deploy(key), (root) => {
      expectSame('active', root.transaction.endStatus, 'its state');
      return expectOutcomes(root, [[address, 'ok']]);
    });
    const seqno = await wallet.methods.seqno().call();
    expectSame(1, seqno, 'seqno of the new wallet');
    const transfer = wallet.methods.transfer({
      ...{ secretKey: key, toAddress: receiver.address.toString(), amount: tonweb.utils.toNano('0.7') },
      ...{ seqno, payload: `by tonweb, ${version}`, sendMode: 3 },
    });
    await send(stage, `tonweb: ${version} sends a comment`, transfer, (root) => {
      const said = expectOutcomes(root, [
        [address, 'ok'],
        [receiver.address, 'ok'],
      ]);
      expectSame(`by tonweb, ${version}`, commentIn(root.children[0]!), 'the comment');
      return said;
    });
  }
  return null;
}

async function send(stage: Stage, name: string, query: Query, holds: Parameters<Stage['await']>[3]): Promise<void> {
  const boc = await (await query.getQuery()).toBoc(false);
  const { info, body } = loadMessage(Cell.fromBoc(Buffer.from(boc))[0]!.beginParse());
  if (info.type !== 'external-in') throw new Error(`${name}: it is no external message`);
  // Ed25519 signs the same bytes the same way: what is sent is what was looked at.
  await query.send();
  await stage.await(name, info.dest, body, holds);
}
