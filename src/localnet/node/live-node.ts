import type { Address } from '#formats/address/address.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { printShard, type Shard } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { accountOf } from '#formats/tlb/msg-address.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import type { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { type BlockLoop, MAX_MC_BLOCKS, type MiningMode } from '#localnet/node/block-loop.js';
import { changeConfig } from '#localnet/node/config-change.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { ExternalMessageIntake } from '#localnet/node/external-intake.js';
import {
  accountIn,
  hasAccount,
  hasQueuedBetween,
  hasQueuedMessages,
  lastLt,
} from '#localnet/node/external-messages.js';
import type { Faucet } from '#localnet/node/faucet.js';
import type { ForkedAccounts } from '#localnet/node/forked-accounts.js';
import { takeInjectedMessage } from '#localnet/node/injected-messages.js';
import type {
  MinedIn,
  MinedMessage,
  NodeStatus,
  RecentState,
  RunningNode,
  Seeded,
  SnapshotInfo,
  WrittenStates,
} from '#localnet/node/local-node.js';
import { LAST_SECOND, type NetworkTime } from '#localnet/node/network-time.js';
import { overridesBackTo, RecentStates } from '#localnet/node/recent-states.js';
import { seedNetwork } from '#localnet/node/seed.js';
import { mergeCommand, type ShardCommand, splitCommand } from '#localnet/node/shard-commands.js';
import type { AccountOverride, StateOverride } from '#localnet/producer/block-request.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** Nanotons. */
const FAUCET_FEES = 1_000_000_000n;

/** Blocks after which messages that are on their way are not waited for any more. */
const MOST_DELIVERIES = 24;
/** How often accounts are restored, when messages on their way change them again. */
const MOST_REVERTS = 4;
/** Accounts that are restored in one block. */
const OVERRIDES_AT_A_TIME = 1_000;

/** The parts of a node. */
export interface NodeParts {
  readonly ledger: LiveLedger;
  readonly time: NetworkTime;
  readonly loop: BlockLoop;
  readonly intake: ExternalMessageIntake;
  readonly faucet: Faucet;
  /** Set when the network is a fork. */
  readonly forked: ForkedAccounts | null;
}

/** A running node of a local network and its control methods. */
export class LiveNode implements RunningNode {
  readonly #ledger: LiveLedger;
  readonly #time: NetworkTime;
  readonly #loop: BlockLoop;
  readonly #intake: ExternalMessageIntake;
  readonly #faucet: Faucet;
  readonly #forked: ForkedAccounts | null;
  readonly #recent = new RecentStates();
  /** One after the other: each begins with what exists. */
  #seeding: Promise<void> = Promise.resolve();
  /** As {@link #seeding}, of changes of the configuration. */
  #configuring: Promise<void> = Promise.resolve();
  /** Nanotons of gifts that the faucet has not sent yet, with their fees. */
  #promised = 0n;

  constructor({ ledger, time, loop, intake, faucet, forked }: NodeParts) {
    this.#ledger = ledger;
    this.#time = time;
    this.#loop = loop;
    this.#intake = intake;
    this.#faucet = faucet;
    this.#forked = forked;
  }

  async status(): Promise<NodeStatus> {
    const { masterchain, shards } = this.#ledger.tip;
    const { fork } = this.#ledger.genesis;
    return {
      chain: this.#ledger.incarnation,
      head: masterchain.id,
      gen_utime: decodeCell(ShardStateUnsplit, masterchain.state).gen_utime,
      now: this.#time.now(),
      time_offset: this.#time.offset,
      clock_speed: this.#time.speed,
      block_time: this.#loop.blockTimeMs,
      mining: this.#loop.mining,
      paused: this.#loop.paused,
      waiting_messages: this.#intake.waiting,
      shards: shards.map(({ id }) => id),
      fork: fork === undefined ? null : { source: fork.source, block: fork.block },
    };
  }

  async wallets(): Promise<readonly FundedWallet[]> {
    return this.#ledger.genesis.wallets;
  }

  async mine(blocks: number): Promise<MinedIn> {
    let block = this.#ledger.tip.masterchain.id;
    for (let made = 0; made < blocks; made++) block = (await this.#loop.makeBlock()).masterchain.id;
    return { block };
  }

  async setPaused(paused: boolean): Promise<void> {
    await this.#loop.setPaused(paused);
  }

  async setBlockTime(milliseconds: number): Promise<void> {
    this.#loop.setBlockTime(milliseconds);
  }

  async setMining(mining: MiningMode): Promise<void> {
    this.#loop.setMining(mining);
  }

  async advanceTime(seconds: number): Promise<MinedIn> {
    if (this.#time.now() + seconds > LAST_SECOND) {
      const problem = `it leads behind ${LAST_SECOND}, the last time that a block can have`;
      throw localnetErrors['not-made']({ wanted: `an advance of ${seconds} seconds`, problem });
    }
    this.#time.advance(seconds);
    return { block: (await this.#loop.makeBlock()).masterchain.id };
  }

  async setClockSpeed(speed: number): Promise<void> {
    this.#time.setSpeed(speed);
  }

  async fund(to: Address, amount: bigint, comment: string | null): Promise<MinedMessage> {
    await this.touch(to);
    // Without a pause between them: gifts at the same time share what the faucet has.
    this.#requireInFaucet(amount);
    this.#promised += amount + FAUCET_FEES;
    try {
      const message = this.#faucet.transfer(to, amount, comment);
      const block = await this.#intake.sendAndMine(message);
      const { address } = this.#faucet;
      // A highload wallet sends by a message to itself.
      await this.#untilDelivered(address, address);
      await this.#untilDelivered(address, to);
      return { block, message_hash: message.message.hash() };
    } finally {
      this.#promised -= amount + FAUCET_FEES;
    }
  }

  async setAccount(address: Address, change: AccountOverride): Promise<MinedIn> {
    await this.touch(address);
    const { masterchain } = await this.#loop.makeBlockWith([{ kind: 'account', address, change }]);
    return { block: masterchain.id };
  }

  async runMessageAs(message: Uint8Array): Promise<MinedMessage> {
    const cell = wholeCell(message);
    const { info } = decodeCell(Message, cell);
    const dest = info.kind === 'int_msg_info' ? accountOf(info.dest) : null;
    if (info.kind !== 'int_msg_info' || dest === null) {
      throw localnetErrors['not-made']({ wanted: 'a message from any address', problem: `its kind is ${info.kind}` });
    }
    const bundle = await this.#loop.makeBlockWith([{ kind: 'message', message: cell }]);
    const sent = takeInjectedMessage(bundle, dest, cell) ?? cell;
    return { block: bundle.masterchain.id, message_hash: sent.hash() };
  }

  async setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn> {
    const cell = value === null ? null : wholeCell(value);
    const changeAt = ({ masterchain }: ChainTip) => [
      changeConfig(masterchain.state, this.#ledger.genesis, index, cell),
    ];
    const made = this.#configuring.then(() => {
      // What is refused needs no block.
      changeAt(this.#ledger.tip);
      return this.#loop.makeBlockWith(changeAt);
    });
    this.#configuring = made.then(
      () => {},
      () => {},
    );
    return { block: (await made).masterchain.id };
  }

  async seed(): Promise<Seeded> {
    if (this.#forked !== null) throw localnetErrors['no-seed']({});
    const seeded = this.#seeding.then(() =>
      seedNetwork({
        tip: () => this.#ledger.tip,
        now: () => this.#time.now(),
        wallets: this.#ledger.genesis.wallets,
        faucet: this.#faucet,
        send: (message) => this.#intake.sendAndMine(message),
        deliver: () => this.#deliver(),
        setAccount: (address, change) => this.setAccount(address, change),
        setConfigParam: (index, value) => this.setConfigParam(index, serializeBoc(value)),
      }),
    );
    this.#seeding = seeded.then(
      () => {},
      () => {},
    );
    return seeded;
  }

  async split(shard: Shard): Promise<MinedIn> {
    return this.#splitOrMerge(splitCommand(this.#ledger.tip, shard), `a split of ${printShard(shard)}`);
  }

  async merge(shard: Shard): Promise<MinedIn> {
    return this.#splitOrMerge(mergeCommand(this.#ledger.tip, shard), `a merge of ${printShard(shard)}`);
  }

  async saveSnapshot(name: string): Promise<SnapshotInfo> {
    return this.#ledger.saveSnapshot(name);
  }

  async snapshots(): Promise<readonly SnapshotInfo[]> {
    return this.#ledger.snapshots();
  }

  async deleteSnapshot(name: string): Promise<void> {
    this.#ledger.deleteSnapshot(name);
  }

  async snapshot(): Promise<RecentState> {
    if (!(await this.#deliver()))
      throw localnetErrors['not-quiet']({ wanted: 'the snapshot', blocks: MOST_DELIVERIES });
    const { tip } = this.#ledger;
    const deleted = this.#forked?.deleted() ?? null;
    return { id: this.#recent.add({ tip, deleted }), block: tip.masterchain.id };
  }

  async revert(id: string): Promise<MinedIn> {
    const { tip: former, deleted } = this.#recent.get(id);
    for (let attempts = 0; attempts < MOST_REVERTS; attempts++) {
      let overrides: readonly StateOverride[] = [];
      // The block before it may have changed something as well.
      await this.#loop.makeBlockWith((tip) => {
        if (attempts === 0) this.#intake.clear();
        overrides = overridesBackTo(former, tip);
        return overrides.slice(0, OVERRIDES_AT_A_TIME);
      });
      for (let from = OVERRIDES_AT_A_TIME; from < overrides.length; from += OVERRIDES_AT_A_TIME) {
        await this.#loop.makeBlockWith(overrides.slice(from, from + OVERRIDES_AT_A_TIME));
      }
      // Messages on their way may change what was restored, or may come from contracts that are no more.
      if (!hasQueuedMessages(this.#ledger.tip)) {
        if (deleted !== null) this.#forked?.returnTo(deleted);
        return { block: this.#ledger.tip.masterchain.id };
      }
      await this.#deliver();
    }
    throw localnetErrors['not-quiet']({ wanted: 'the return to a snapshot', blocks: MOST_REVERTS * MOST_DELIVERIES });
  }

  /** Produces blocks until no message waits. @returns whether that is so */
  async #deliver(): Promise<boolean> {
    for (let blocks = 0; blocks < MOST_DELIVERIES; blocks++) {
      if (this.#intake.waiting === 0 && !hasQueuedMessages(this.#ledger.tip)) return true;
      await this.#loop.nextBlock();
    }
    return false;
  }

  /** Produces blocks until messages between two accounts that exist now are delivered. @throws localnet/no-block */
  async #untilDelivered(from: Address, to: Address): Promise<void> {
    const until = lastLt(this.#ledger.tip);
    for (let blocks = 0; blocks < MAX_MC_BLOCKS; blocks++) {
      if (!hasQueuedBetween(this.#ledger.tip, { from, to, until })) return;
      await this.#loop.nextBlock();
    }
    throw localnetErrors['no-block']({ wanted: `the message to ${to.toRaw()}`, blocks: MAX_MC_BLOCKS });
  }

  async exportTo(folder: string): Promise<{ readonly blocks: number }> {
    return this.#ledger.exportTo(folder);
  }

  async exportStatesTo(folder: string, splitDepth: number): Promise<WrittenStates> {
    return this.#ledger.exportStatesTo(folder, splitDepth);
  }

  async touch(address: Address): Promise<MinedIn | null> {
    if (hasAccount(this.#ledger.tip, address)) return { block: this.#ledger.tip.masterchain.id };
    return this.#forked === null ? null : this.#forked.touch(address);
  }

  /** The faucet retains some coins for the fees of its messages. */
  #requireInFaucet(amount: bigint): void {
    const { address } = this.#faucet;
    const balance = accountIn(this.#ledger.tip, address)?.balance.grams ?? 0n;
    if (this.#promised + amount + FAUCET_FEES <= balance) return;
    const promised = this.#promised === 0n ? '' : `, ${this.#promised} are promised to others`;
    const problem = `the faucet has ${balance} nanotons${promised}, and ${FAUCET_FEES} of them are for fees`;
    throw localnetErrors['not-made']({ wanted: `a gift of ${amount} nanotons`, problem });
  }

  async #splitOrMerge(command: ShardCommand, wanted: string): Promise<MinedIn> {
    const bundle = await this.#loop.splitOrMerge(command, MAX_MC_BLOCKS);
    if (bundle === null) throw localnetErrors['no-block']({ wanted, blocks: MAX_MC_BLOCKS });
    return { block: bundle.masterchain.id };
  }
}
