import { setTimeout as delay } from 'node:timers/promises';
import type { Address } from '#formats/address/address.js';
import { toBase64 } from '#kernel/bytes.js';
import { commentBody, type InternalMessageOptions } from '#localnet/wallets/create-transfer.js';
import { fundedWallets, walletContract } from '#localnet/wallets/wallet-contract.js';
import { ServedTern } from '#test/support/served-tern.js';
import { fundHighloadSenders, type HighloadSender, sendBoc } from '../highload-senders.js';

/** Accounts that got messages and do nothing by themselves: as many as a list of addresses may have. */
const RECEIVERS = 1_000;
/** Traces of a transfer each: more than a page of traces has. */
const TRACES = 1_100;
/** Characters; with it a message is some 4 kB in an answer, as on mainnet. */
const COMMENT = 500;
/** Transfers with {@link BATCH} messages: with the others, several pages of 1,000. */
const BATCHES = 40;
/** As many such messages as fit into an external-in message of 64 KiB. */
const BATCH = 30;
const VALUE = 10_000_000n;
const IN_FLIGHT = 24;
const ATTEMPTS = 5;

const POPULATE_BLOCK_MS = 300;
const POPULATED_WITHIN_MS = 240_000;

/** Contracts whose get-methods never end. */
const ENDLESS = 20;
/** `ACCEPT`, which lifts the gas limit to the most that there is, and a loop without an end. */
const ENDLESS_CODE = 'te6cckEBAQEABgAACPgAkOox23hy';
/** As many messages as a wallet can send at once. */
const FAN = 250;
const EMPTY_CELL_BOC = 'te6cckEBAQEAAgAAAEysuc0=';

/** What of the network does not change while it is attacked. */
export interface NetworkFacts {
  /** Accounts with a history, raw addresses. */
  readonly receivers: readonly string[];
  /** Wallets that nobody uses, raw addresses. */
  readonly wallets: readonly string[];
  readonly endless: readonly string[];
  /** Accounts of those who send meanwhile, raw addresses. */
  readonly senders: readonly string[];
  /** Messages that are not sent, and would lead to {@link FAN} further ones each; base64. */
  readonly fans: readonly string[];
}

/** A local network in a process of its own, with so much on its chain that the largest answers are large. */
export class HostileNetwork {
  readonly #node: ServedTern;
  readonly facts: NetworkFacts;
  /** With coins, for those who send. */
  readonly senders: readonly HighloadSender[];
  /** Its global configuration. */
  readonly config: string;

  private constructor(node: ServedTern, config: string, facts: NetworkFacts, senders: readonly HighloadSender[]) {
    this.#node = node;
    this.config = config;
    this.facts = facts;
    this.senders = senders;
  }

  /**
   * @param data an empty folder
   * @param blockTimeMs once it is populated
   */
  static async start(data: string, senders: number, blockTimeMs: number): Promise<HostileNetwork> {
    const block = ['--block-time', String(POPULATE_BLOCK_MS)];
    const node = await ServedTern.start(['dev', '--index', 'off', '--data', data, '--port', '0', ...block]);
    try {
      const funded = await fundHighloadSenders(node.url, senders);
      const receivers = Array.from({ length: RECEIVERS }, (_, number) => receiver(number));
      await populate(node.url, funded, receivers);
      const endless = Array.from({ length: ENDLESS }, (_, number) => `0:${String(number).padStart(64, 'e')}`);
      for (const address of endless) {
        const override = { address, balance: '100000000000', code: ENDLESS_CODE, data: EMPTY_CELL_BOC };
        await control(node.url, 'account', override);
      }
      await control(node.url, 'block-time', { milliseconds: blockTimeMs });
      const wallets = fundedWallets()
        .filter(({ version, mnemonic }) => mnemonic !== null && version !== 'v5r1')
        .map(({ address }) => address.toRaw());
      const facts = {
        receivers: receivers.map((each) => each.toRaw()),
        wallets,
        endless,
        senders: funded.map(({ wallet }) => wallet.address.toRaw()),
        fans: funded.map((sender) => toBase64(sender.transfer(...fanOf(receivers)))),
      };
      return new HostileNetwork(node, `${data}/localnet/global.config.json`, facts, funded);
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  get pid(): number {
    return this.#node.pid;
  }

  /** The newest masterchain block. */
  async headSeqno(): Promise<number> {
    const { head } = (await (await fetch(`${this.#node.url}/localnet/status`)).json()) as { head: { seqno: number } };
    return head.seqno;
  }

  /** Messages that were accepted, and are in no block yet. */
  async waitingMessages(): Promise<number> {
    const status = await (await fetch(`${this.#node.url}/localnet/status`)).json();
    return (status as { waiting_messages: number }).waiting_messages;
  }

  /** Root hash and file hash of a masterchain block, as the node tells them. */
  async masterchainBlock(seqno: number): Promise<{ readonly root_hash: string; readonly file_hash: string }> {
    const query = `workchain=-1&shard=-9223372036854775808&seqno=${seqno}`;
    const answer = await fetch(`${this.#node.url}/api/v2/lookupBlock?${query}`);
    return ((await answer.json()) as { result: { root_hash: string; file_hash: string } }).result;
  }

  close(): Promise<void> {
    return this.#node.close();
  }
}

function fanOf(receivers: readonly Address[]): InternalMessageOptions[] {
  return receivers.slice(0, FAN).map((to) => ({ to, value: VALUE, bounce: false }));
}

function receiver(number: number): Address {
  const publicKey = new Uint8Array(32);
  new DataView(publicKey.buffer).setUint32(0, number);
  return walletContract({ version: 'v3r2', publicKey }).address;
}

async function populate(url: string, senders: readonly HighloadSender[], receivers: readonly Address[]): Promise<void> {
  let sent = 0;
  const message = () => ({
    to: receivers[sent % receivers.length]!,
    value: VALUE,
    bounce: false,
    body: commentBody(`${sent++}: ${'spam, and more of it. '.repeat(COMMENT / 22)}`),
  });
  let transfers = 0;
  const worker = async (): Promise<void> => {
    while (transfers < TRACES + BATCHES) {
      const number = transfers++;
      const sender = senders[number % senders.length]!;
      const messages = Array.from({ length: number < TRACES ? 1 : BATCH }, message);
      const boc = sender.transfer(...messages);
      for (let attempt = 1; ; attempt++) {
        const { accepted, problem } = await sendBoc(url, boc);
        if (accepted) break;
        // A machine that is busy with other things may be late.
        if (attempt === ATTEMPTS) throw new Error(`the network was not populated: ${problem}`);
        await delay(1_000);
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const until = Date.now() + POPULATED_WITHIN_MS;
  for (let waiting = 1; waiting > 0; ) {
    if (Date.now() > until) throw new Error(`${waiting} messages still wait to be put into blocks`);
    await delay(500);
    const status = await (await fetch(`${url}/localnet/status`)).json();
    waiting = (status as { waiting_messages: number }).waiting_messages;
  }
  // What the last messages led to is in the next blocks.
  await control(url, 'mine', { blocks: 3 });
}

async function control(url: string, method: string, body: object): Promise<void> {
  const answer = await fetch(`${url}/localnet/${method}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`/localnet/${method}: ${answer.status} ${await answer.text()}`);
}
