import { Address as CoreAddress } from '@ton/core';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';
import { toHex } from '#kernel/bytes.js';
import { type ChainTruth, spreadOver } from './chain-truth.js';
import type { CheckReport } from './check-report.js';
import { expectSame } from './same-answer.js';

const ACCOUNTS = 20;
const READY_MS = 10_000;

/** What a client needs of a global configuration. */
export interface ServerConfig {
  readonly liteservers: readonly [{ readonly port: number; readonly id: { readonly key: string } }];
}

/** The npm package ton-lite-client on the head and on accounts. */
export async function checkLiteClient(config: ServerConfig, truth: ChainTruth, report: CheckReport): Promise<void> {
  const [{ port, id }] = config.liteservers;
  const engine = new LiteSingleEngine({ host: `tcp://127.0.0.1:${port}`, publicKey: Buffer.from(id.key, 'base64') });
  try {
    await untilReady(engine);
    const client = new LiteClient({ engine });
    const { head, states } = truth;
    const { last } = await client.getMasterchainInfo();
    await report.check('ton-lite-client: head', async () => {
      expectSame(head.id.seqno, last.seqno, 'seqno');
      expectSame(toHex(head.id.root_hash), last.rootHash.toString('hex'), 'root hash');
      return `block ${last.seqno}`;
    });
    await report.check('ton-lite-client: accounts', async () => {
      let count = 0;
      for (const { id, state } of states) {
        for (const [key, { account, last_trans_lt }] of spreadOver([...state.accounts.value], ACCOUNTS)) {
          const address = new CoreAddress(id.workchain, Buffer.from(key));
          const found = await client.getAccountState(address, last);
          const { value } = account;
          if (value.kind === 'account_none') continue;
          const name = address.toRawString();
          expectSame(`${value.storage.balance.grams}`, `${found.balance.coins}`, `balance of ${name}`);
          expectSame(`${last_trans_lt}`, `${found.lastTx?.lt}`, `last transaction of ${name}`);
          count++;
        }
      }
      return `${count} accounts`;
    });
    await report.check('ton-lite-client: transactions of the blocks of the head', async () => {
      const { shards } = await client.getFullBlock(head.id.seqno);
      const known = [...truth.masterchain, ...truth.shards];
      let count = 0;
      for (const { workchain, seqno, rootHash, transactions } of shards) {
        const block = known.find(({ id }) => rootHash.equals(id.root_hash));
        const expected = block?.transactions.map(({ hash, lt }) => `${lt} ${hash}`) ?? 'a block of the chain';
        const found = transactions.map(({ hash, lt }) => `${lt} ${hash.toString('hex')}`);
        expectSame(expected, found, `block ${workchain},${seqno}`);
        count += found.length;
      }
      return `${count} transactions of ${shards.length} blocks`;
    });
  } finally {
    engine.close();
  }
}

/** Resolves when it has connected. @throws when that takes too long */
export async function untilReady(engine: LiteSingleEngine): Promise<void> {
  if (engine.isReady()) return;
  await new Promise<void>((resolve, reject) => {
    const patience = setTimeout(() => reject(new Error('ton-lite-client did not connect')), READY_MS);
    engine.once('ready', () => {
      clearTimeout(patience);
      resolve();
    });
    engine.on('error', () => {});
  });
}
