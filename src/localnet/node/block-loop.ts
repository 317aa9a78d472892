import { isMasterchain, printShard, type Shard, sameShard } from '#formats/proofs/block-id.js';
import { shardChildren, shardParent, shardPrefixLength, shardSibling, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { type CancelSchedule, type Clock, pause } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainTip, NewBlockBundle, Zerostate } from '#localnet/ledger/block-bundle.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { ExternalMessagePool } from '#localnet/node/external-messages.js';
import type { BlockRequest, ProducedBundle, StateOverride } from '#localnet/producer/block-request.js';

/** What the loop needs from outside. */
export interface BlockLoopModules {
  readonly clock: Clock;
  readonly time: NetworkTime;
  readonly pool: ExternalMessagePool;
  readonly zerostates: readonly Zerostate[];
  readonly tip: () => ChainTip;
  readonly produce: (request: BlockRequest) => Promise<ProducedBundle>;
  /** Takes the round into the chain. */
  readonly append: (round: NewBlockBundle) => void;
  readonly onProduced: (produced: ProducedBundle) => void;
  /** So many waiting messages were given up: no round could be made with them, and rounds without them could. */
  readonly onDropped: (messages: number) => void;
  /** Why a round could not be made. */
  readonly onTrouble: (error: unknown) => void;
}

interface PendingOverrides {
  readonly interventions: readonly StateOverride[];
  readonly resolve: (round: NewBlockBundle) => void;
  readonly reject: (error: unknown) => void;
}

/** After so many rounds without it, something does not happen any more. */
export const MAX_MC_BLOCKS = 300;

/** Of the time between blocks, how much may be spent on taking in messages. */
const SHARE = 0.75;
/** The rules of splits and merges go by the time of blocks, in seconds. */
const MOST_PAUSE_MS = 100;
/** Without a pace, when blocks are made on demand, they may take this long. */
const LEAST_BUDGET_MS = 300;

/** Makes one round after the other: at its pace, and at once when somebody asks for it. */
export class BlockLoop {
  readonly #modules: BlockLoopModules;
  #blockTimeMs: number;
  #paused: boolean;
  #closed = false;
  #cancel: CancelSchedule = () => {};
  #wishes: PendingOverrides[] = [];
  #wants: { split: readonly Shard[]; merge: readonly Shard[] } = { split: [], merge: [] };
  /** The round that is being made, and after it those that were asked for. */
  #last: Promise<unknown> = Promise.resolve();
  #running = false;
  readonly #suspects = new SuspectMessages();

  /** @param blockTimeMs 1 at least */
  constructor(options: { readonly blockTimeMs: number; readonly paused: boolean }, modules: BlockLoopModules) {
    this.#modules = modules;
    this.#blockTimeMs = options.blockTimeMs;
    this.#paused = options.paused;
  }

  get blockTimeMs(): number {
    return this.#blockTimeMs;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Begins to make blocks at the pace. */
  start(): void {
    this.#schedule(this.#blockTimeMs);
  }

  /** Resolves, for a pause, when the round under way is made: no other follows by itself. */
  async setPaused(paused: boolean): Promise<void> {
    this.#paused = paused;
    this.#schedule(0);
    if (paused) await this.#last.catch(() => {});
  }

  setBlockTime(milliseconds: number): void {
    this.#blockTimeMs = milliseconds;
    this.#schedule(milliseconds);
  }

  /** Makes a round now, after those that are asked for already. @throws localnet/round-failed, localnet/closing */
  round(): Promise<NewBlockBundle> {
    return this.#enqueue(() => this.#make());
  }

  /**
   * Puts interventions into one round, which is made now.
   * @throws localnet/not-made when one of them cannot be made; as {@link round}
   */
  async intervene(interventions: readonly StateOverride[]): Promise<NewBlockBundle> {
    if (this.#closed) throw localnetErrors.closing({});
    const made = new Promise<NewBlockBundle>((resolve, reject) => {
      this.#wishes.push({ interventions, resolve, reject });
    });
    // A round under way does not take it any more; what fails here the wish is told, too.
    this.round().catch(() => {});
    return made;
  }

  /** Makes rounds in which shards are told to want a split or merge, until it has happened; null when it has not. */
  async reshape({ wants, happened }: ShardCommand, mostRounds: number): Promise<NewBlockBundle | null> {
    this.#wants = {
      split: [...this.#wants.split, ...wants.split],
      merge: [...this.#wants.merge, ...wants.merge],
    };
    const without = (all: readonly Shard[], some: readonly Shard[]) =>
      all.filter((each) => !some.some((other) => sameShard(each, other)));
    try {
      for (let made = 0; made < mostRounds; made++) {
        const round = await this.round();
        if (happened(this.#modules.tip())) return round;
        await pause(Math.min(this.#blockTimeMs, MOST_PAUSE_MS), this.#modules.clock);
      }
      return null;
    } finally {
      const { split, merge } = this.#wants;
      this.#wants = { split: without(split, wants.split), merge: without(merge, wants.merge) };
    }
  }

  /** Makes no further rounds; resolves when the one under way is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#last.catch(() => {});
    for (const { reject } of this.#wishes.splice(0)) reject(localnetErrors.closing({}));
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
    const begun = clock.now();
    try {
      await this.round();
    } catch (error) {
      if (!this.#closed) onTrouble(error);
    } finally {
      this.#running = false;
    }
    this.#schedule(Math.max(0, begun + this.#blockTimeMs - clock.now()));
  }

  async #make(): Promise<NewBlockBundle> {
    if (this.#closed) throw localnetErrors.closing({});
    const wishes = this.#wishes.splice(0);
    try {
      const made = await this.#produce(wishes);
      for (const { resolve, reject, interventions } of wishes) {
        const failed = made.failed.find(({ intervention }) => interventions.includes(intervention));
        if (failed === undefined) resolve(made.round);
        else reject(localnetErrors['not-made']({ wanted: failed.intervention.kind, problem: failed.problem }));
      }
      return made.round;
    } catch (error) {
      const known = isTernError(error) ? error : localnetErrors['round-failed']({ problem: textOf(error) }, error);
      for (const { reject } of wishes) reject(known);
      this.#suspects.failed();
      throw known;
    }
  }

  async #produce(wishes: readonly PendingOverrides[]): Promise<ProducedBundle> {
    const { clock, time, pool, tip, zerostates, produce, append, onProduced, onDropped } = this.#modules;
    const end = clock.now() + Math.max(this.#blockTimeMs * SHARE, LEAST_BUDGET_MS);
    const externals = this.#suspects.leaveOut ? [] : pool.messages();
    const produced = await produce({
      tip: tip(),
      zerostates,
      now: time.now(),
      externals,
      interventions: wishes.flatMap(({ interventions }) => interventions),
      wants: this.#wants,
      full: () => clock.now() >= end,
    });
    append(produced.round);
    pool.settle(produced.externals);
    if (this.#suspects.succeeded()) onDropped(pool.clear());
    onProduced(produced);
    return produced;
  }
}

/** How often rounds may fail that succeed without the messages that wait. */
const MOST_STRIKES = 3;

/** Whether the messages that wait are why rounds fail: after a failure a round is made without them. */
class SuspectMessages {
  #strikes = 0;
  /** Whether the next round is to be made without them. */
  leaveOut = false;

  failed(): void {
    // Without them it failed as well: they are not the reason.
    this.leaveOut = !this.leaveOut;
  }

  /** @returns whether it is time to give them up */
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

/** A split or merge that is to happen: which shards are to want it, and how to see that it has happened. */
export interface ShardCommand {
  readonly wants: { readonly split: readonly Shard[]; readonly merge: readonly Shard[] };
  readonly happened: (tip: ChainTip) => boolean;
}

/** @throws localnet/no-such-shard, localnet/cannot-split */
export function splitCommand(tip: ChainTip, shard: Shard): ShardCommand {
  requireShard(tip, shard);
  const depth = shardPrefixLength(shard.shard);
  const most = splitLimits(tip, shard.workchain).max_split;
  if (depth >= most) {
    const problem = `its prefix has ${depth} bits, and max_split of the workchain is ${most}`;
    throw localnetErrors['cannot-split']({ shard: printShard(shard), problem });
  }
  const [left] = shardChildren(shard.shard);
  return {
    wants: { split: [shard], merge: [] },
    happened: (now) => hasShard(now, { ...shard, shard: left }),
  };
}

/** @throws localnet/no-such-shard, localnet/cannot-merge */
export function mergeCommand(tip: ChainTip, shard: Shard): ShardCommand {
  requireShard(tip, shard);
  if (shard.shard === WHOLE_WORKCHAIN) {
    throw localnetErrors['cannot-merge']({ shard: printShard(shard), problem: 'it is the whole workchain' });
  }
  const sibling = { ...shard, shard: shardSibling(shard.shard) };
  if (!hasShard(tip, sibling)) {
    throw localnetErrors['cannot-merge']({
      shard: printShard(shard),
      problem: `its sibling ${printShard(sibling)} is split further`,
    });
  }
  const depth = shardPrefixLength(shard.shard);
  const least = splitLimits(tip, shard.workchain).min_split;
  if (depth <= least) {
    const problem = `its prefix has ${depth} bits, and min_split of the workchain is ${least}`;
    throw localnetErrors['cannot-merge']({ shard: printShard(shard), problem });
  }
  return {
    wants: { split: [], merge: [shard, sibling] },
    happened: (now) => hasShard(now, { ...shard, shard: shardParent(shard.shard) }),
  };
}

function hasShard({ shards }: ChainTip, shard: Shard): boolean {
  return shards.some(({ id }) => sameShard(id, shard));
}

function requireShard(tip: ChainTip, shard: Shard): void {
  if (!isMasterchain(shard) && hasShard(tip, shard)) return;
  const shards = tip.shards.map(({ id }) => printShard(id)).join(' ');
  throw localnetErrors['no-such-shard']({ shard: printShard(shard), shards });
}

/** How many bits the prefixes of a workchain's shards have, as configuration parameter 12 says. */
function splitLimits(
  { masterchain }: ChainTip,
  workchain: number,
): { readonly min_split: number; readonly max_split: number } {
  const { config } = decodeCell(ShardStateUnsplit, masterchain.state).custom!.value.config;
  return configParam(config, 12)?.get(workchain) ?? { min_split: 0, max_split: 0 };
}

/** The time of a local network: that of the machine, moved forward at will. It never goes back. */
export class NetworkTime {
  readonly #unixTimeMs: () => number;
  #offset = 0;

  /** @param unixTimeMs the machine's time, milliseconds since 1970 */
  constructor(unixTimeMs: () => number) {
    this.#unixTimeMs = unixTimeMs;
  }

  /** Seconds since 1970. */
  now(): number {
    return Math.floor(this.#unixTimeMs() / 1000) + this.#offset;
  }

  /** Seconds by which it is ahead of the machine's. */
  get offset(): number {
    return this.#offset;
  }

  /** @param seconds whole, not negative */
  advance(seconds: number): void {
    this.#offset += seconds;
  }

  /** Goes on from a time that was reached before, if that is later: after a restart, on another machine. */
  continueFrom(unixTime: number): void {
    this.#offset = Math.max(this.#offset, this.#offset + unixTime - this.now());
  }
}
