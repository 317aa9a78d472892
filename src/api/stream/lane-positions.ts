import {
  behindBlock,
  cursorText,
  LANES,
  type LanePosition,
  NOW,
  nextBlock,
  parseCursor,
  type StreamLane,
  type StreamPosition,
} from '#api/stream/cursor.js';
import { streamErrors } from '#api/stream/errors.js';
import type { IndexCoverage, SeqnoRange } from '#drivers/store/index-state.js';
import type { SettledRows } from '#drivers/store/read/final-events.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import type { Address } from '#formats/address/address.js';
import type { Clock } from '#kernel/clock.js';

interface LaneOptions {
  /** Identifies the network in cursors: hexadecimal digits. */
  readonly chain: string;
  /** Key of the derivation of actions in the table `derivations`. */
  readonly actionsKey: string;
  readonly signal: AbortSignal;
}

interface LaneModules {
  readonly index: Pick<IndexPort, 'touchedAccounts' | 'settledRows'>;
  /** The masterchain blocks that the index has, of which the last range grows; null: that was not read yet. */
  readonly coverage: () => IndexCoverage | null;
  readonly clock: Clock;
}

/**
 * How long a lane waits for rows that are derived of a block, from when that is indexed, before it goes on without them. Rows that come
 * later are in no event of those who are live, only of those who resume from before.
 */
const SETTLE_MS = 60_000;
const QUERY_MS = 10_000;

/** Blocks before the newest one in which rows may still be missing: detection and classification are seldom further behind. */
const MOST_UNCHECKED = { jettons: 32, actions: 10_000 };

/** Blocks whose contracts are asked for at once. */
const DETECTED_AT_ONCE = 8;

/** Where the hub is in each lane, and how far it can go: as far as the index has all rows that the events of the lane need. */
export class LanePositions {
  readonly #options: LaneOptions;
  readonly #modules: LaneModules;
  #now: Record<StreamLane, LanePosition> | null = null;
  /** Null: the position has changed since it was written. */
  #cursor: string | null = null;
  /** The first block of a lane that was passed without a look at its rows. */
  readonly #unchecked = new Map<StreamLane, number>();
  readonly #ages = new BlockAges();
  #incomplete = 0;

  constructor(options: LaneOptions, modules: LaneModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /** Null: see {@link begin}. It changes with {@link moveTo}. */
  get now(): StreamPosition | null {
    return this.#now;
  }

  /**
   * Begins behind all that is indexed, in an empty index before the first block that will be.
   *
   * @returns false when it was not read yet what the index has
   */
  begin(): boolean {
    const coverage = this.#modules.coverage();
    if (coverage === null) return false;
    const newest = coverage.history.at(-1)?.to ?? 0;
    this.#ages.see(newest, this.#modules.clock.now());
    const at = behindBlock(newest);
    this.#now = { blocks: at, jettons: at, actions: at };
    return true;
  }

  moveTo(lane: StreamLane, position: LanePosition): void {
    this.#now![lane] = position;
    this.#cursor = null;
  }

  /** Passes blocks that nobody waits for, whether or not their rows are complete. */
  pass(lane: StreamLane, { from, to }: SeqnoRange): void {
    if (lane !== 'blocks' && !this.#unchecked.has(lane)) this.#unchecked.set(lane, from);
    this.moveTo(lane, behindBlock(to));
  }

  /** How far a lane can be replayed: up to where the hub is, but not beyond rows that are still missing. */
  async replayableTo(lane: StreamLane): Promise<number> {
    const head = this.#now?.[lane].seqno ?? 0;
    const unchecked = this.#unchecked.get(lane);
    if (lane === 'blocks' || unchecked === undefined) return head;
    const settled = await this.settledTo(lane, { from: Math.max(unchecked, head - MOST_UNCHECKED[lane]), to: head });
    if (settled >= this.#now![lane].seqno) this.#unchecked.delete(lane);
    else this.#unchecked.set(lane, settled + 1);
    return settled;
  }

  /** The cursor of the place. */
  get cursor(): string {
    this.#cursor ??= cursorText(this.#options.chain, this.#now!);
    return this.#cursor;
  }

  /** The cursor of the place before all blocks that can be replayed. */
  get first(): string {
    const at = behindBlock((this.#replayable()?.from ?? 1) - 1);
    return cursorText(this.#options.chain, { blocks: at, jettons: at, actions: at });
  }

  /** How often a lane has gone on without rows that it had awaited for long enough. */
  get incomplete(): number {
    return this.#incomplete;
  }

  /** The range of blocks that the place is in, which a replay must not leave; undefined: there is none. */
  #replayable(): SeqnoRange | undefined {
    const history = this.#modules.coverage()?.history ?? [];
    return history.find(({ to }) => to >= this.#now!.blocks.seqno) ?? history.at(-1);
  }

  /**
   * The place of a cursor that a client gave.
   *
   * @param cursor {@link NOW} or null: the present one
   * @throws stream/cursor, stream/cursor-too-old
   */
  of(cursor: string | null): StreamPosition {
    const now = this.#now!;
    if (cursor === null || cursor === NOW) return { ...now };
    const position = parseCursor(this.#options.chain, cursor);
    for (const lane of LANES) this.requireIndexed(position[lane]);
    return position;
  }

  /** @throws stream/cursor-too-old when the index does not reach back to a position */
  requireIndexed(position: LanePosition): void {
    const { seqno } = position;
    const range = this.#replayable();
    if (range !== undefined && nextBlock(position) < range.from)
      throw streamErrors['cursor-too-old']({ seqno, from: range.from });
  }

  /** The blocks in front of a lane that are indexed; null: it has reached the end. */
  indexed(lane: StreamLane): SeqnoRange | null {
    const now = this.#now!;
    const history = this.#modules.coverage()?.history ?? [];
    const newest = history.at(-1);
    if (newest === undefined) return null;
    this.#ages.see(newest.to, this.#modules.clock.now());
    const next = nextBlock(now[lane]);
    const range = history.find(({ from, to }) => from <= next && next <= to);
    if (range === undefined && newest.from > next && !history.some(({ to }) => to < next)) {
      // What comes next was dropped from the index before it was dispatched.
      this.moveTo(lane, behindBlock(newest.from - 1));
    }
    const limit = lane === 'blocks' ? range?.to : Math.min(range?.to ?? 0, now.blocks.seqno);
    return limit === undefined || limit < next ? null : { from: nextBlock(now[lane]), to: limit };
  }

  /** How far all rows that the events of a lane need are written, or have been awaited for long enough. */
  async settledTo(lane: StreamLane, range: SeqnoRange): Promise<number> {
    if (lane === 'blocks') return range.to;
    return lane === 'actions' ? this.#classifiedTo(range) : this.#detectedTo(range);
  }

  async #classifiedTo(range: SeqnoRange): Promise<number> {
    const { unclassified, uncertain } = await this.#rows(range);
    const aged = this.#ages.agedTo(this.#modules.clock.now());
    const awaited =
      uncertain === null || uncertain > aged
        ? uncertain
        : aged < range.to
          ? (await this.#rows({ from: aged + 1, to: range.to })).uncertain
          : null;
    const settled = Math.min(unclassified ?? range.to + 1, awaited ?? range.to + 1) - 1;
    if (uncertain !== null && uncertain <= settled) this.#incomplete++;
    return settled;
  }

  /** In parts, since near the head something is nearly always missing. */
  async #detectedTo({ from, to }: SeqnoRange): Promise<number> {
    const aged = this.#ages.agedTo(this.#modules.clock.now());
    let settled = Math.max(from - 1, Math.min(aged, to));
    if (settled >= from && !(await this.#isDetected({ from, to: settled }))) this.#incomplete++;
    while (settled < to) {
      const first = settled + 1;
      const last = Math.min(settled + DETECTED_AT_ONCE, to);
      if (await this.#isDetected({ from: first, to: last })) settled = last;
      else if (last > first && (await this.#isDetected({ from: first, to: first }))) return first;
      else return settled;
    }
    return settled;
  }

  async #isDetected(range: SeqnoRange): Promise<boolean> {
    const accounts = await this.#modules.index.touchedAccounts(range, this.#limits);
    return (await this.#rows(range, accounts)).undetected === 0;
  }

  #rows(range: SeqnoRange, accounts: readonly Address[] = []): Promise<SettledRows> {
    const { actionsKey: actions } = this.#options;
    return this.#modules.index.settledRows(range, { actions, accounts }, this.#limits);
  }

  get #limits(): IndexReadOptions {
    return { signal: this.#options.signal, timeoutMs: QUERY_MS };
  }
}

/** Which blocks have been indexed for so long that their rows are not awaited any more: the same for all who wait. */
class BlockAges {
  /** When the blocks after those before were first seen, up to which one; the oldest first. */
  readonly #seen: { readonly seqno: number; readonly at: number }[] = [];
  #aged = 0;

  /** @param seqno the newest indexed block */
  see(seqno: number, now: number): void {
    this.agedTo(now);
    if (seqno > (this.#seen.at(-1)?.seqno ?? this.#aged)) this.#seen.push({ seqno, at: now });
  }

  /** The last block that is old enough. */
  agedTo(now: number): number {
    const young = this.#seen.findIndex(({ at }) => now - at < SETTLE_MS);
    const aged = this.#seen.splice(0, young === -1 ? this.#seen.length : young);
    this.#aged = aged.at(-1)?.seqno ?? this.#aged;
    return this.#aged;
  }
}
