import { type Shard, sameShard } from '#formats/proofs/block-id.js';
import { type CancelSchedule, type Clock, pause } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainTip, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { ExternalMessagePool } from '#localnet/node/external-messages.js';
import type { NetworkTime } from '#localnet/node/network-time.js';
import type { ShardCommand } from '#localnet/node/shard-commands.js';
import type { BlockIsFull, BlockRequest, ProducedBundle, StateOverride } from '#localnet/producer/block-request.js';

/** Dependencies of the block loop. */
export interface BlockLoopModules {
  readonly clock: Clock;
  readonly time: NetworkTime;
  readonly pool: ExternalMessagePool;
  readonly zerostates: readonly Zerostate[];
  readonly tip: () => ChainTip;
  readonly produce: (request: BlockRequest) => Promise<ProducedBundle>;
  /** Appends the bundle to the chain. */
  readonly append: (bundle: NewBlockBundle) => void;
  /** Whether the newest blocks have queued messages that the next ones deliver. */
  readonly hasQueued: () => boolean;
  readonly onProduced: (produced: ProducedBundle) => void;
  /** Pending messages were dropped: block production failed with them, and succeeded without. */
  readonly onDropped: (messages: number) => void;
  /** Called with the reason when no block could be produced. */
  readonly onTrouble: (error: unknown) => void;
}

/** State overrides, or a function that makes them from the tip that their block follows. */
export type OverridesOfBlock = readonly StateOverride[] | ((tip: ChainTip) => readonly StateOverride[]);

interface PendingOverrides<Overrides = OverridesOfBlock> {
  readonly overrides: Overrides;
  readonly resolve: (bundle: NewBlockBundle) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * When blocks are produced: `steady`, one per block time; `auto`, as soon as a message waits, and otherwise a block every few
 * seconds.
 */
export type MiningMode = 'auto' | 'steady';

/** Number of masterchain blocks after which a command that has not taken effect fails. */
export const MAX_MC_BLOCKS = 300;

/** Share of the block time that may be spent on receiving messages. */
const SHARE = 0.75;
/** Splits and merges depend on block times in whole seconds. */
const MOST_PAUSE_MS = 100;
/**
 * What each block has room for, of each kind of message: however fast blocks are, what one message causes should fit into one; however slow
 * the machine is, each block goes on.
 */
const LEAST = { ms: 300, messages: 1 } as const;
/**
 * The same when blocks are produced on demand only. No later block takes what is left: how fast the machine is should not decide what
 * is in this one, least of all what its messages cause.
 */
const LEAST_ON_DEMAND = {
  external: { ms: 1_000, messages: 1 },
  internal: { ms: 5_000, messages: 32 },
} as const;

/** Without messages, a block in automatic mode is produced after this time, so that the chain keeps up with the clock. */
const HEARTBEAT_MS = 5_000;
/** The same when there has been no message for so long. */
const REST_AFTER_MS = 60_000;
/** Less than the 10 s that clients usually wait for the next masterchain block. */
const RESTING_HEARTBEAT_MS = 9_000;
/** Pause between blocks in automatic mode that follow from messages; messages of many clients share a block. */
const QUICK_PAUSE_MS = 5;
/** After so many blocks without an end of the messages, as contracts can cause for ever, the block time applies. */
const MOST_QUICK_BLOCKS = 100;

/** Options of block production. */
export interface BlockLoopOptions {
  /** Milliseconds between blocks, at least 1. */
  readonly blockTimeMs: number;
  /** Whether blocks are produced only on demand. */
  readonly paused: boolean;
  /** When blocks are produced; see {@link MiningMode}. */
  readonly mining: MiningMode;
}

/** Produces blocks one after another: at the block time or when messages wait, and on demand. */
export class BlockLoop {
  readonly #modules: BlockLoopModules;
  #blockTimeMs: number;
  #paused: boolean;
  #mining: MiningMode;
  /** Blocks since the last one without messages. */
  #quick = 0;
  /** Clock milliseconds of the last message or override. */
  #busyAt: number;
  #closed = false;
  #cancel: CancelSchedule = () => {};
  #pending: PendingOverrides[] = [];
  #wants: { split: readonly Shard[]; merge: readonly Shard[] } = { split: [], merge: [] };
  /** The block in production, and after it those on demand. */
  #last: Promise<unknown> = Promise.resolve();
  /** The block of {@link nextBlock}, until it begins. */
  #next: Promise<NewBlockBundle> | null = null;
  #running = false;
  readonly #suspects = new SuspectMessages();

  constructor({ blockTimeMs, paused, mining }: BlockLoopOptions, modules: BlockLoopModules) {
    this.#modules = modules;
    this.#blockTimeMs = blockTimeMs;
    this.#paused = paused;
    this.#mining = mining;
    this.#busyAt = modules.clock.now();
  }

  get blockTimeMs(): number {
    return this.#blockTimeMs;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get mining(): MiningMode {
    return this.#mining;
  }

  /** Starts to produce blocks. */
  start(): void {
    this.#schedule(this.#pauseMs());
  }

  /** A message waits in the pool: in automatic mode a block is produced at once. */
  wake(): void {
    this.#busyAt = this.#modules.clock.now();
    if (this.#mining === 'auto') this.#schedule(0);
  }

  /** When pausing, resolves when the block in production is done. */
  async setPaused(paused: boolean): Promise<void> {
    this.#paused = paused;
    this.#schedule(0);
    if (paused) await this.#last.catch(() => {});
  }

  /** From now on blocks are produced at this block time. */
  setBlockTime(milliseconds: number): void {
    this.#blockTimeMs = milliseconds;
    this.setMining('steady');
  }

  setMining(mining: MiningMode): void {
    this.#mining = mining;
    this.#schedule(this.#pauseMs());
  }

  /** Produces a bundle now, after those already requested. @throws localnet/round-failed, localnet/closing */
  makeBlock(): Promise<NewBlockBundle> {
    return this.#enqueue(() => this.#make());
  }

  /** Produces a bundle that begins after this call; several callers share it. @throws as {@link makeBlock} */
  nextBlock(): Promise<NewBlockBundle> {
    this.#next ??= this.#enqueue(() => {
      this.#next = null;
      return this.#make();
    });
    return this.#next;
  }

  /**
   * Applies state overrides in one bundle, which is produced now. A function is called when the bundle begins, before its external-in
   * messages are taken from the pool.
   * @throws localnet/not-made when one of them fails; what the function throws; as {@link makeBlock}
   */
  async makeBlockWith(overrides: OverridesOfBlock): Promise<NewBlockBundle> {
    if (this.#closed) throw localnetErrors.closing({});
    this.#busyAt = this.#modules.clock.now();
    const made = new Promise<NewBlockBundle>((resolve, reject) => {
      this.#pending.push({ overrides, resolve, reject });
    });
    // A block in production does not include them. A failure also rejects the pending overrides.
    this.nextBlock().catch(() => {});
    return made;
  }

  /** Produces bundles whose shards want a split or merge until it has happened; null when it did not happen. */
  async splitOrMerge({ wants, happened }: ShardCommand, mostRounds: number): Promise<NewBlockBundle | null> {
    this.#wants = {
      split: [...this.#wants.split, ...wants.split],
      merge: [...this.#wants.merge, ...wants.merge],
    };
    const without = (all: readonly Shard[], some: readonly Shard[]) =>
      all.filter((each) => !some.some((other) => sameShard(each, other)));
    try {
      for (let made = 0; made < mostRounds; made++) {
        const bundle = await this.makeBlock();
        if (happened(this.#modules.tip())) return bundle;
        await pause(Math.min(this.#blockTimeMs, MOST_PAUSE_MS), this.#modules.clock);
      }
      return null;
    } finally {
      const { split, merge } = this.#wants;
      this.#wants = { split: without(split, wants.split), merge: without(merge, wants.merge) };
    }
  }

  /** Produces no further blocks; resolves when the block in production is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#last.catch(() => {});
    for (const { reject } of this.#pending.splice(0)) reject(localnetErrors.closing({}));
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.catch(() => {}).then(work);
    this.#last = done;
    return done;
  }

  #schedule(delayMs: number): void {
    this.#cancel();
    if (this.#closed || this.#paused) return;
    this.#cancel = this.#modules.clock.schedule(delayMs, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const { clock, onTrouble } = this.#modules;
    const startedAt = clock.now();
    let pauseMs: number | null = null;
    try {
      await this.makeBlock();
    } catch (error) {
      if (!this.#closed) onTrouble(error);
      pauseMs = this.#blockTimeMs;
    } finally {
      this.#running = false;
    }
    this.#schedule(Math.max(0, startedAt + (pauseMs ?? this.#pauseMs()) - clock.now()));
  }

  /** Milliseconds from the start of a block to that of the next one. */
  #pauseMs(): number {
    if (this.#mining === 'steady') return this.#blockTimeMs;
    const { clock, pool, hasQueued } = this.#modules;
    if (pool.size === 0 && !hasQueued()) {
      this.#quick = 0;
      return clock.now() - this.#busyAt < REST_AFTER_MS ? HEARTBEAT_MS : RESTING_HEARTBEAT_MS;
    }
    this.#busyAt = clock.now();
    this.#quick++;
    return this.#quick > MOST_QUICK_BLOCKS ? this.#blockTimeMs : QUICK_PAUSE_MS;
  }

  /** For a block that begins now. */
  #budget(): BlockIsFull {
    const { clock } = this.#modules;
    const startedAt = clock.now();
    const received = { external: 0, internal: 0 };
    return (kind) => {
      if (this.#closed) return true;
      const { ms, messages } = this.#paused ? LEAST_ON_DEMAND[kind] : LEAST;
      const isOver = clock.now() >= startedAt + Math.max(this.#blockTimeMs * SHARE, ms);
      if (isOver && received[kind] >= messages) return true;
      received[kind]++;
      return false;
    };
  }

  async #make(): Promise<NewBlockBundle> {
    if (this.#closed) throw localnetErrors.closing({});
    const wishes = wishesAt(this.#modules.tip(), this.#pending.splice(0));
    try {
      const made = await this.#produce(wishes);
      for (const { resolve, reject, overrides } of wishes) {
        const failed = made.failed.find(({ override }) => overrides.includes(override));
        if (failed === undefined) resolve(made.bundle);
        else reject(localnetErrors['not-made']({ wanted: failed.override.kind, problem: failed.problem }));
      }
      return made.bundle;
    } catch (error) {
      const known = isTernError(error) ? error : localnetErrors['round-failed']({ problem: textOf(error) }, error);
      for (const { reject } of wishes) reject(known);
      this.#suspects.failed();
      throw known;
    }
  }

  async #produce(wishes: readonly Wish[]): Promise<ProducedBundle> {
    const { time, pool, tip, zerostates, produce, append, onProduced, onDropped } = this.#modules;
    const externals = this.#suspects.leaveOut ? [] : pool.messages();
    const produced = await produce({
      tip: tip(),
      zerostates,
      now: time.now(),
      externals,
      overrides: wishes.flatMap(({ overrides }) => overrides),
      wants: this.#wants,
      full: this.#budget(),
    });
    append(produced.bundle);
    pool.settle(produced.externals);
    if (this.#suspects.succeeded()) onDropped(pool.clear());
    onProduced(produced);
    // A block on demand may have left messages for the next one.
    if (this.#mining === 'auto' && !this.#running) this.#schedule(this.#pauseMs());
    return produced;
  }
}

type Wish = PendingOverrides<readonly StateOverride[]>;

/** What is pending when a block follows this tip, without what cannot be made, which is rejected. */
function wishesAt(tip: ChainTip, pending: readonly PendingOverrides[]): Wish[] {
  return pending.flatMap(({ overrides, resolve, reject }) => {
    try {
      return [{ overrides: typeof overrides === 'function' ? overrides(tip) : overrides, resolve, reject }];
    } catch (error) {
      reject(error);
      return [];
    }
  });
}

/** How often block production may fail with the pending messages and succeed without them. */
const MOST_STRIKES = 3;

/** Finds out whether pending messages make block production fail: after a failure, a block is produced without them. */
class SuspectMessages {
  #strikes = 0;
  /** Whether the next block is produced without them. */
  leaveOut = false;

  failed(): void {
    // It failed without them as well: they are not the cause.
    this.leaveOut = !this.leaveOut;
  }

  /** @returns whether to drop them */
  succeeded(): boolean {
    if (!this.leaveOut) {
      this.#strikes = 0;
      return false;
    }
    this.leaveOut = false;
    this.#strikes++;
    if (this.#strikes < MOST_STRIKES) return false;
    this.#strikes = 0;
    return true;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
