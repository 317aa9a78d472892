import { tvmErrors } from '#drivers/tvm/errors.js';
import { NewMessages, type RunAccount, TransactionRunner } from '#drivers/tvm/transaction-runner.js';
import type { RunOptions, TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import { sha256 } from '#formats/cells/digests.js';
import { type BlockId, type BlockPosition, printShard } from '#formats/proofs/block-id.js';
import type { PrevMcBlocks } from '#formats/proofs/shard-state.js';
import { NO_ACCOUNT, ShardAccount, shardAccountCell } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { concatBytes, toHex } from '#kernel/bytes.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { ReadContext } from '#services/chain/read-context.js';
import {
  type BlockTime,
  type EmulatedTrace,
  type EmulatedTransaction,
  MOST_EMULATED_DEPTH,
  MOST_EMULATED_MESSAGES,
  MOST_EMULATED_TRANSACTIONS,
  requireStateBlock,
  type TraceRequest,
} from '#services/emulation/emulated-trace.js';
import { emulationErrors } from '#services/emulation/errors.js';
import type { ContractSettings } from '#services/emulation/options.js';
import {
  type EmulationModules,
  type NetworkView,
  networkView,
  runOptions,
} from '#services/emulation/run-environment.js';

const SEED_BYTES = 32;
/** Lt of blocks are multiples of this. */
const LT_STEP = 1_000_000n;
/** A message reaches another shard this many blocks later. */
const BLOCKS_PER_HOP = 3;
/** Memory of a cell besides its data. */
const CELL_BYTES = 64;
/** Account states that are read at a time. */
const ACCOUNT_LANES = 16;
/** Seconds between blocks: the one or the other. */
const BLOCK_SECONDS = [2, 3] as const;

interface WholeTime {
  readonly lt: bigint;
  readonly now: number;
  readonly rand_seed: Uint8Array;
}

/** A block that is emulated: the one after the state that was read, or a later one, {@link BLOCKS_PER_HOP} for each hop. */
interface EmulatedBlock {
  readonly shard: ShardTop;
  readonly hop: number;
  readonly time: WholeTime;
  readonly runner: TransactionRunner;
  readonly messages: NewMessages<WaitingMessage>;
}

/** A shard after the masterchain block that the emulation begins with. */
interface ShardTop {
  readonly block: BlockPosition;
  readonly gen_utime: number;
  readonly gen_lt: bigint;
}

interface WaitingMessage {
  readonly message: Cell;
  readonly dest: Address;
  readonly place: { readonly lt: bigint; readonly hash: Uint8Array };
  readonly depth: number;
  readonly hop: number;
  /** The node that sent it; null for the first message. */
  readonly sender: TraceNode | null;
}

interface TraceNode {
  readonly transaction: EmulatedTransaction;
  /** In the order of sending. */
  readonly children: Map<string, TraceNode>;
  readonly sent: readonly string[];
}

/** An account of the trace, and the shard that it is in. */
interface TraceAccount extends RunAccount {
  readonly shard: ShardTop;
}

/** Where a trace begins, and with what. */
interface TraceStart extends TraceRequest {
  readonly view: NetworkView;
  readonly rand_seed: Uint8Array;
}

interface TraceEmulatorModules extends Pick<EmulationModules, 'chain' | 'libraries' | 'prevBlocks' | 'clock'> {
  readonly tvm: Pick<TvmPool, 'emulateTransaction' | 'emulateTickTock'>;
}

/**
 * Emulates a message and all that follows from it, block by block as the network would go on: the messages of a block are received in
 * the order of lt and hash, messages to other shards some blocks later.
 */
class TraceEmulator {
  readonly #context: ReadContext;
  readonly #start: TraceStart;
  readonly #modules: TraceEmulatorModules;
  readonly #settings: ContractSettings;
  readonly #slices: WorkSlices;
  readonly #accounts = new Map<string, Promise<TraceAccount>>();
  /** Blocks with messages to receive, by hop and shard. */
  readonly #blocks = new Map<string, EmulatedBlock>();
  #prevBlocks: PrevMcBlocks | null = null;
  #waiting: EmulatedBlock[] = [];
  #root: TraceNode | null = null;
  #count = 0;
  /** Messages that the transactions sent. */
  #sent = 0;
  #cpuMs = 0;
  #bytes = 0;
  #isCut = false;

  constructor(context: ReadContext, start: TraceStart, settings: ContractSettings, modules: TraceEmulatorModules) {
    this.#context = context;
    this.#start = start;
    this.#modules = modules;
    this.#settings = settings;
    this.#slices = new WorkSlices(modules.clock, context.signal ?? null);
  }

  /** @throws as `TraceEmulation.emulateTrace` */
  async emulate(): Promise<EmulatedTrace> {
    const { message, view, rand_seed } = this.#start;
    const { prevBlocks } = this.#modules;
    const { info } = decodeCell(Message, message);
    if (info.kind === 'ext_out_msg_info') throw emulationErrors['no-destination']({ problem: 'Ext out message found' });
    if (!(info.dest instanceof Address)) throw emulationErrors['no-shard']({ workchain: info.dest.workchain_id });
    const lt = info.kind === 'int_msg_info' ? info.created_lt : 0n;
    const place = { lt, hash: message.hash() };
    // Both are read at once; an error of the former is thrown where its account is needed.
    this.#account(info.dest).catch(() => {});
    this.#prevBlocks = await prevBlocks.at(this.#context, view.block, view.config);
    await this.#send({ message, dest: info.dest, place, depth: 0, hop: 0, sender: null });
    for (let hop = 0; this.#waiting.length > 0; hop++) {
      const due = this.#waiting.filter((block) => block.hop === hop);
      this.#waiting = this.#waiting.filter((block) => block.hop !== hop);
      for (const block of due) await this.#receiveAll(block);
    }
    return {
      message,
      mc_seqno: view.block.seqno,
      global_version: view.config.global_version,
      rand_seed,
      transactions: breadthFirst(this.#root!),
      bytes: this.#bytes,
      is_incomplete: this.#isCut,
    };
  }

  async #receiveAll(block: EmulatedBlock): Promise<void> {
    for (let next = block.messages.next(); next !== null; next = block.messages.next()) {
      const isFull = this.#count >= MOST_EMULATED_TRANSACTIONS || this.#sent >= MOST_EMULATED_MESSAGES;
      if (isFull || next.depth >= MOST_EMULATED_DEPTH) {
        this.#isCut = true;
        continue;
      }
      await this.#receive(next, block);
    }
  }

  async #receive({ message, dest, depth, hop, sender }: WaitingMessage, block: EmulatedBlock): Promise<void> {
    const { shard, runner, time } = block;
    const account = await this.#account(dest);
    const before = account.current;
    const result = await runner.run(account, { message }, time.lt);
    if (!('cell' in result)) {
      if (sender !== null) throw emulationErrors['not-received']({ account: dest.toRaw(), problem: result.problem });
      throw refusalError(dest, result);
    }
    this.#count++;
    this.#keep(account.current);
    const { seqno, ...position } = shard.block;
    const transaction: EmulatedTransaction = {
      cell: result.cell,
      account: dest,
      mc_seqno: this.#start.view.block.seqno + 1 + hop * BLOCKS_PER_HOP,
      block: { ...position, seqno: seqno + 1 + hop * BLOCKS_PER_HOP },
      before,
      after: account.current,
    };
    const out = [...result.value.out_msgs].map(([, { cell, value }]) => ({ cell, info: value.info }));
    this.#sent += out.length;
    const node: TraceNode = { transaction, children: new Map(), sent: out.map(({ cell }) => toHex(cell.hash())) };
    if (sender === null) this.#root = node;
    else sender.children.set(toHex(message.hash()), node);
    const receivers = out.flatMap(({ cell, info }) =>
      info.kind === 'int_msg_info' && info.dest instanceof Address ? [{ cell, info, to: info.dest }] : [],
    );
    // The states of the receivers are read ahead.
    const read = ({ to }: { readonly to: Address }) => this.#account(to).catch(() => null);
    this.#slices.mapWaiting(receivers, ACCOUNT_LANES, read).catch(() => {});
    for (const { cell, info, to } of receivers) {
      const place = { lt: info.created_lt, hash: cell.hash() };
      const { shard: destination } = await this.#account(to);
      const isHere = sameShard(destination.block, shard.block);
      const next = { message: cell, dest: to, place, depth: depth + 1, hop: isHere ? hop : hop + 1, sender: node };
      if (isHere) block.messages.add(next);
      else this.#block(destination, next.hop).messages.add(next);
    }
  }

  async #send(first: WaitingMessage): Promise<void> {
    const { shard } = await this.#account(first.dest);
    this.#block(shard, first.hop).messages.add(first);
  }

  #block(shard: ShardTop, hop: number): EmulatedBlock {
    const key = `${hop} ${printShard(shard.block)}`;
    let block = this.#blocks.get(key);
    if (block === undefined) {
      const given = this.#start.blockTime?.(shard.block, hop);
      const expected = this.#expectedTime(shard, hop);
      const time = { ...expected, ...withoutUndefined(given) };
      const { view, ignore_chksig = false } = this.#start;
      const { tvm, libraries } = this.#modules;
      const runner = new TransactionRunner(
        {
          emulateTransaction: (request) => tvm.emulateTransaction(request, this.#runOptions()),
          emulateTickTock: (request) => tvm.emulateTickTock(request, this.#runOptions()),
        },
        {
          config: view.config.root,
          gen_utime: time.now,
          // The least lt is that of the block itself: no transaction describes the block.
          start_lt: time.lt - 1n,
          rand_seed: time.rand_seed,
          prev_blocks_info: this.#prevBlocks!,
          libraries: null,
          resolveLibrary: libraries.resolver(this.#context, view.block),
          ignore_chksig,
        },
        () => 0,
      );
      block = { shard, hop, time, runner, messages: new NewMessages() };
      this.#blocks.set(key, block);
    }
    if (!this.#waiting.includes(block)) this.#waiting.push(block);
    return block;
  }

  /** Limits of the next run. @throws tvm/cpu-time, chain/deadline, chain/aborted */
  #runOptions(): RunOptions {
    const options = runOptions(this.#context, this.#settings);
    const { traceCpuMs: limitMs } = this.#settings;
    if (this.#cpuMs >= limitMs) throw tvmErrors['cpu-time']({ limitMs });
    return {
      ...options,
      onCost: (cost) => {
        this.#cpuMs += cost.cpuMs;
        options.onCost?.(cost);
      },
    };
  }

  /** Counts a state that is kept. @throws emulation/too-large */
  #keep(shardAccount: Cell): void {
    const account = decodeCell(ShardAccount, shardAccount).account.value;
    if (account.kind !== 'account') return;
    const { bits, cells } = account.storage_stat.used;
    this.#bytes += Number(bits >> 3n) + Number(cells) * CELL_BYTES;
    const { traceBytes: limit } = this.#settings;
    if (this.#bytes > limit) throw emulationErrors['too-large']({ limit });
  }

  #expectedTime({ gen_lt, gen_utime }: ShardTop, hop: number): WholeTime {
    const { rand_seed, now } = this.#start;
    const blocks = hop * BLOCKS_PER_HOP;
    let first = now;
    if (first === undefined) first = gen_utime + blockSeconds(rand_seed, 0);
    for (let i = 1; i <= blocks; i++) first += blockSeconds(rand_seed, i);
    const lt = (gen_lt / LT_STEP + 1n + BigInt(blocks)) * LT_STEP;
    return { lt, now: first, rand_seed };
  }

  #account(address: Address): Promise<TraceAccount> {
    const key = address.toRaw();
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = this.#readAccount(address);
      this.#accounts.set(key, account);
    }
    return account;
  }

  async #readAccount(address: Address): Promise<TraceAccount> {
    const { chain } = this.#modules;
    const { view } = this.#start;
    const read = await chain.account(address, { at: view.block, ...this.#context.remaining() });
    const { shard_block, shard_utime, shard_lt } = read;
    // Seqno 0 is the zerostate of a workchain whose first block is still to come.
    if (shard_block === null || shard_block.seqno === 0 || shard_utime === null || shard_lt === null) {
      throw emulationErrors['no-shard']({ workchain: address.workchain });
    }
    const shard = { block: positionOf(shard_block), gen_utime: shard_utime, gen_lt: shard_lt };
    const current = shardAccountCell(read.cell ?? NO_ACCOUNT, read.last_transaction);
    this.#keep(current);
    return { address, shard, current, transactions: [] };
  }
}

function withoutUndefined({ lt, now, rand_seed }: Partial<BlockTime> = {}): Partial<WholeTime> {
  return {
    ...(lt === undefined ? {} : { lt }),
    ...(now === undefined ? {} : { now }),
    ...(rand_seed === undefined ? {} : { rand_seed }),
  };
}

function positionOf({ workchain, shard, seqno }: BlockId): BlockPosition {
  return { workchain, shard, seqno };
}

function sameShard(a: BlockPosition, b: BlockPosition): boolean {
  return a.workchain === b.workchain && a.shard === b.shard;
}

/** Seconds until the next block: one of two values, by the seed, so that a trace can be repeated. */
function blockSeconds(rand_seed: Uint8Array, index: number): number {
  const bits = sha256(concatBytes(rand_seed, Uint8Array.of(index & 255, index >> 8)));
  return BLOCK_SECONDS[bits[0]! & 1]!;
}

function refusalError(
  account: Address,
  { exit_code, problem }: { readonly exit_code: number | null; readonly problem: string },
): Error {
  if (exit_code === null) return emulationErrors['no-account']({ account: toHex(account.hash).toUpperCase(), problem });
  return emulationErrors['not-accepted']({ account: account.toRaw(), exit_code });
}

/** Children in the order in which their messages were sent. */
function breadthFirst(root: TraceNode): EmulatedTransaction[] {
  const reached = [root];
  for (const { sent, children } of reached) {
    for (const hash of sent) {
      const child = children.get(hash);
      if (child !== undefined) reached.push(child);
    }
  }
  return reached.map(({ transaction }) => transaction);
}

/**
 * Emulates a trace on verified state.
 *
 * @throws emulation/*, tvm/*, chain/*, lite/*
 */
export async function emulateTrace(
  context: ReadContext,
  request: TraceRequest,
  settings: ContractSettings,
  modules: EmulationModules,
): Promise<EmulatedTrace> {
  const { mc_seqno, rand_seed = modules.randomBytes(SEED_BYTES) } = request;
  if (mc_seqno !== undefined) {
    requireStateBlock(mc_seqno, (await modules.chain.head(context.remaining())).block.seqno);
  }
  const view = await networkView(context, mc_seqno ?? 'head', modules);
  return new TraceEmulator(context, { ...request, view, rand_seed }, settings, modules).emulate();
}
