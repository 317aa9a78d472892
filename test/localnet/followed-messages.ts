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
import { sendCommand } from '#app/cli/send.js';
import { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
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
  /** Whether it was sent by itself, and not together with those of the other wallets. */
  readonly isApart: boolean;
  /** Statuses as the stream of events had them. */
  readonly statuses: readonly string[];
  readonly success: boolean | null;
  readonly fails: boolean;
  /** Normalised hash, in base64. */
  readonly hash: string;
  /** Statuses as `tern send --follow` had them; null: it was not sent by that. */
  readonly commandStatuses: readonly string[] | null;
  /** Transactions as they were emulated, and as blocks have them, in the order of their keys. */
  readonly emulated: readonly SeenTransaction[];
  readonly real: readonly SeenTransaction[];
  /** Types of actions. */
  readonly emulatedActions: readonly string[];
  readonly realActions: readonly string[];
  /** Milliseconds from the answer of the POST. */
  readonly pendingMs: number;
  /** Milliseconds from when the network had the last masterchain block of the trace to the event; it is asked each 5 ms. */
  readonly finalMs: number;
}

/** What is compared of a transaction. */
export interface SeenTransaction {
  /** Account, opcode, number of messages, exit code, result of actions, and fees that time does not change. */
  readonly key: string;
  readonly hash: string;
  /** Nanotons that it received. */
  readonly value: bigint;
  /** Nanotons: fees for storage, which follow from the time; and all others. */
  readonly storageFees: bigint;
  readonly otherFees: bigint;
}

/** How long actions may take on a machine that does much else. */
const PATIENCE_MS = 30_000;
const HEAD_POLL_MS = 5;
/** Between messages that are sent apart. */
const APART_MS = 150;

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

  /**
   * One message of each wallet at a time, so often; the last wallet issues a jetton and an NFT first. Those of every second time are
   * sent at once, the others apart.
   */
  async run(rounds: number): Promise<readonly FollowedMessage[]> {
    const followed: FollowedMessage[] = [];
    const tokens = this.#wallets.at(-1)!;
    const deployer = this.#wallets.at(-2)!;
    const chain = chainOf(coreOf(deployer.address));
    const plans = new Map([
      [tokens, tokenPlan(coreOf(tokens.address), coreOf(this.#wallets[0]!.address), chain[0]!.to)],
      [deployer, { first: chain.toReversed(), again: chain.slice(0, 2) }],
    ]);
    for (let round = 0; round < rounds; round++) {
      const batch = this.#wallets.map((wallet, i) => {
        const { first, again } = plans.get(wallet) ?? { first: [], again: [] };
        const next = coreOf(this.#wallets[(i + 1) % this.#wallets.length]!.address);
        const planned = first[round] ?? again[(round - first.length) % again.length];
        return { wallet, wanted: planned ?? transferOf(round + i, next), byCommand: (round + i) % 4 === 0 };
      });
      followed.push(...(await this.#batch(batch, round % 2 === 0)));
    }
    return followed;
  }

  /** While no blocks are made, all is emulated; then blocks are made. */
  async #batch(
    batch: readonly { readonly wallet: FundedWallet; readonly wanted: Wanted; readonly byCommand: boolean }[],
    isApart: boolean,
  ): Promise<FollowedMessage[]> {
    await this.#post('/localnet/pause', {});
    const sent = await Promise.all(
      batch.map(async ({ wallet, wanted, byCommand }, i) => {
        if (isApart) await delay(i * APART_MS);
        return this.#send(wallet, wanted, byCommand);
      }),
    );
    const emulated = await Promise.all(
      sent.map(async ({ hash }) => {
        const { body } = await this.#get(`/api/v3/follow/${hash}?timeout=60&after=accepted`);
        if (body.status !== 'pending') throw new Error(`${hash}: ${JSON.stringify(body)}`);
        return this.#classified(`/api/v3/pendingTraces?ext_msg_hash=${hash}`);
      }),
    );
    const heads = new Map<number, number>();
    const watching = new AbortController();
    const watched = this.#watchHeads(heads, watching.signal);
    await this.#post('/localnet/resume', {});
    const followed = await Promise.all(
      sent.map(async ({ hash, events, answered, command }, i) => {
        const [seen, commandStatuses] = await Promise.all([events, command]);
        const last = seen.at(-1)!;
        const real = await this.#classified(`/api/v3/traces?msg_hash=${hash}&include_actions=true`);
        const { wanted } = batch[i]!;
        return {
          ...{ name: wanted.name, isApart },
          statuses: seen.map(({ step }) => step.status),
          success: last.step.success,
          fails: wanted.fails === true,
          hash: Buffer.from(hash, 'hex').toString('base64'),
          commandStatuses,
          emulated: summaryOf(emulated[i]),
          real: summaryOf(real),
          emulatedActions: actionsOf(emulated[i]),
          realActions: actionsOf(real),
          pendingMs: (seen.find(({ step }) => step.status === 'pending')?.at ?? Number.NaN) - answered,
          finalMs: last.at - (heads.get(Number(real.mc_seqno_end)) ?? Number.NaN),
        };
      }),
    );
    watching.abort();
    await watched;
    return followed;
  }

  /** When each masterchain block was seen first. */
  async #watchHeads(heads: Map<number, number>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { body } = await this.#get('/localnet/status');
      const { seqno } = body.head;
      // A block that was between two questions is not older than the one after it.
      for (let each = seqno; !heads.has(each) && each > seqno - 10; each--) heads.set(each, performance.now());
      await delay(HEAD_POLL_MS);
    }
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

  async #send(wallet: FundedWallet, { to, value, body, init, bounce = true, mode = 3 }: Wanted, byCommand: boolean) {
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
    if (byCommand) {
      const { sent, statuses } = sendByCommand(this.#url, toBase64(boc));
      await sent;
      return { hash, events, answered: performance.now(), command: statuses };
    }
    const { status, body: answer, headers } = await this.#post('/api/v3/message', { boc: toBase64(boc) });
    if (status !== 200) throw new Error(`${raw} with seqno ${seqno}: ${JSON.stringify(answer)}`);
    if (headers.get('x-tern-follow') !== `/api/v3/follow/${hash}`) throw new Error('no URL to follow it');
    return { hash, events, answered: performance.now(), command: null };
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

/** `tern send BOC --follow` in this process. */
function sendByCommand(url: string, boc: string) {
  const lines: Json[] = [];
  let isSent = () => {};
  const sent = new Promise<void>((resolve) => {
    isSent = resolve;
  });
  const command = sendCommand({}).configureOutput({
    writeOut: (line) => {
      lines.push(JSON.parse(line));
      isSent();
    },
  });
  const statuses = command
    .parseAsync([boc, '--url', url, '--follow', '--json'], { from: 'user' })
    .catch((error: unknown) => {
      // Its transactions failed, as they should.
      if (!isTernError(error, 'cli/message-failed')) throw error;
    })
    .then(() => lines.slice(1).map(({ status }) => String(status)));
  return { sent: Promise.race([sent, statuses.then(() => {})]), statuses };
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

function summaryOf(trace: Json): SeenTransaction[] {
  const seen: SeenTransaction[] = [];
  const walk = (node: Json): void => {
    const { account, in_msg, out_msgs, total_fees, description } = trace.transactions[node.tx_hash];
    const { exit_code = null, reason = null, gas_used = null, gas_fees = null } = description.compute_ph ?? {};
    const { result_code = null, total_fwd_fees = null } = description.action ?? {};
    const outcome = [exit_code, reason, result_code, description.aborted, gas_used, gas_fees, total_fwd_fees];
    const storageFees = BigInt(description.storage_ph?.storage_fees_collected ?? 0);
    seen.push({
      ...{ key: [account, in_msg?.opcode ?? null, out_msgs.length, ...outcome].join(' '), hash: node.tx_hash },
      ...{ value: BigInt(in_msg?.value ?? 0), storageFees, otherFees: BigInt(total_fees) - storageFees },
    });
    for (const child of node.children ?? []) walk(child);
  };
  walk(trace.trace);
  const order = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
  return seen.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : order(a.value, b.value)));
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

/** Messages of a wallet, and those that it sends again and again after them. */
interface Plan {
  readonly first: readonly Wanted[];
  readonly again: readonly Wanted[];
}

/** Contracts in a row. */
const CHAIN_LENGTH = 6;

/**
 * Contracts that pass all they receive on to the next one, the last to the owner; each with the message that deploys it. A message to
 * the first goes as far as one to a pool that swaps.
 */
function chainOf(owner: CoreAddress): readonly Wanted[] {
  // SETCP0; a message without bounce to the address in the data, with the value of this one (mode 64)
  const code = CoreCell.fromBoc(
    beginCell().storeBuffer(Buffer.from('ff008010c8cb05ed44d001ce70fa027001cb6ac98040fb00', 'hex')).endCell().toBoc(),
  )[0]!;
  const chain: Wanted[] = [];
  let next = owner;
  for (let i = 0; i < CHAIN_LENGTH; i++) {
    const init = { code, data: beginCell().storeAddress(next).endCell() };
    next = contractAddress(0, init);
    chain.unshift({ name: `chain of ${i + 1}`, to: next, value: toNano('0.2'), init });
  }
  return chain;
}

/** A jetton and an NFT: deployed, minted, sent, and sent by whom they do not belong to. */
function tokenPlan(owner: CoreAddress, other: CoreAddress, chain: CoreAddress): Plan {
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
  const jettons = (amount: number, to = other, forward = '0.02') =>
    beginCell()
      .storeUint(0x0f8a7ea5, 32)
      .storeUint(2, 64)
      .storeCoins(amount)
      .storeAddress(to)
      .storeAddress(owner)
      .storeBit(false)
      .storeCoins(toNano(forward))
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
  const tooMuch = { name: 'jetton transfer of too much', to: wallet, value: toNano('0.2'), fails: true };
  const byAnother = { name: 'NFT transfer by another', to: item, value: toNano('0.1'), body: given, fails: true };
  const first = [
    { name: 'jetton minted', to: minter, value: toNano('0.3'), init: minterInit, body: minting },
    { name: 'jetton transfer', to: wallet, value: toNano('0.2'), body: jettons(300_000) },
    { ...tooMuch, body: jettons(9_000_000) },
    {
      name: 'NFT minted',
      to: collection,
      value: toNano('0.2'),
      init: collectionInit,
      body: deploy.storeRef(itemContent).endCell(),
    },
    { name: 'NFT transfer', to: item, value: toNano('0.1'), body: given },
    byAnother,
  ];
  const again = [
    { name: 'jetton transfer through a chain', to: wallet, value: toNano('0.5'), body: jettons(10, chain, '0.3') },
    { name: 'jetton transfer', to: wallet, value: toNano('0.2'), body: jettons(20) },
    { ...tooMuch, body: jettons(9_000_000) },
    byAnother,
  ];
  return { first, again };
}
