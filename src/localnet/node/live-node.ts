import { join } from 'node:path';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import { accountOf } from '#formats/address/msg-address.js';
import { wholeCell } from '#formats/cells/whole-cell.js';
import { type BlockId, printShard, type Shard } from '#formats/proofs/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { Faucet } from '#localnet/faucet/faucet.js';
import { ForeignAccounts } from '#localnet/fork/foreign-accounts.js';
import { GoneAccounts } from '#localnet/fork/gone-accounts.js';
import { LiveLedger } from '#localnet/ledger/live-ledger.js';
import type { ChainTip } from '#localnet/ledger/round.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import { startLiteserver } from '#localnet/liteserver/server.js';
import { changeConfig } from '#localnet/node/config-change.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { MinedIn, NodeStatus, RunningNode, SentMessage, SnapshotInfo } from '#localnet/node/local-node.js';
import { MessageCheck, stateOf } from '#localnet/node/message-check.js';
import { messageInRound } from '#localnet/node/message-in-round.js';
import { MessagePool } from '#localnet/node/message-pool.js';
import { NetworkTime } from '#localnet/node/network-time.js';
import type { LiveNodeModules, LiveNodeOptions, NodeAddress } from '#localnet/node/options.js';
import { RoundLoop } from '#localnet/node/round-loop.js';
import { mergeCommand, type ShardCommand, splitCommand } from '#localnet/node/shard-command.js';
import { RoundProducer } from '#localnet/producer/round-producer.js';
import type { AccountChange, ExternalMessage, ProducerModules } from '#localnet/producer/round-request.js';
import type { FundedWallet } from '#localnet/wallets/funded-wallets.js';

/** After so many rounds without it, something does not happen any more. */
const MOST_ROUNDS = 300;

/** Nanotons. */
const FAUCET_FEES = 1_000_000_000n;

/** A node of a local network: a chain that grows, and a liteserver that tells of it. */
export class LiveNode implements RunningNode {
  readonly #modules: LiveNodeModules;
  readonly #ledger: LiveLedger;
  readonly #loop: RoundLoop;
  readonly #pool: MessagePool;
  readonly #check: MessageCheck;
  readonly #time: NetworkTime;
  readonly #faucet: Faucet;
  /** The network that this one is a fork of, as far as its accounts have a life here. */
  readonly #foreign: ForeignAccounts | null;
  /** Accounts of that network that are on their way here. */
  readonly #touched = new Map<string, Promise<MinedIn | null>>();

  private constructor(ledger: LiveLedger, tvm: TvmPool, options: LiveNodeOptions, modules: LiveNodeModules) {
    const { clock, unixTimeMs, randomBytes, logger, foreign } = modules;
    this.#modules = modules;
    this.#ledger = ledger;
    this.#pool = new MessagePool(clock);
    this.#time = new NetworkTime(unixTimeMs);
    const { gen_utime } = decodeCell(ShardStateUnsplit, ledger.tip.masterchain.state);
    this.#time.continueFrom(gen_utime);
    const gone = foreign === undefined ? null : openGone(options.folder, ledger);
    const accounts =
      foreign === undefined
        ? null
        : new ForeignAccounts(foreign, {
            isGone: (address) => gone!.has(address),
            hasLibrary: (hash) => librariesOf(ledger.tip).has(hash),
          });
    this.#foreign = accounts;
    const foreignParts: Pick<ProducerModules, 'foreignAccount' | 'foreignLibrary'> =
      accounts === null
        ? {}
        : {
            foreignAccount: (address) => accounts.account(address),
            foreignLibrary: (hash) => accounts.library(hash),
          };
    const now = () => this.#time.now();
    this.#check = new MessageCheck({ emulation: tvm, tip: () => ledger.tip, now, ...foreignParts });
    const [faucet] = ledger.genesis.wallets;
    this.#faucet = new Faucet(faucet!, { now, random: modules.random });
    const producer = new RoundProducer({
      emulation: tvm,
      validatorSeed: ledger.genesis.validatorSeed,
      signatureKind: options.signatureKind,
      randomBytes,
      now: () => clock.now(),
      ...foreignParts,
    });
    this.#loop = new RoundLoop(options, {
      clock,
      time: this.#time,
      pool: this.#pool,
      zerostates: ledger.zerostates,
      tip: () => ledger.tip,
      produce: (request) => producer.produce(request),
      append: (round) => {
        gone?.note(round);
        ledger.append(round);
      },
      onProduced: (produced) => {
        modules.onProduced(produced);
        this.#publishLent();
      },
      onTrouble: (error) => {
        const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
        logger.warn('a round of the local network failed', { problem });
      },
    });
  }

  /**
   * Opens the chain in a folder, or makes a new one there, and begins to make blocks.
   * @throws ledger/*, genesis/*, adnl/listen-failed, tvm/not-started
   */
  static async start(
    options: LiveNodeOptions,
    modules: LiveNodeModules,
  ): Promise<{ readonly node: LiveNode; readonly address: NodeAddress; readonly close: () => Promise<void> }> {
    const { clock, randomBytes, logger } = modules;
    const ledger = LiveLedger.exists(options.folder)
      ? LiveLedger.open(options.folder)
      : LiveLedger.create(options.folder, modules.makeGenesis());
    const tvm = new TvmPool({ workers: options.tvmWorkers, spares: 0 }, { clock, logger });
    try {
      await tvm.start();
      const node = new LiveNode(ledger, tvm, options, modules);
      // The first blocks: without them clients find no workchain.
      while (ledger.tip.masterchain.id.seqno < 2) await node.#loop.round();
      const { host, port } = options.liteserver;
      const server = await startLiteserver(
        { host, port, seed: ledger.genesis.validatorSeed },
        {
          ledger,
          clock,
          unixTime: () => node.#time.now(),
          randomBytes,
          runGetMethod: (run) => tvm.runInContext(run),
          sendMessage: (body) => node.#take(body),
          ...node.#otherNetwork(),
          onFault: (error) => {
            if (!isTernError(error)) logger.warn('a query failed', { problem: String(error) });
          },
        },
      );
      if (!options.paused) node.#loop.start();
      const close = async (): Promise<void> => {
        await node.#loop.close();
        await server.close();
        await tvm.close();
        ledger.close();
      };
      return {
        node,
        address: {
          host,
          port: server.port,
          publicKey: server.publicKey,
          zerostate: ledger.zerostate,
          incarnation: ledger.incarnation,
        },
        close,
      };
    } catch (error) {
      await tvm.close();
      ledger.close();
      throw error;
    }
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
      waiting_messages: this.#pool.size,
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
    await this.#check.requireAccepted(message);
    const block = await this.#sendAndMine(message);
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
    if (this.#has(address)) return { block: this.#ledger.tip.masterchain.id };
    if (this.#foreign === null) return null;
    const key = address.toRaw();
    const under =
      this.#touched.get(key) ?? this.#bring(address, this.#foreign).finally(() => this.#touched.delete(key));
    this.#touched.set(key, under);
    return under;
  }

  async #bring(address: Address, foreign: ForeignAccounts): Promise<MinedIn | null> {
    const made = await foreign.bring(address);
    if (made === null) return null;
    const here = (): MinedIn => ({ block: this.#ledger.tip.masterchain.id });
    if (this.#has(address)) return here();
    try {
      const { masterchain } = await this.#loop.intervene(made);
      return { block: masterchain.id };
    } catch (error) {
      // A message may have brought it in the same round.
      if (this.#has(address)) return here();
      throw error;
    }
  }

  /** Publishes what the forked network lent for runs, so that all find it here. */
  #publishLent(): void {
    const lent = this.#foreign?.takeLent() ?? [];
    if (lent.length === 0) return;
    this.#loop.intervene(lent).catch((error: unknown) => {
      this.#modules.logger.warn('libraries of the forked network could not be published', { problem: String(error) });
    });
  }

  /** What the liteserver needs to know of a network that this one is a fork of. */
  #otherNetwork(): Pick<LiteContext, 'bringAccount' | 'olderTransactions'> {
    const { foreign } = this.#modules;
    if (foreign === undefined) return {};
    const { gen_lt } = decodeCell(ShardStateUnsplit, this.#ledger.genesis.masterchain.state);
    return {
      bringAccount: async ({ workchain, id }) => void (await this.touch(Address.ofParts(workchain, id))),
      olderTransactions: async ({ account: { workchain, id }, lt, hash, count }) =>
        lt > gen_lt ? null : foreign.transactions(Address.ofParts(workchain, id), { lt, hash }, Math.max(count, 1)),
    };
  }

  #has(address: Address): boolean {
    const state = stateOf(this.#ledger.tip, address);
    return state === null || decodeCell(ShardStateUnsplit, state).accounts.value.has(address.hash);
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

  /** Takes a message that a client sends. @throws liteserver/* */
  async #take(body: Uint8Array): Promise<void> {
    const message = this.#check.parse(body);
    if (this.#pool.has(message)) return;
    await this.#check.requireAccepted(message);
    if (!this.#pool.has(message)) this.#pool.add(message);
  }

  /** @returns the masterchain block in which it is */
  async #sendAndMine(message: ExternalMessage): Promise<BlockId> {
    let problem: string | null = null;
    let included = false;
    this.#pool.add(message, (outcome) => {
      included = outcome?.kind === 'included';
      if (outcome?.kind !== 'included') problem = outcome?.problem ?? 'the message was forgotten';
    });
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      const { masterchain } = await this.#loop.round();
      if (included) return masterchain.id;
      if (problem !== null) throw localnetErrors['not-made']({ wanted: 'the transfer', problem });
    }
    throw localnetErrors['no-block']({ wanted: 'the message', blocks: MOST_ROUNDS });
  }

  async #reshape(command: ShardCommand, wanted: string): Promise<MinedIn> {
    const round = await this.#loop.reshape(command, MOST_ROUNDS);
    if (round === null) throw localnetErrors['no-block']({ wanted, blocks: MOST_ROUNDS });
    return { block: round.masterchain.id };
  }
}

function openGone(folder: string, ledger: LiveLedger): GoneAccounts {
  return GoneAccounts.open(join(folder, 'gone-accounts.txt'), (id) => ledger.block(id) !== null);
}

function librariesOf({ masterchain }: ChainTip) {
  return decodeCell(ShardStateUnsplit, masterchain.state).totals.value.libraries;
}
