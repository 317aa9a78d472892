import type { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import { wholeCell } from '#formats/cells/whole-cell.js';
import { printShard, type Shard } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { Faucet } from '#localnet/faucet/faucet.js';
import type { LiveLedger } from '#localnet/ledger/live-ledger.js';
import { changeConfig } from '#localnet/node/config-change.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { ForkedAccounts } from '#localnet/node/forked-accounts.js';
import type { MinedIn, NodeStatus, RunningNode, SentMessage, SnapshotInfo } from '#localnet/node/local-node.js';
import { hasAccount, stateOf } from '#localnet/node/message-check.js';
import { messageInRound } from '#localnet/node/message-in-round.js';
import type { MessageIntake } from '#localnet/node/message-intake.js';
import type { NetworkTime } from '#localnet/node/network-time.js';
import { MOST_ROUNDS, type RoundLoop } from '#localnet/node/round-loop.js';
import { mergeCommand, type ShardCommand, splitCommand } from '#localnet/node/shard-command.js';
import type { AccountChange } from '#localnet/producer/round-request.js';
import type { FundedWallet } from '#localnet/wallets/funded-wallets.js';

/** Nanotons. */
const FAUCET_FEES = 1_000_000_000n;

/** What a node is made of. */
export interface NodeParts {
  readonly ledger: LiveLedger;
  readonly time: NetworkTime;
  readonly loop: RoundLoop;
  readonly intake: MessageIntake;
  readonly faucet: Faucet;
  /** The network that this one is a fork of. */
  readonly foreign: ForkedAccounts | null;
}

/** A node of a local network, as it is controlled from outside. */
export class LiveNode implements RunningNode {
  readonly #ledger: LiveLedger;
  readonly #time: NetworkTime;
  readonly #loop: RoundLoop;
  readonly #intake: MessageIntake;
  readonly #faucet: Faucet;
  readonly #foreign: ForkedAccounts | null;

  constructor({ ledger, time, loop, intake, faucet, foreign }: NodeParts) {
    this.#ledger = ledger;
    this.#time = time;
    this.#loop = loop;
    this.#intake = intake;
    this.#faucet = faucet;
    this.#foreign = foreign;
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
      block_time: this.#loop.blockTimeMs,
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
    for (let made = 0; made < blocks; made++) block = (await this.#loop.round()).masterchain.id;
    return { block };
  }

  async setPaused(paused: boolean): Promise<void> {
    await this.#loop.setPaused(paused);
  }

  async setBlockTime(milliseconds: number): Promise<void> {
    this.#loop.setBlockTime(milliseconds);
  }

  async advanceTime(seconds: number): Promise<MinedIn> {
    this.#time.advance(seconds);
    return { block: (await this.#loop.round()).masterchain.id };
  }

  async fund(to: Address, amount: bigint, comment: string | null): Promise<SentMessage> {
    await this.touch(to);
    this.#requireInFaucet(amount);
    const message = this.#faucet.transfer(to, amount, comment);
    const block = await this.#intake.sendAndMine(message);
    return { block, message_hash: message.message.hash() };
  }

  async setAccount(address: Address, change: AccountChange): Promise<MinedIn> {
    await this.touch(address);
    const { masterchain } = await this.#loop.intervene([{ kind: 'account', address, change }]);
    return { block: masterchain.id };
  }

  async runMessageAs(message: Uint8Array): Promise<SentMessage> {
    const cell = wholeCell(message);
    const { info } = decodeCell(Message, cell);
    const dest = info.kind === 'int_msg_info' ? accountOf(info.dest) : null;
    if (info.kind !== 'int_msg_info' || dest === null) {
      throw localnetErrors['not-made']({ wanted: 'a message from any address', problem: `it is of kind ${info.kind}` });
    }
    const round = await this.#loop.intervene([{ kind: 'message', message: cell }]);
    const sent = messageInRound(round, dest, cell) ?? cell;
    return { block: round.masterchain.id, message_hash: sent.hash() };
  }

  async setConfigParam(index: number, value: Uint8Array | null): Promise<MinedIn> {
    const { state } = this.#ledger.tip.masterchain;
    const change = changeConfig(state, index, value === null ? null : wholeCell(value));
    return { block: (await this.#loop.intervene([change])).masterchain.id };
  }

  async split(shard: Shard): Promise<MinedIn> {
    return this.#reshape(splitCommand(this.#ledger.tip, shard), `a split of ${printShard(shard)}`);
  }

  async merge(shard: Shard): Promise<MinedIn> {
    return this.#reshape(mergeCommand(this.#ledger.tip, shard), `a merge of ${printShard(shard)}`);
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

  async exportTo(folder: string): Promise<{ readonly blocks: number }> {
    return this.#ledger.exportTo(folder);
  }

  async touch(address: Address): Promise<MinedIn | null> {
    if (hasAccount(this.#ledger.tip, address)) return { block: this.#ledger.tip.masterchain.id };
    return this.#foreign === null ? null : this.#foreign.touch(address);
  }

  /** Some coins stay in the faucet: what it sends costs it fees. */
  #requireInFaucet(amount: bigint): void {
    const { address } = this.#faucet;
    const state = stateOf(this.#ledger.tip, address);
    const account = state === null ? undefined : decodeCell(ShardStateUnsplit, state).accounts.value.get(address.hash);
    const found = account?.account.value;
    const balance = found?.kind === 'account' ? found.storage.balance.grams : 0n;
    if (amount + FAUCET_FEES <= balance) return;
    const problem = `the faucet has ${balance} nanotons, and ${FAUCET_FEES} of them are for fees`;
    throw localnetErrors['not-made']({ wanted: `a gift of ${amount} nanotons`, problem });
  }

  async #reshape(command: ShardCommand, wanted: string): Promise<MinedIn> {
    const round = await this.#loop.reshape(command, MOST_ROUNDS);
    if (round === null) throw localnetErrors['no-block']({ wanted, blocks: MOST_ROUNDS });
    return { block: round.masterchain.id };
  }
}
