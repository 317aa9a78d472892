import { createHash, randomBytes } from 'node:crypto';
import type { TickTockRequest, TransactionRequest, TransactionResult } from '#drivers/tvm/transaction.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { Address } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { BlockProducer } from '#localnet/producer/block-producer.js';
import type { PendingExternalIn } from '#localnet/producer/block-request.js';
import {
  buildInternalMessage,
  commentBody,
  createTransfer,
  MAX_MESSAGES,
  type OutgoingMessage,
  type WalletOwner,
} from '#localnet/wallets/create-transfer.js';
import { signingKey, type WalletContract, walletContract } from '#localnet/wallets/wallet-contract.js';

/** A transaction that was made in a bundle: what it was asked for with, and what came of it. */
export interface MadeTransaction {
  readonly request: TransactionRequest | TickTockRequest;
  readonly result: TransactionResult;
}

/** An mc block bundle that was produced and stored. */
export interface MadeBundle {
  readonly transactions: readonly MadeTransaction[];
}

type Wallet = WalletOwner & Pick<WalletContract, 'init'>;

/** Seconds for which a message may be put into a block. */
const VALID = 100_000;
/** Nanotons. */
const FIRST_VALUE = 100_000_000_000n;
const TRANSFER = 10_000_000n;
const BLOCK_SECONDS = 0.4;

/** Producer and ledger of a local network without a pace, and wallets that send coins in a ring. */
export class TransferNetwork {
  readonly #ledger: LiveLedger;
  readonly #pool: TvmPool;
  readonly #producer: BlockProducer;
  readonly #wallets: readonly Wallet[];
  readonly #began = Math.floor(Date.now() / 1000);
  #made: MadeTransaction[] = [];
  #mcBlocks = 0;
  /** How often each wallet has sent. */
  #sent = 0;

  private constructor(folder: string, pool: TvmPool, wallets: number) {
    this.#ledger = LiveLedger.create(
      folder,
      makeGenesis({ now: this.#began, randomBytes: (size) => randomBytes(size) }),
    );
    this.#pool = pool;
    const note = async <Request extends MadeTransaction['request']>(
      request: Request,
      run: (request: Request) => Promise<TransactionResult>,
    ): Promise<TransactionResult> => {
      const result = await run(request);
      this.#made.push({ request, result });
      return result;
    };
    this.#producer = new BlockProducer({
      emulation: {
        emulateTransaction: (request) => note(request, (each) => pool.emulateTransaction(each)),
        emulateTickTock: (request) => note(request, (each) => pool.emulateTickTock(each)),
      },
      validatorSeed: this.#ledger.genesis.validatorSeed,
      signatureKind: 'simplex',
      randomBytes: (size) => randomBytes(size),
      now: () => performance.now(),
    });
    this.#wallets = Array.from({ length: wallets }, (_, i) => {
      const seed = createHash('sha256').update(`wallet ${i}`).digest();
      return { ...walletContract({ version: 'v4r2', publicKey: signingKey(seed).publicKey }), seed };
    });
  }

  /** A network whose wallets have coins and are deployed. */
  static async start(folder: string, wallets: number): Promise<TransferNetwork> {
    const pool = new TvmPool({ workers: 1, spares: 0 }, { clock: systemClock });
    await pool.start();
    const network = new TransferNetwork(folder, pool, wallets);
    // The basechain begins with the second mc block.
    for (let i = 0; i < 2; i++) await network.#produce([]);
    await network.#fund();
    for (const messages of network.prepare(1)) await network.transfers(messages);
    return network;
  }

  /** The machine that the producer uses. */
  get pool(): TvmPool {
    return this.#pool;
  }

  /** Messages for mc blocks to come, in each of which every wallet sends coins to the next one. */
  prepare(bundles: number): (readonly PendingExternalIn[])[] {
    const all = this.#wallets;
    return Array.from({ length: bundles }, () => {
      const seqno = this.#sent++;
      return all.map((wallet, i) => this.#external(wallet, seqno, transferTo(all[(i + 1) % all.length]!.address)));
    });
  }

  /** @param messages as they were prepared, in their order @throws when anything of that does not happen */
  async transfers(messages: readonly PendingExternalIn[]): Promise<MadeBundle> {
    const bundle = await this.#produce(messages);
    const ordinary = bundle.transactions.filter(({ request, result }) => 'message' in request && result.accepted);
    // One for each message that is sent and received; fees that go to their collector make some more.
    if (ordinary.length < 2 * messages.length) throw new Error(`${ordinary.length} transactions: too few`);
    return bundle;
  }

  async close(): Promise<void> {
    await this.#pool.close();
    this.#ledger.close();
  }

  async #fund(): Promise<void> {
    const faucet = this.#ledger.genesis.wallets[0]!;
    const most = MAX_MESSAGES[faucet.version];
    for (let i = 0; i * most < this.#wallets.length; i++) {
      const some = this.#wallets.slice(i * most, (i + 1) * most);
      const messages = some.map(({ address: to }) => ({
        message: buildInternalMessage({ to, value: FIRST_VALUE, bounce: false }),
      }));
      // A highload wallet counts from when a query was made, which is an hour before its end.
      const validUntil = this.#now + 3_590;
      await this.#produce([
        { message: createTransfer(faucet, { seqno: i, validUntil, messages }), dest: faucet.address },
      ]);
    }
  }

  get #now(): number {
    return this.#began + Math.floor(this.#mcBlocks * BLOCK_SECONDS);
  }

  #external(wallet: Wallet, seqno: number, message: OutgoingMessage): PendingExternalIn {
    const init = seqno === 0 ? wallet.init : null;
    const transfer = createTransfer(wallet, { seqno, validUntil: this.#now + VALID, messages: [message], init });
    return { message: transfer, dest: wallet.address };
  }

  async #produce(externals: readonly PendingExternalIn[]): Promise<MadeBundle> {
    this.#made = [];
    const produced = await this.#producer.produce({
      tip: this.#ledger.tip,
      zerostates: this.#ledger.zerostates,
      now: this.#now,
      externals,
      overrides: [],
      wants: { split: [], merge: [] },
      full: () => false,
    });
    const refused = produced.externals.filter(({ kind }) => kind === 'refused');
    if (refused.length > 0 || produced.externals.length !== externals.length) {
      throw new Error(`${refused.length} of ${externals.length} messages are refused: ${JSON.stringify(refused[0])}`);
    }
    this.#ledger.append(produced.bundle);
    this.#mcBlocks++;
    return { transactions: this.#made };
  }
}

function transferTo(to: Address): OutgoingMessage {
  return { message: buildInternalMessage({ to, value: TRANSFER, bounce: false, body: commentBody('bundle') }) };
}
