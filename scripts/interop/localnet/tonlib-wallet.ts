import { setTimeout as delay } from 'node:timers/promises';
import { expectSame } from '../same-answer.js';
import type { Json, JsonObject, TonlibSession } from '../tonlib-session.js';
import type { KnownWallet } from './local-network.js';

/** How tonlib calls what makes the state of a wallet, by version. */
const INITIAL_STATES: Readonly<Record<string, string>> = {
  v3r2: 'wallet.v3.initialAccountState',
  v4r2: 'wallet.v4.initialAccountState',
};
const REVISION = 2;
const VALID_S = 60;
const PATIENCE_MS = 30_000;
const POLL_MS = 150;

/** A transfer that arrived. */
export interface Arrived {
  /** Of the wallet, and of the receiver. */
  readonly transactions: readonly [JsonObject, JsonObject];
}

/** A wallet whose key tonlib made from its words. */
export class TonlibWallet {
  readonly #tonlib: TonlibSession;
  readonly #key: JsonObject;
  readonly address: JsonObject;

  private constructor(tonlib: TonlibSession, key: JsonObject, address: JsonObject) {
    this.#tonlib = tonlib;
    this.#key = key;
    this.address = address;
  }

  /** Whether tonlib has a wallet of this version. Those in the masterchain are special here, and pay nothing. */
  static knows({ version, mnemonic, address }: KnownWallet): boolean {
    return version in INITIAL_STATES && mnemonic !== null && address.startsWith('0:');
  }

  static async open(tonlib: TonlibSession, wallet: KnownWallet): Promise<TonlibWallet> {
    const exported_key = { '@type': 'exportedKey', word_list: wallet.mnemonic! };
    const { public_key, secret } = await ask(tonlib, {
      '@type': 'importKey',
      ...{ local_password: '', mnemonic_password: '', exported_key },
    });
    const type = INITIAL_STATES[wallet.version]!;
    const address = await ask(tonlib, {
      '@type': 'getAccountAddress',
      initial_account_state: { '@type': type, public_key: public_key!, wallet_id: `${wallet.wallet_id}` },
      revision: REVISION,
      workchain_id: Number(wallet.address.split(':')[0]),
    });
    const unpacked = await ask(tonlib, { '@type': 'unpackAccountAddress', account_address: address.account_address! });
    const hash = Buffer.from(unpacked.addr as string, 'base64')
      .toString('hex')
      .toUpperCase();
    expectSame(wallet.address, `${unpacked.workchain_id}:${hash}`, 'the address that tonlib makes of the words');
    const key = { '@type': 'key', public_key: public_key!, secret: secret! };
    return new TonlibWallet(tonlib, { '@type': 'inputKeyRegular', key, local_password: '' }, address);
  }

  /**
   * Sends coins with a comment, and waits until they are there. What tonlib expected it to cost is what it costs; of receiving
   * them it does not know more than the least price of gas.
   *
   * @param destination user-friendly
   * @param amount nanotons
   */
  async transfer(destination: string, amount: bigint, comment: string): Promise<Arrived> {
    const text = Buffer.from(comment).toString('base64');
    const message = {
      '@type': 'msg.message',
      destination: { '@type': 'accountAddress', account_address: destination },
      ...{ public_key: '', amount: `${amount}`, data: { '@type': 'msg.dataText', text }, send_mode: 3 },
    };
    const before = await this.#lastTransaction(this.address);
    const { id, body_hash } = await ask(this.#tonlib, {
      '@type': 'createQuery',
      ...{ private_key: this.#key, address: this.address, timeout: VALID_S },
      action: { '@type': 'actionMsg', messages: [message], allow_send_to_uninited: true },
    });
    const fees = await ask(this.#tonlib, { '@type': 'query.estimateFees', id: id!, ignore_chksig: false });
    await ask(this.#tonlib, { '@type': 'query.send', id: id! });
    const sent = await this.#transactionWith(this.address, body_hash, before);
    expectSame(costs(fees.source_fees as JsonObject), Number(sent.other_fee), 'what sending costs');
    const [out] = sent.out_msgs as readonly JsonObject[];
    expectSame([`${amount}`, { '@type': 'msg.dataText', text }], [out!.value!, out!.msg_data!], 'what it sent');
    const received = await this.#transactionWith(out!.destination as JsonObject, out!.body_hash, '0', out!.created_lt);
    expectSame([out!.hash!], [(received.in_msg as JsonObject).hash!], 'the message that arrived');
    return { transactions: [sent, received] };
  }

  async #lastTransaction(address: JsonObject): Promise<string> {
    const { last_transaction_id } = await ask(this.#tonlib, {
      '@type': 'raw.getAccountState',
      account_address: address,
    });
    return (last_transaction_id as JsonObject).lt as string;
  }

  /** The transaction after an lt whose message has a body with this hash, and if given this `created_lt`. */
  async #transactionWith(
    address: JsonObject,
    bodyHash: Json | undefined,
    after: string,
    createdLt?: Json,
  ): Promise<JsonObject> {
    const until = Date.now() + PATIENCE_MS;
    for (let seen = ''; Date.now() < until; await delay(POLL_MS)) {
      const state = await ask(this.#tonlib, { '@type': 'raw.getAccountState', account_address: address });
      const last = state.last_transaction_id as JsonObject;
      if (last.lt === seen || BigInt(last.lt as string) <= BigInt(after)) continue;
      seen = last.lt as string;
      const page = await ask(this.#tonlib, {
        '@type': 'raw.getTransactionsV2',
        ...{ account_address: address, from_transaction_id: last, count: 16, try_decode_messages: true },
      });
      const found = (page.transactions as readonly JsonObject[]).find(({ in_msg }) => {
        const message = in_msg as JsonObject | undefined;
        return message?.body_hash === bodyHash && (createdLt === undefined || message?.created_lt === createdLt);
      });
      if (found !== undefined) return found;
    }
    throw new Error(`nothing arrived at ${address.account_address} in ${PATIENCE_MS / 1000} s`);
  }
}

/** What a transaction costs apart from storage. */
function costs({ in_fwd_fee, gas_fee, fwd_fee }: JsonObject): number {
  return Number(in_fwd_fee) + Number(gas_fee) + Number(fwd_fee);
}

/** What tonlib answers. @throws when it is an error */
export async function ask(tonlib: TonlibSession, request: JsonObject): Promise<JsonObject> {
  const answer = await tonlib.ask(request);
  if (answer['@type'] === 'error') throw new Error(`${request['@type']}: ${answer.message}`);
  return answer;
}
