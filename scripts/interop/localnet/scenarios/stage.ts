import { setTimeout as delay } from 'node:timers/promises';
import { Address, type Cell, internal, type MessageRelaxed, SendMode, type StateInit } from '@ton/core';
import { type KeyPair, mnemonicToPrivateKey } from '@ton/crypto';
import { TonClient, WalletContractV3R2, WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import type { JsonObject } from '../../tonlib-session.js';
import type { LocalNetwork } from '../local-network.js';
import type { LedgerTransaction } from './ledger.js';
import { normalizedHash } from './normalized-hash.js';
import { V3Reader } from './v3-reader.js';

export type WalletVersion = 'v3r2' | 'v4r2' | 'v5r1';
type WalletContract = WalletContractV3R2 | WalletContractV4 | WalletContractV5R1;

const PATIENCE_MS = 45_000;
const POLL_MS = 200;

/** Something that was sent, and what blocks must say about it. */
export interface Sent {
  readonly name: string;
  /** Normalised, in base64. */
  readonly messageHash: string;
  /** As API v3 had it when it was complete. */
  readonly trace: JsonObject;
  /** Looks at what is in blocks. @returns what was found to be right, or throws */
  readonly holds: (root: LedgerTransaction) => string;
}

/** A local network as a program sees it that has no more than clients of others, and what it has sent there. */
export class Stage {
  readonly network: LocalNetwork;
  readonly client: TonClient;
  readonly v3: V3Reader;
  readonly sent: Sent[] = [];
  /** Accounts whose states are compared at the end. */
  readonly accounts = new Map<string, Address>();

  constructor(network: LocalNetwork) {
    this.network = network;
    this.client = new TonClient({ endpoint: `${network.url}/api/v2/jsonRPC`, timeout: 30_000 });
    this.v3 = new V3Reader(network.url);
  }

  /** The wallet with coins of a version, from its words; the `index`th there is. */
  async funded(version: WalletVersion, index = 0, workchain = 0): Promise<StageWallet> {
    const ofVersion = (await this.network.wallets()).filter(
      (each) => each.version === version && each.mnemonic !== null && each.address.startsWith(`${workchain}:`),
    );
    const { mnemonic, address } = ofVersion[index]!;
    const wallet = new StageWallet(this, version, await mnemonicToPrivateKey([...mnemonic!]), workchain);
    if (!wallet.address.equals(Address.parse(address))) throw new Error(`${version}: the words are of another address`);
    return wallet;
  }

  /** Coins from the faucet, waited for as a client would. */
  async fund(address: Address, amount: bigint): Promise<void> {
    await this.network.control('faucet', { address: address.toString(), amount: `${amount}` });
    await this.until(`coins at ${address}`, async () => (await this.client.getBalance(address)) >= amount);
    this.accounts.set(address.toRawString(), address);
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(POLL_MS)) if (await holds()) return;
    throw new Error(`after ${PATIENCE_MS / 1000} s still not there: ${what}`);
  }

  /**
   * Sends an external message to a contract, with its initial state where it is not deployed, and waits until API v3 has all
   * that follows.
   */
  async send(name: string, contract: Receiver, body: Cell, holds: Sent['holds']): Promise<void> {
    await this.client.sendExternalMessage({ address: contract.address, ...initOf(contract) }, body);
    await this.await(name, contract.address, body, holds);
  }

  /** Waits for what was sent in another way. */
  async await(name: string, address: Address, body: Cell, holds: Sent['holds']): Promise<void> {
    const messageHash = normalizedHash(address, body);
    const trace = await this.v3.trace(messageHash);
    for (const { account } of Object.values(trace.transactions as JsonObject) as readonly JsonObject[]) {
      this.accounts.set(account as string, Address.parse(account as string));
    }
    this.sent.push({ name, messageHash, trace, holds });
  }
}

interface Receiver {
  readonly address: Address;
  readonly init?: StateInit | undefined;
}

function initOf({ init }: Receiver): { init?: { code: Cell | null; data: Cell | null } } {
  return init === undefined ? {} : { init: { code: init.code ?? null, data: init.data ?? null } };
}

/** What {@link StageWallet.send} sends: as `internal` of @ton/core takes it. */
export type Transfer = Parameters<typeof internal>[0];

/** A wallet of @ton/ton with its key. */
export class StageWallet {
  readonly #stage: Stage;
  readonly contract: WalletContract;
  readonly keys: KeyPair;

  constructor(stage: Stage, version: WalletVersion, keys: KeyPair, workchain = 0) {
    this.#stage = stage;
    this.keys = keys;
    const { publicKey } = keys;
    if (version === 'v3r2') this.contract = WalletContractV3R2.create({ workchain, publicKey });
    else if (version === 'v4r2') this.contract = WalletContractV4.create({ workchain, publicKey });
    else this.contract = WalletContractV5R1.create({ workchain, publicKey });
  }

  get address(): Address {
    return this.contract.address;
  }

  seqno(): Promise<number> {
    return this.#stage.client.open(this.contract as WalletContractV4).getSeqno();
  }

  /** A signed body. */
  sign(seqno: number, transfers: readonly Transfer[], timeout?: number): Cell {
    const messages: MessageRelaxed[] = transfers.map((transfer) => internal(transfer));
    const { secretKey } = this.keys;
    const sendMode = SendMode.PAY_GAS_SEPARATELY | SendMode.IGNORE_ERRORS;
    const args = { seqno, secretKey, messages, sendMode, ...(timeout === undefined ? {} : { timeout }) };
    // Versions differ in the types of what they return only.
    return (this.contract as WalletContractV4).createTransfer(args);
  }

  async send(name: string, transfers: readonly Transfer[], holds: Sent['holds']): Promise<void> {
    await this.#stage.send(name, this.contract, this.sign(await this.seqno(), transfers), holds);
  }
}
