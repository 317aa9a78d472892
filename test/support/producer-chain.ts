import type { Emulation } from '#drivers/tvm/transaction-runner.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type GenesisOptions, makeGenesis } from '#localnet/genesis/make-genesis.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { BlockProducer } from '#localnet/producer/block-producer.js';
import type {
  BlockRequest,
  PendingExternalIn,
  ProducedBundle,
  ProducerModules,
} from '#localnet/producer/block-request.js';
import { BlockValidator, type BundleReport } from '#localnet/validation/block-validator.js';
import { buildInternalMessage, createTransfer } from '#localnet/wallets/create-transfer.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** A chain that is made masterchain block by masterchain block, each checked as a validator does. */
export class ProducerChain {
  readonly genesis: Genesis;
  readonly #producer: BlockProducer;
  readonly #validator: BlockValidator;
  readonly #seqnos = new Map<FundedWallet, number>();
  tip: ChainTip;
  /** Unix seconds. */
  now: number;
  /** Of the masterchain block that was made last. */
  report: BundleReport | null = null;

  constructor(
    emulation: Emulation | TvmPool,
    modules: Partial<ProducerModules> = {},
    options: Partial<GenesisOptions> = {},
  ) {
    this.now = 1_800_000_000;
    let random = 1;
    const randomBytes = (size: number) => new Uint8Array(size).fill(random++);
    this.genesis = makeGenesis({ now: this.now, randomBytes, ...options });
    const { validatorSeed, masterchain, workchains } = this.genesis;
    this.#producer = new BlockProducer({
      emulation,
      validatorSeed,
      signatureKind: 'simplex',
      randomBytes,
      now: () => performance.now(),
      ...modules,
    });
    this.tip = { masterchain, shards: workchains };
    this.#validator = new BlockValidator(this.tip, [masterchain, ...workchains]);
  }

  /** Makes a masterchain block, a second later than the one before. @throws validation/* when a validator would not accept it */
  async round(request: Partial<BlockRequest> = {}): Promise<ProducedBundle> {
    const produced = await this.#producer.produce({
      tip: this.tip,
      zerostates: this.genesis.workchains,
      now: ++this.now,
      externals: [],
      overrides: [],
      wants: { split: [], merge: [] },
      full: () => false,
      ...request,
    });
    const { shards, masterchain } = produced.bundle;
    this.report = this.#validator.check(produced.bundle);
    this.tip = { masterchain, shards: shards.length === 0 ? this.tip.shards : shards };
    return produced;
  }

  /** Makes masterchain blocks until nothing waits in a queue. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await this.round();
      if (this.states().every((state) => state.out_msg_queue_info.value.out_queue.isEmpty)) return;
    }
    throw new RangeError('messages still wait after 20 rounds');
  }

  /** The states of the tip, that of the masterchain first. */
  states(): ShardStateUnsplit[] {
    return [this.tip.masterchain, ...this.tip.shards].map(({ state }) => decodeCell(ShardStateUnsplit, state));
  }

  /** Nanotons of an account; null when there is none. */
  balance(address: Address): bigint | null {
    for (const { accounts, shard_id } of this.states()) {
      if (shard_id.workchain_id !== address.workchain) continue;
      const account = accounts.value.get(address.hash)?.account.value;
      if (account?.kind === 'account') return account.storage.balance.grams;
    }
    return null;
  }

  /** A wallet of a version, in the basechain. */
  wallet(version: FundedWallet['version'], index = 0): FundedWallet {
    return this.genesis.wallets.filter((each) => each.version === version && each.address.workchain === 0)[
      index
    ] as FundedWallet;
  }

  /** A transfer from a wallet. */
  transfer(wallet: FundedWallet, ...messages: Parameters<typeof buildInternalMessage>[0][]): PendingExternalIn {
    const seqno = this.#seqnos.get(wallet) ?? 0;
    this.#seqnos.set(wallet, seqno + 1);
    const message: Cell = createTransfer(wallet, {
      seqno,
      validUntil: this.now + 600,
      messages: messages.map((each) => ({ message: buildInternalMessage(each) })),
    });
    return { message, dest: wallet.address };
  }
}

/** The address whose id is this byte, 32 times. */
export function accountAt(byte: number, workchain = 0): Address {
  return Address.ofParts(workchain, new Uint8Array(32).fill(byte));
}
