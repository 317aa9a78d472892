import { setTimeout as delay } from 'node:timers/promises';
import {
  beginCell,
  Address as CoreAddress,
  Cell as CoreCell,
  type StateInit as CoreInit,
  contractAddress,
  storeStateInit,
  toNano,
} from '@ton/core';
import { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { buildInternalMessage, commentBody, createTransfer } from '#localnet/wallets/create-transfer.js';
import { type FundedWallet, fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/** What one message is to do. */
interface Wanted {
  readonly name: string;
  readonly to: CoreAddress;
  readonly value: bigint;
  readonly body?: CoreCell;
  readonly init?: CoreInit;
  readonly bounce?: boolean;
  readonly mode?: number;
  /** Whether a transaction of it fails. */
  readonly fails?: boolean;
}

/** What was seen of one message. */
export interface FollowedMessage {
  readonly name: string;
  /** Statuses as the stream of events had them. */
  readonly statuses: readonly string[];
  readonly success: boolean | null;
  readonly fails: boolean;
  /** Transactions as they were emulated, and as blocks have them: account, opcode, value, exit code and result of actions. */
  readonly emulated: readonly string[];
  readonly real: readonly string[];
  /** Types of actions. */
  readonly emulatedActions: readonly string[];
  readonly realActions: readonly string[];
  /** Milliseconds from the answer of the POST. */
  readonly pendingMs: number;
  /** Milliseconds from the commit of the message, when blocks were made again, to the event. */
  readonly finalMs: number;
}

/** How long actions may take on a machine that does much else. */
const PATIENCE_MS = 30_000;

// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
type Json = any;

const codeOf = (name: string) => CoreCell.fromBoc(Buffer.from(readBytes(vectorPath(`scenarios/${name}.boc`))))[0]!;
const text = (value: string) => beginCell().storeStringTail(value).endCell();

/** Sends messages of all kinds to a local network, and follows each until it is final. */
export class FollowedMessages {
  readonly #url: string;
  readonly #wallets: readonly FundedWallet[];
  readonly #seqnos = new Map<string, number>();

  /** @param url of `tern dev` */
  constructor(url: string) {
    this.#url = url;
    this.#wallets = fundedWallets().filter(
      ({ version, address }) => version !== 'highload-v3' && address.workchain === 0,
    );
  }

  /** One message of each wallet at a time, so often; the last wallet issues a jetton and an NFT first. */
  async run(rounds: number): Promise<readonly FollowedMessage[]> {
    const followed: FollowedMessage[] = [];
    const [tokens] = this.#wallets.slice(-1);
    const plans = this.#wallets.map((wallet) =>
      wallet === tokens ? tokenPlan(coreOf(wallet.address), coreOf(this.#wallets[0]!.address)) : [],
    );
    for (let round = 0; round < rounds; round++) {
      const batch = this.#wallets.map((wallet, i) => ({
        wallet,
        wanted:
          plans[i]![round] ?? transferOf(round + i, coreOf(this.#wallets[(i + 1) % this.#wallets.length]!.address)),
      }));
      followed.push(...(await this.#batch(batch)));
    }
    return followed;
  }

  /** While no blocks are made, all is emulated; then blocks are made. */
  async #batch(
    batch: readonly { readonly wallet: FundedWallet; readonly wanted: Wanted }[],
  ): Promise<FollowedMessage[]> {
    await this.#post('/localnet/pause', {});
    const sent = await Promise.all(batch.map(({ wallet, wanted }) => this.#send(wallet, wanted)));
    const emulated = await Promise.all(
      sent.map(async ({ hash }) => {
        const { body } = await this.#get(`/api/v3/follow/${hash}?timeout=60&after=accepted`);
        if (body.status !== 'pending') throw new Error(`${hash}: ${JSON.stringify(body)}`);
        return this.#classified(`/api/v3/pendingTraces?ext_msg_hash=${hash}`);
      }),
    );
    const began = performance.now();
    await this.#post('/localnet/resume', {});
    return Promise.all(
      sent.map(async ({ hash, events, answered }, i) => {
        const seen = await events;
        const last = seen.at(-1)!;
        const real = await this.#classified(`/api/v3/traces?msg_hash=${hash}&include_actions=true`);
        const { wanted } = batch[i]!;
        return {
          name: wanted.name,
          statuses: seen.map(({ step }) => step.status),
          success: last.step.success,
          fails: wanted.fails === true,
          emulated: summaryOf(emulated[i]),
          real: summaryOf(real),
          emulatedActions: actionsOf(emulated[i]),
          realActions: actionsOf(real),
          pendingMs: (seen.find(({ step }) => step.status === 'pending')?.at ?? Number.NaN) - answered,
          finalMs: last.at - began,
        };
      }),
    );
  }

  /** The trace of an answer, once its actions are known. */
  async #classified(path: string): Promise<Json> {
    for (const until = Date.now() + PATIENCE_MS; ; await delay(20)) {
      // A busy machine may answer 504.
      const body: Json = await (await fetch(`${this.#url}${path}`)).json();
      const trace = body.traces?.[0];
      if (trace?.trace_info.classification_state === 'ok') return trace;
      if (Date.now() > until) throw new Error(`${path}: ${JSON.stringify(trace?.trace_info ?? body)}`);
    }
  }

  async #send(wallet: FundedWallet, { to, value, body, init, bounce = true, mode = 3 }: Wanted) {
    const raw = wallet.address.toRaw();
    const seqno = this.#seqnos.get(raw) ?? (await this.#seqno(raw));
    const message = createTransfer(wallet, {
      seqno,
      validUntil: Math.floor(Date.now() / 1000) + 600,
      messages: [
        {
          mode,
          message: buildInternalMessage({
            to: Address.ofParts(to.workChain, to.hash),
            ...{ value, bounce, body: body === undefined ? commentBody(`seqno ${seqno}`) : cellOf(body) },
            init:
              init === undefined
                ? null
                : decodeCell(StateInit, cellOf(beginCell().store(storeStateInit(init)).endCell())),
          }),
        },
      ],
    });
    this.#seqnos.set(raw, seqno + 1);
    const boc = serializeBoc(message);
    const hash = toHex(normalizedExternalHash(readExternalInMessage(message, boc).message));
    const stream = await fetch(`${this.#url}/api/v3/follow/${hash}`, { headers: { Accept: 'text/event-stream' } });
    const events = eventsOf(stream);
    const { status, body: answer, headers } = await this.#post('/api/v3/message', { boc: toBase64(boc) });
    if (status !== 200) throw new Error(`${raw} with seqno ${seqno}: ${JSON.stringify(answer)}`);
    if (headers.get('x-tern-follow') !== `/api/v3/follow/${hash}`) throw new Error('no URL to follow it');
    return { hash, events, answered: performance.now() };
  }

  async #seqno(address: string): Promise<number> {
    const { body } = await this.#post('/api/v3/runGetMethod', { address, method: 'seqno', stack: [] });
    return Number(body.stack[0].value);
  }

  async #get(path: string): Promise<{ readonly body: Json }> {
    const response = await fetch(`${this.#url}${path}`);
    const body: Json = await response.json();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`);
    return { body };
  }

  async #post(path: string, json: object) {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${this.#url}${path}`, { method: 'POST', headers, body: JSON.stringify(json) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
  }
}

function cellOf(cell: CoreCell): Cell {
  return wholeCell(new Uint8Array(cell.toBoc()));
}

function coreOf(address: Address): CoreAddress {
  return CoreAddress.parse(address.toRaw());
}

/** Each status with its time. */
async function eventsOf(response: Response): Promise<readonly { readonly at: number; readonly step: Json }[]> {
  const found: { at: number; step: Json }[] = [];
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const whole = rest.split('\n\n');
    rest = whole.pop()!;
    for (const event of whole) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) found.push({ at: performance.now(), step: JSON.parse(data) });
    }
  }
  return found;
}

/** Transactions in the order of their tree, without what time changes: hashes, lt, fees. */
function summaryOf(trace: Json): string[] {
  const summary: string[] = [];
  const walk = (node: Json): void => {
    const { account, in_msg, out_msgs, description } = trace.transactions[node.tx_hash];
    const { exit_code = null, reason = null } = description.compute_ph ?? {};
    const result = description.action?.result_code ?? null;
    summary.push(
      [account, in_msg?.opcode ?? null, out_msgs.length, exit_code, reason, result, description.aborted].join(' '),
    );
    for (const child of node.children ?? []) walk(child);
  };
  walk(trace.trace);
  return summary.sort();
}

function actionsOf(trace: Json): string[] {
  return trace.actions.map(({ type, success }: Json) => `${type} ${success}`).sort();
}

/** Transfers to a wallet, to nobody, of more than there is, and of what bounces. */
function transferOf(number: number, to: CoreAddress): Wanted {
  const nobody = contractAddress(0, { code: text(`nobody ${number}`), data: text('') });
  switch (number % 5) {
    case 0:
      return { name: 'transfer to nobody', to: nobody, value: 1_000_000n, bounce: false };
    case 1:
      return { name: 'bounced transfer', to: nobody, value: 50_000_000n, fails: true };
    default:
      return { name: 'transfer', to, value: BigInt(1_000_000 + number), bounce: false };
  }
}

/** A jetton and an NFT: deployed, minted, sent, and sent by whom they do not belong to. */
function tokenPlan(owner: CoreAddress, other: CoreAddress): readonly Wanted[] {
  const walletCode = codeOf('jetton-wallet');
  const content = beginCell().storeUint(1, 8).storeStringTail('https://localhost/jetton.json').endCell();
  const minterData = beginCell().storeCoins(0).storeAddress(owner).storeRef(content).storeRef(walletCode).endCell();
  const minterInit = { code: codeOf('jetton-minter'), data: minterData };
  const minter = contractAddress(0, minterInit);
  const walletData = beginCell().storeCoins(0).storeAddress(owner).storeAddress(minter).storeRef(walletCode).endCell();
  const wallet = contractAddress(0, { code: walletCode, data: walletData });
  const internal = beginCell().storeUint(0x178d4519, 32).storeUint(1, 64).storeCoins(1_000_000).storeAddress(minter);
  const minted = internal.storeAddress(owner).storeCoins(0).storeBit(false).endCell();
  const mint = beginCell().storeUint(21, 32).storeUint(1, 64).storeAddress(owner).storeCoins(toNano('0.1'));
  const jettons = (amount: number) =>
    beginCell()
      .storeUint(0x0f8a7ea5, 32)
      .storeUint(2, 64)
      .storeCoins(amount)
      .storeAddress(other)
      .storeAddress(owner)
      .storeBit(false)
      .storeCoins(toNano('0.02'))
      .storeBit(false)
      .endCell();
  const metadata = beginCell().storeUint(1, 8).storeStringTail('https://localhost/collection.json').endCell();
  const royalty = beginCell().storeUint(5, 16).storeUint(100, 16).storeAddress(owner).endCell();
  const itemCode = codeOf('nft-item');
  const both = beginCell().storeRef(metadata).storeRef(text('https://localhost/')).endCell();
  const collectionData = beginCell().storeAddress(owner).storeUint(0, 64).storeRef(both).storeRef(itemCode);
  const collectionInit = { code: codeOf('nft-collection'), data: collectionData.storeRef(royalty).endCell() };
  const collection = contractAddress(0, collectionInit);
  const itemData = beginCell().storeUint(0, 64).storeAddress(collection).endCell();
  const item = contractAddress(0, { code: itemCode, data: itemData });
  const itemContent = beginCell().storeAddress(owner).storeRef(text('item-0.json')).endCell();
  const deploy = beginCell().storeUint(1, 32).storeUint(7, 64).storeUint(0, 64).storeCoins(toNano('0.05'));
  const give = beginCell().storeUint(0x5fcc3d14, 32).storeUint(8, 64).storeAddress(other).storeAddress(owner);
  const given = give.storeBit(false).storeCoins(toNano('0.01')).storeBit(false).endCell();
  const minting = mint.storeRef(minted).endCell();
  return [
    { name: 'jetton minted', to: minter, value: toNano('0.3'), init: minterInit, body: minting },
    { name: 'jetton transfer', to: wallet, value: toNano('0.2'), body: jettons(300_000) },
    { name: 'jetton transfer of too much', to: wallet, value: toNano('0.2'), body: jettons(9_000_000), fails: true },
    {
      name: 'NFT minted',
      to: collection,
      value: toNano('0.2'),
      init: collectionInit,
      body: deploy.storeRef(itemContent).endCell(),
    },
    { name: 'NFT transfer', to: item, value: toNano('0.1'), body: given },
    { name: 'NFT transfer by another', to: item, value: toNano('0.1'), body: given, fails: true },
  ];
}
