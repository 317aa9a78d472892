import { setTimeout as delay } from 'node:timers/promises';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { toBase64 } from '#kernel/bytes.js';
import {
  buildInternalMessage,
  createTransfer,
  type InternalMessageOptions,
  type WalletOwner,
} from '#localnet/wallets/create-transfer.js';
import { fundedWallets, HIGHLOAD_TIMEOUT, signingKey, walletContract } from '#localnet/wallets/wallet-contract.js';

const FUNDS = 10_000_000_000_000n;
const FUNDED_WITHIN_MS = 30_000;

/** A message that was sent to an API, and whether it was accepted. */
export interface SentMessage {
  /** Base64; empty when it was not accepted. */
  readonly hash: string;
  readonly accepted: boolean;
  /** Why it was not. */
  readonly problem: string;
}

/** A highload wallet: its queries need no order, so that nothing but the network sets the pace. */
export class HighloadSender {
  readonly wallet: WalletOwner;
  readonly #init;
  #queries = 0;

  /** @param number 0 to 254: another wallet for each */
  constructor(number: number) {
    const seed = new Uint8Array(32).fill(number + 1);
    const { address, walletId, init } = walletContract({
      version: 'highload-v3',
      publicKey: signingKey(seed).publicKey,
    });
    this.wallet = { version: 'highload-v3', address, walletId, seed };
    this.#init = init;
  }

  /** A signed message that sends these, as a bag of cells. The first one deploys the wallet. */
  transfer(...messages: readonly InternalMessageOptions[]): Uint8Array {
    const seqno = this.#queries++;
    const message = createTransfer(this.wallet, {
      seqno,
      validUntil: Math.floor(Date.now() / 1000) - 30 + HIGHLOAD_TIMEOUT,
      messages: messages.map((each) => ({ message: buildInternalMessage(each) })),
      init: this.#init,
    });
    return serializeBoc(message);
  }
}

/** New highload wallets with coins on a local network. @param url of an API of it */
export async function fundHighloadSenders(url: string, count: number): Promise<readonly HighloadSender[]> {
  const senders = Array.from({ length: count }, (_, number) => new HighloadSender(number));
  const funded = fundedWallets().find(({ version }) => version === 'v5r1')!;
  const messages = senders.map(({ wallet }) => ({
    message: buildInternalMessage({ to: wallet.address, value: FUNDS, bounce: false }),
  }));
  const options = { seqno: 0, validUntil: Math.floor(Date.now() / 1000) + 600, messages };
  const { accepted, problem } = await sendBoc(url, serializeBoc(createTransfer(funded, options)));
  if (!accepted) throw new Error(`the wallets got no coins: ${problem}`);
  for (const { wallet } of senders) {
    const address = wallet.address.toRaw();
    for (const until = Date.now() + FUNDED_WITHIN_MS; ; await delay(100)) {
      const answer = await fetch(`${url}/api/v2/getAddressBalance?address=${address}`);
      const { result } = (await answer.json()) as { result: string };
      if (BigInt(result) > 0n) break;
      if (Date.now() > until) throw new Error(`${address} got no coins`);
    }
  }
  return senders;
}

/** Not accepted is also what got no answer. */
export async function sendBoc(url: string, boc: Uint8Array): Promise<SentMessage> {
  try {
    const answer = await fetch(`${url}/api/v2/sendBocReturnHash`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ boc: toBase64(boc) }),
    });
    const { ok, result, error } = (await answer.json()) as { ok: boolean; result?: { hash: string }; error?: string };
    return { accepted: ok, hash: result?.hash ?? '', problem: error ?? '' };
  } catch (error) {
    return { accepted: false, hash: '', problem: String((error as Error).cause ?? error) };
  }
}
