import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckReport } from '../../check-report.js';
import { expectSame } from '../../same-answer.js';
import type { V3Truth } from './v3-truth.js';

/** The part of @tetherto/wdk-wallet-ton that is used. */
interface Wallet {
  getAddress(): Promise<string>;
  getBalance(): Promise<bigint>;
  quoteSendTransaction(order: { to: string; value: bigint; body?: string }): Promise<{ fee: bigint }>;
  sendTransaction(order: { to: string; value: bigint; body?: string }): Promise<{ hash: string }>;
  getTransactionReceipt(hash: string): Promise<{ hash(): Buffer } | null | undefined>;
}

interface Package {
  readonly WalletAccountReadOnlyTon: new (publicKey: string, config: object) => Wallet;
  readonly WalletAccountTon: new (seed: string, path: string, config: object) => Wallet;
}

/** The live service, whose address is written in this client; requests to it are sent to Tern. */
const LIVE = 'https://toncenter.com/api/v3';

/** Mnemonic of a wallet that nobody uses. */
const MNEMONIC = `${'abandon '.repeat(11)}about`;

/** Wallets of the kind that this client is for: all its calls but those about jettons. */
export async function checkWdk(packages: string, url: string, truth: V3Truth, report: CheckReport): Promise<void> {
  const path = join(packages, 'node_modules', '@tetherto', 'wdk-wallet-ton', 'index.js');
  const { WalletAccountReadOnlyTon, WalletAccountTon } = (await import(pathToFileURL(path).href)) as Package;
  const config = { tonClient: { url: `${url}/toncenter/api/v2/jsonRPC` } };
  const wallets = truth.wallets
    .filter(({ wallet_type }) => wallet_type === 'wallet v5 r1')
    .map((fact) => ({ fact, wallet: new WalletAccountReadOnlyTon(fact.public_key, config) }));
  const check = (name: string, run: () => Promise<string>) => report.check(`wdk-wallet-ton: ${name}`, run);

  await check('wallets', async () => {
    for (const { fact, wallet } of wallets) {
      expectSame(fact.balance, String(await wallet.getBalance()), `balance of ${await wallet.getAddress()}`);
      const to = await wallet.getAddress();
      const { fee } = await wallet.quoteSendTransaction({ to, value: 1_000_000n, body: 'hello' });
      expectSame(true, fee > 0n, `that an order of ${to} costs something`);
    }
    if (wallets.length === 0) throw new Error('the chain has no such wallet');
    return `${wallets.length} with balance and fee`;
  });
  await check('receipts by the body of the message', () =>
    withLiveService(url, async (answers) => {
      const { wallet } = wallets[0]!;
      const orders = Object.values(truth.transactions).filter(({ in_msg }) => typeof in_msg?.hash_norm === 'string');
      for (const { hash, prev_hash, prev_lt, in_msg } of orders) {
        const body = Buffer.from(in_msg!.body_hash, 'base64').toString('hex');
        const receipt = await wallet.getTransactionReceipt(body);
        const found = answers.at(-1)!.transactions.map((transaction) => transaction.hash);
        expectSame([hash], found, `transactions by body ${body}`);
        // Of the history from that one on it takes what follows, so that it gives the one before.
        const given = receipt?.hash().toString('base64') ?? null;
        expectSame(prev_lt === '0' ? null : prev_hash, given, `receipt of ${body}`);
      }
      expectSame(null, (await wallet.getTransactionReceipt('0'.repeat(64))) as null, 'receipt of nothing');
      expectSame(orders.length + 1, answers.length, 'requests to API v3');
      return `${orders.length} of them, and none for another`;
    }),
  );
  await check('an order that is refused', async () => {
    const wallet = new WalletAccountTon(MNEMONIC, "0'/0/0", config);
    expectSame('0', String(await wallet.getBalance()), 'balance of nobody');
    const order = { to: await wallet.getAddress(), value: 1n };
    const problem = await wallet.sendTransaction(order).then(
      () => null,
      (error: Error) => error.message,
    );
    if (problem === null) throw new Error('it was taken, by a chain that is a recording');
    return problem;
  });
}

interface Answer {
  readonly transactions: readonly { readonly hash: string }[];
}

/** Runs something while the live service is Tern. @param run gets what was answered so far */
async function withLiveService(url: string, run: (answers: readonly Answer[]) => Promise<string>): Promise<string> {
  const original = globalThis.fetch;
  const answers: Answer[] = [];
  globalThis.fetch = async (input, init) => {
    const address = String(input);
    if (!address.startsWith(LIVE)) return original(input, init);
    const response = await original(`${url}/toncenter/api/v3${address.slice(LIVE.length)}`, init);
    answers.push((await response.clone().json()) as Answer);
    return response;
  };
  try {
    return await run(answers);
  } finally {
    globalThis.fetch = original;
  }
}
