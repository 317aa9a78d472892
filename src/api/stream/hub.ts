import { concernedAccounts, LiveAudience, lanesOf, wantedBy } from '#api/stream/audience.js';
import {
  behindBlock,
  cursorText,
  LANES,
  type LanePosition,
  nextBlock,
  type StreamLane,
  type StreamPosition,
} from '#api/stream/cursor.js';
import { streamErrors } from '#api/stream/errors.js';
import { type EventSerializer, FinalEventWriter } from '#api/stream/event-writer.js';
import { type FinalEvent, FinalEventReader, type WantedEvents } from '#api/stream/final-events.js';
import { LanePositions } from '#api/stream/lane-positions.js';
import { LiveFeed } from '#api/stream/live-events.js';
import type { HubMetrics } from '#api/stream/metrics.js';
import { defaultStreamSettings, type StreamSettings } from '#api/stream/options.js';
import { type EventSink, type EventText, type Pace, Subscriber } from '#api/stream/subscriber.js';
import { type Subscription, sizeOf } from '#api/stream/subscription.js';
import type { IndexCoverage, SeqnoRange } from '#drivers/store/index-state.js';
import type { IndexPort } from '#drivers/store/read/index-port.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { Semaphore } from '#kernel/semaphore.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import { isTernError } from '#kernel/tern-error.js';
import { WakeSignal } from '#kernel/wake-signal.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { LiveTraces } from '#services/pending/live-trace.js';

export interface HubModules {
  readonly index: IndexPort;
  /** The masterchain blocks that the index has, of which the last range grows; null: that was not read yet. */
  readonly coverage: () => IndexCoverage | null;
  readonly texts: EventSerializer;
  /** What is not final yet; null: this process does not know. */
  readonly live: Pick<LiveTraces, 'subscribe'> | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HubOptions extends Partial<StreamSettings> {
  /** Identifies the network in cursors: hexadecimal digits. */
  readonly chain: string;
  /** Key of the derivation of actions in the table `derivations`. */
  readonly actionsKey: string;
}

/** Where a subscriber is: in lanes that are not in it, it is live. */
type ReplayPositions = Map<StreamLane, LanePosition>;

/** A part of a replay. */
interface ReplayChunk {
  readonly lane: StreamLane;
  /** Null: nothing. */
  readonly wanted: WantedEvents | null;
  /** Masterchain blocks at most. */
  readonly blocks: number;
}

/** Blocks that are dispatched in one batch. */
const BATCH_BLOCKS = 8;
/** Live events may take so much of a turn of the event loop: many clients wait for them. */
const LIVE_SLICE_MS = 30;
/** Price of a replay in work units: of each read of the index, with what is looked for, of each transaction, and of the text of events. */
const REPLAY_UNITS = 1;
const WATCHED_UNITS = 0.002;
const TRANSACTION_UNITS = 0.15;
const CHARACTERS_PER_UNIT = 20_000;
/** Blocks of a replay that are read at first, and at most. */
const FIRST_CHUNK = 8;
const MOST_CHUNK = 16_384;
/** A chunk of a replay that costs so much ends there; one that costs less than a quarter of it doubles the next. */
const CHUNK_UNITS = 40;
/** While rows of a block are awaited, they are asked for so often: derivations announce themselves. */
const SETTLE_POLL_MS = 100;
const RETRY_MS = 500;
/** How long subscriptions wait for the index to be read, and how often they look whether it was. */
const READY_MS = 10_000;
const READY_POLL_MS = 100;
/** Why there are no events yet. */
const NOT_READ = 'the index was not read yet; try again';
const CLOSED = 'the network is being closed or replaced; try again';
const QUERY_MS = 10_000;
/** For all clients together so many times as much may be buffered as for one; it is looked at so often while events are sent. */
const MOST_FULL_BUFFERS = 64;
const SHED_EVERY_MS = 1_000;

/**
 * The finalized events of a network. Follows the index block by block, in each lane, and gives each event to the subscribers that
 * are live; brings others up to date from the index first.
 */
export class StreamHub {
  readonly #settings: StreamSettings & HubOptions;
  readonly #modules: HubModules;
  readonly #stop = sharedAbortController();
  readonly #audience = new LiveAudience();
  readonly #live: LiveFeed;
  #endLive = (): void => {};
  readonly #subscribers = new Map<Subscriber, ReplayPositions>();
  /** Those who are gone, and whose accounts and traces are being removed. */
  readonly #left: Subscriber[] = [];
  /** Those who have nothing to replay and are not live yet. */
  readonly #waiting = new Map<Subscriber, ReplayPositions>();
  readonly #replays: Semaphore;
  #replaying = 0;
  readonly #place: LanePositions;
  /** Lanes whose events are being dispatched, and who waits for their end. */
  readonly #busy = new Map<StreamLane, Promise<void>>();
  readonly #wake = new WakeSignal();
  #running: Promise<void> = Promise.resolve();
  #problem: string | null = null;
  #events = 0;
  #sent = 0;
  #lagging = 0;
  #resumed = 0;
  #shedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HubOptions, modules: HubModules) {
    this.#settings = { ...defaultStreamSettings, ...options };
    this.#modules = modules;
    const { chain, actionsKey } = this.#settings;
    this.#place = new LanePositions({ chain, actionsKey, signal: this.#stop.signal }, modules);
    this.#replays = new Semaphore(this.#settings.maxReplays);
    this.#live = new LiveFeed({
      texts: modules.texts,
      deliver: (subscriber, text) => this.#deliver(subscriber, text),
      onTrouble: (error) => modules.logger.warn('an event that is not final was not sent', { problem: String(error) }),
    });
  }

  start(): void {
    this.#endLive = this.#modules.live?.subscribe((event) => this.#live.note(event)) ?? this.#endLive;
    this.#running = Promise.all(LANES.map((lane) => this.#follow(lane))).then(() => {});
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#endLive();
    this.wake();
    for (const subscriber of [...this.#subscribers.keys()]) this.#end(subscriber, 'shutting-down');
    await this.#running;
  }

  /** Something was committed. */
  wake(): void {
    this.#wake.wake();
  }

  /** The cursor behind all events until now; null before it was read what the index has. */
  get cursor(): string | null {
    return this.#begun() === null ? null : this.#place.cursor;
  }

  /** The cursor that a stream of all events of the index begins behind. @throws stream/unavailable */
  get firstCursor(): string {
    if (this.#begun() === null) throw streamErrors.unavailable({ problem: NOT_READ });
    return this.#place.first;
  }

  /** Why no events come; null: they do. */
  get problem(): string | null {
    return this.#begun() === null ? NOT_READ : this.#problem;
  }

  get settings(): StreamSettings {
    return this.#settings;
  }

  metrics(): HubMetrics {
    return {
      subscribers: this.#subscribers.size,
      replaying: this.#replaying,
      watched: this.#audience.size,
      events: this.#events,
      sent: this.#sent,
      lagging: this.#lagging,
      resumed: this.#resumed,
      seqno: this.#place.now?.blocks.seqno ?? 0,
      actions_seqno: this.#place.now?.actions.seqno ?? 0,
      incomplete: this.#place.incomplete,
    };
  }

  /** Resolves once it was read what the index has, which a process that just started does soon. @throws stream/unavailable */
  async ready(): Promise<void> {
    const { clock } = this.#modules;
    const { signal } = this.#stop;
    const until = clock.now() + READY_MS;
    for (;;) {
      const { next } = this.#wake;
      if (signal.aborted) throw streamErrors.unavailable({ problem: CLOSED });
      if (this.#begun() !== null) return;
      if (clock.now() >= until) throw streamErrors.unavailable({ problem: NOT_READ });
      await Promise.race([next, pause(READY_POLL_MS, clock, signal)]);
    }
  }

  /**
   * Where a subscription begins: behind a cursor, or now.
   *
   * @param cursor as an event had it; `now` or null: now
   * @throws stream/cursor, stream/cursor-too-old, stream/unavailable
   */
  positionOf(cursor: string | null): StreamPosition {
    if (this.#begun() === null) throw streamErrors.unavailable({ problem: NOT_READ });
    return this.#place.of(cursor);
  }

  /**
   * A subscriber that gets nothing yet.
   *
   * @param pace counts the work of a replay; null: it goes on as fast as it is read
   */
  subscriber(subscription: Subscription, sink: EventSink, pace: Pace | null = null): Subscriber {
    return new Subscriber(subscription, sink, this.#settings.maxBufferedBytes, pace);
  }

  /**
   * Begins to send events.
   *
   * @param from as of {@link positionOf}
   * @param onJoined called before the first event, with the cursor that it begins behind
   * @throws stream/too-many-replays, stream/unavailable when the hub is closed
   */
  join(subscriber: Subscriber, from: StreamPosition, onJoined: (cursor: string) => void = () => {}): void {
    this.requireRoom(from);
    this.#watch(subscriber);
    this.#begin(subscriber, from, onJoined);
  }

  /**
   * Gives a client another subscription, between two events.
   *
   * @param from null: it goes on where it is
   * @param onChange called before the first event of the new subscription, with the cursor that it begins behind
   * @returns the subscriber that takes the place of the one before
   * @throws stream/too-many-replays
   */
  change(
    before: Subscriber,
    subscription: Subscription,
    from: StreamPosition | null,
    onChange: (cursor: string) => void,
  ): Subscriber {
    if (from !== null) this.requireRoom(from);
    if (before.isEnded) return before;
    const subscriber = before.with(subscription);
    this.#watch(subscriber);
    const replay = this.#subscribers.get(before) ?? new Map();
    const now = this.#place.now!;
    // Lanes that it did not take before begin now.
    const taken = lanesOf(before.subscription);
    const place = from ?? {
      blocks: (taken.includes('blocks') && replay.get('blocks')) || now.blocks,
      jettons: (taken.includes('jettons') && replay.get('jettons')) || now.jettons,
      actions: (taken.includes('actions') && replay.get('actions')) || now.actions,
    };
    this.leave(before);
    this.#begin(subscriber, place, onChange);
    return subscriber;
  }

  /** Ends a subscription whose connection is closed. */
  leave(subscriber: Subscriber): void {
    if (subscriber.isEnded) return;
    subscriber.isEnded = true;
    subscriber.left.abort();
    this.#subscribers.delete(subscriber);
    this.#audience.silence(subscriber);
    this.#live.silence(subscriber);
    this.#left.push(subscriber);
    if (this.#left.length === 1) void this.#removeLeft();
  }

  /** Notes what a subscriber waits for: in the turn of its client, which is charged for it. */
  #watch(subscriber: Subscriber): void {
    this.#live.add(subscriber);
    this.#audience.add(subscriber);
  }

  /** In slices: many clients may be gone at once, each of which waited for thousands of accounts. */
  async #removeLeft(): Promise<void> {
    const slices = new WorkSlices(this.#modules.clock, null);
    slices.begin();
    for (;;) {
      const subscriber = this.#left[0];
      if (subscriber === undefined) return;
      for (const each of [this.#live, this.#audience]) {
        for (const _ of each.removing(subscriber)) if (slices.isOver) await slices.next();
      }
      this.#left.shift();
    }
  }

  /** @throws stream/too-many-replays when a stream from there cannot be resumed now, stream/unavailable when the hub is closed */
  requireRoom(from: StreamPosition): void {
    if (this.#stop.signal.aborted) throw streamErrors.unavailable({ problem: CLOSED });
    const { now } = this.#place;
    const isBack = now !== null && LANES.some((lane) => from[lane].seqno < now[lane].seqno);
    if (isBack && this.#replaying >= this.#settings.maxWaitingReplays) throw streamErrors['too-many-replays']({});
  }

  #begin(subscriber: Subscriber, from: StreamPosition, onBegun: (cursor: string) => void): void {
    const positions: ReplayPositions = new Map();
    subscriber.sentUpTo = from;
    onBegun(this.cursorOf(subscriber));
    this.#subscribers.set(subscriber, positions);
    this.#live.begin(subscriber);
    for (const lane of lanesOf(subscriber.subscription)) positions.set(lane, from[lane]);
    for (const lane of [...positions.keys()]) this.#attach(subscriber, positions, lane);
    if (positions.size > 0) void this.#replay(subscriber, positions);
  }

  /** Makes a subscriber live in a lane, if it is where the hub is. @returns whether it is live */
  #attach(subscriber: Subscriber, positions: ReplayPositions, lane: StreamLane): boolean {
    const { seqno, order } = positions.get(lane)!;
    const now = this.#place.now?.[lane];
    // After a failure the hub stands within a block.
    const isBetween = now !== undefined && now.order === null && !this.#busy.has(lane);
    if (!isBetween || order !== null || seqno !== now.seqno) return false;
    positions.delete(lane);
    this.#audience.begin(subscriber, lane);
    return true;
  }

  // Replay

  async #replay(subscriber: Subscriber, positions: ReplayPositions): Promise<void> {
    const isCurrent = () => !subscriber.isEnded && !this.#stop.signal.aborted;
    this.#replaying++;
    this.#resumed++;
    let chunk = FIRST_CHUNK;
    const { subscription } = subscriber;
    const wanted = new Map([...positions.keys()].map((lane) => [lane, wantedBy(subscription, lane)]));
    const readUnits = REPLAY_UNITS + sizeOf(subscription) * WATCHED_UNITS;
    try {
      while (isCurrent() && positions.size > 0) {
        const { next } = this.#wake;
        let isWaiting = true;
        for (const lane of [...positions.keys()]) {
          if (!isCurrent()) return;
          if (this.#attach(subscriber, positions, lane)) continue;
          const release = await this.#replays.acquire(subscriber.left.signal)!;
          const reading = { lane, wanted: wanted.get(lane) ?? null, blocks: chunk };
          const units = await this.#replayChunk(subscriber, positions, reading, isCurrent).finally(release);
          if (units === null) continue;
          isWaiting = false;
          await subscriber.pace?.(readUnits + units);
          // Others are read for meanwhile.
          if (this.#hasMuchToTake(subscriber)) await beforeLeft(subscriber.sink.drained(), subscriber);
          chunk = units < CHUNK_UNITS / 4 ? Math.min(chunk * 2, MOST_CHUNK) : Math.max(1, Math.floor(chunk / 2));
        }
        if (!isWaiting || !isCurrent()) continue;
        // It is where the hub is, which is in the middle of a batch, or before where the cursor was made; or rows are missing.
        this.#waiting.set(subscriber, positions);
        await beforeLeft(this.#busy.size > 0 ? Promise.all(this.#busy.values()) : next, subscriber);
        if (this.#waiting.get(subscriber) === positions) this.#waiting.delete(subscriber);
      }
    } catch (error) {
      if (!isCurrent()) return;
      const problem = isTernError(error) ? error.message : String(error);
      this.#modules.logger.warn('a stream could not be resumed', { problem });
      this.#end(subscriber, 'resume-failed', problem);
    } finally {
      if (this.#waiting.get(subscriber) === positions) this.#waiting.delete(subscriber);
      this.#replaying--;
    }
  }

  /** Whether so much waits for a client to take it that a replay waits as well. */
  #hasMuchToTake({ sink }: Subscriber): boolean {
    return sink.buffered > this.#settings.maxBufferedBytes / 4;
  }

  /** @returns the price of what was read and sent, in work units; null: there is nothing to read yet */
  async #replayChunk(
    subscriber: Subscriber,
    positions: ReplayPositions,
    { lane, wanted, blocks }: ReplayChunk,
    isCurrent: () => boolean,
  ): Promise<number | null> {
    const place = positions.get(lane)!;
    const head = await this.#place.replayableTo(lane);
    const from = nextBlock(place);
    if (from > head) return null;
    const to = Math.min(head, from + blocks - 1);
    const { subscription } = subscriber;
    const limits = { signal: subscriber.left.signal, timeoutMs: QUERY_MS };
    const { index, texts, clock } = this.#modules;
    const reader = new FinalEventReader(index, limits);
    const slices = new WorkSlices(clock, limits.signal);
    let characters = 0;
    // Blocks may be dropped from the index meanwhile: what is read then is not all.
    const requireIndexed = () => this.#place.requireIndexed(positions.get(lane)!);
    const units = () => reader.transactions * TRANSACTION_UNITS + characters / CHARACTERS_PER_UNIT;
    requireIndexed();
    if (wanted !== null) {
      for await (const page of reader.read(lane, place, to, wanted)) {
        requireIndexed();
        const withActions = page.flatMap((event) =>
          event.kind === 'actions' || event.kind === 'trace' ? event.root : [],
        );
        const writer = new FinalEventWriter({ texts, index, limits }, withActions);
        slices.begin();
        for (const event of page) {
          if (slices.isOver) await slices.next();
          const accounts = concernedAccounts(event, subscription);
          const text = accounts === null ? null : await writer.write(event, accounts, subscription.options);
          if (!isCurrent()) return units();
          positions.set(lane, { seqno: event.seqno, order: event.order });
          if (text === null) continue;
          characters += text.json.length;
          this.#deliver(subscriber, text);
          if (!isCurrent() || this.#hasMuchToTake(subscriber)) return units();
        }
        if (units() >= CHUNK_UNITS) return units();
      }
      requireIndexed();
    }
    positions.set(lane, behindBlock(to));
    return units();
  }

  // Following

  /** Where the hub is, from when it was read what the index has. */
  #begun(): StreamPosition | null {
    const isNew = this.#place.now === null && this.#place.begin();
    if (isNew) this.wake();
    return this.#place.now;
  }

  async #follow(lane: StreamLane): Promise<void> {
    const { signal } = this.#stop;
    const { clock, logger } = this.#modules;
    while (!signal.aborted) {
      const { next } = this.#wake;
      try {
        const waits = await this.#advance(lane);
        if (this.#problem !== null) logger.info('events of the index can be read again');
        this.#problem = null;
        if (waits) await Promise.race([next, pause(SETTLE_POLL_MS, clock, signal)]);
        else await next;
      } catch (error) {
        if (signal.aborted) return;
        const problem = isTernError(error) ? error.message : String(error);
        if (this.#problem === null) logger.warn('events of the index cannot be read; retrying', { problem });
        this.#problem = problem;
        await pause(RETRY_MS, clock, signal);
      }
    }
  }

  /** Dispatches what can be dispatched. @returns whether rows of a block are awaited */
  async #advance(lane: StreamLane): Promise<boolean> {
    for (;;) {
      if (this.#begun() === null || this.#stop.signal.aborted) return false;
      const next = this.#place.indexed(lane);
      if (next === null) return false;
      const { from } = next;
      if (this.#audience.wanted(lane) === null) {
        this.#place.pass(lane, next);
        this.#attachWaiting(lane);
        continue;
      }
      const to = await this.#place.settledTo(lane, { from, to: Math.min(next.to, from + BATCH_BLOCKS - 1) });
      if (to < from) return true;
      const done = this.#dispatch(lane, { from, to });
      this.#busy.set(
        lane,
        done.catch(() => {}),
      );
      try {
        await done;
      } finally {
        this.#busy.delete(lane);
        this.#attachWaiting(lane);
      }
    }
  }

  /** Between two batches: the next one may begin before others are called. */
  #attachWaiting(lane: StreamLane): void {
    for (const [subscriber, positions] of this.#waiting) {
      if (positions.has(lane) && !subscriber.isEnded) this.#attach(subscriber, positions, lane);
    }
    // The other lanes do not go beyond blocks; others may be behind by now.
    if (lane === 'blocks' || this.#replaying > 0) this.wake();
  }

  async #dispatch(lane: StreamLane, range: SeqnoRange): Promise<void> {
    const wanted = this.#audience.wanted(lane);
    if (wanted !== null) {
      const limits = { signal: this.#stop.signal, timeoutMs: QUERY_MS };
      const { index, texts, clock } = this.#modules;
      const slices = new WorkSlices(clock, limits.signal, LIVE_SLICE_MS);
      // After a failure within a batch it goes on behind what was dispatched.
      let place = this.#place.now![lane];
      for (let at = range.from; at <= range.to; at++) {
        const reader = new FinalEventReader(index, limits);
        for await (const page of reader.read(lane, place, at, wanted)) {
          const writer = new FinalEventWriter({ texts, index, limits });
          slices.begin();
          for (const event of page) await this.#give(event, writer, slices);
        }
        place = behindBlock(at);
      }
    }
    this.#place.moveTo(lane, behindBlock(range.to));
  }

  async #give(event: FinalEvent, writer: FinalEventWriter, slices: WorkSlices): Promise<void> {
    const groups = this.#audience.of(event);
    const texts: (readonly [EventText, readonly Subscriber[]])[] = [];
    for (const { options, accounts, subscribers } of groups) {
      if (slices.isOver) await slices.next();
      const text = await writer.write(event, accounts, options);
      if (text !== null) texts.push([text, subscribers]);
    }
    // Together with the position, without a pause.
    this.#place.moveTo(event.lane, { seqno: event.seqno, order: event.order });
    if (texts.length > 0) this.#events++;
    for (const [text, subscribers] of texts) {
      for (const subscriber of subscribers) {
        // Others have left, or changed their subscription and are replayed to from here on.
        if (this.#audience.isLive(subscriber, event.lane)) this.#deliver(subscriber, text);
      }
    }
  }

  // Delivery

  #deliver(subscriber: Subscriber, text: EventText): void {
    if (subscriber.isEnded) return;
    if (this.#modules.clock.now() - this.#shedAt >= SHED_EVERY_MS) this.#shed();
    if (!subscriber.takes) this.#endLagging(subscriber);
    if (subscriber.isEnded) return;
    this.#sent++;
    if (!text.isFinal) {
      subscriber.sink.send(text, null);
      return;
    }
    if (text.settles !== null && subscriber.subscription.minFinality !== 'finalized') {
      subscriber.uncertain.settle(text.settles.norm, text.settles.kind);
    }
    const position = this.#positionIn(subscriber);
    const isLive = this.#subscribers.get(subscriber)?.size === 0;
    const cursor = isLive ? this.cursor! : cursorText(this.#settings.chain, position);
    subscriber.sentUpTo = position;
    subscriber.sink.send(text, cursor);
  }

  /** Ends those who lag most while more is buffered for all together than there is room for. */
  #shed(): void {
    this.#shedAt = this.#modules.clock.now();
    const lagging = [...this.#subscribers.keys()].filter(({ sink }) => sink.buffered > 0);
    let buffered = lagging.reduce((sum, { sink }) => sum + sink.buffered, 0);
    const room = this.#settings.maxBufferedBytes * MOST_FULL_BUFFERS;
    if (buffered <= room) return;
    for (const subscriber of lagging.sort((a, b) => b.sink.buffered - a.sink.buffered)) {
      if (buffered <= room) return;
      buffered -= subscriber.sink.buffered;
      this.#endLagging(subscriber);
    }
  }

  #endLagging(subscriber: Subscriber): void {
    this.#lagging++;
    this.#end(subscriber, 'lagging');
  }

  #positionIn(subscriber: Subscriber): StreamPosition {
    const replay = this.#subscribers.get(subscriber);
    const now = this.#place.now!;
    return {
      blocks: replay?.get('blocks') ?? now.blocks,
      jettons: replay?.get('jettons') ?? now.jettons,
      actions: replay?.get('actions') ?? now.actions,
    };
  }

  /** The cursor behind what a subscriber was sent and, unless it has ended, behind events since that do not concern it. */
  cursorBehind(subscriber: Subscriber): string {
    if (subscriber.isEnded) return this.cursorOf(subscriber);
    return cursorText(this.#settings.chain, this.#positionIn(subscriber));
  }

  /** The cursor behind what a subscriber was sent. */
  cursorOf({ sentUpTo }: Pick<Subscriber, 'sentUpTo'>): string {
    return cursorText(this.#settings.chain, sentUpTo ?? this.#place.now!);
  }

  #end(subscriber: Subscriber, reason: 'lagging' | 'resume-failed' | 'shutting-down', problem?: string): void {
    const cursor = this.cursorOf(subscriber);
    this.leave(subscriber);
    subscriber.sink.end(reason, cursor, problem);
  }
}

/** Resolves when something is done, or the subscriber has left. */
async function beforeLeft(done: Promise<unknown>, { left }: Subscriber): Promise<void> {
  const { signal } = left;
  if (signal.aborted) return;
  let leave = (): void => {};
  const leaving = new Promise<void>((resolve) => {
    leave = resolve;
  });
  signal.addEventListener('abort', leave);
  await Promise.race([done, leaving]).finally(() => signal.removeEventListener('abort', leave));
}
