import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventSerializer } from '#api/stream/event-writer.js';
import { StreamHub } from '#api/stream/hub.js';
import type { EventSink, EventText, Pace, Subscriber } from '#api/stream/subscriber.js';
import { eventOptions, rawOf, type Subscription, subscribedAccount } from '#api/stream/subscription.js';
import type { SeqnoRange } from '#drivers/store/index-state.js';
import { accountKey, addressBytes } from '#drivers/store/keys.js';
import type { EndedTrace } from '#drivers/store/read/final-events.js';
import type { IndexReadOptions } from '#drivers/store/read/index-types.js';
import { Address } from '#formats/address/address.js';
import { silentLogger } from '#kernel/logger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { FakeIndex } from '#test/support/fake-index.js';

const ACCOUNT = Address.ofParts(0, new Uint8Array(32).fill(7));
const KEY = accountKey(addressBytes(ACCOUNT));

/** Each masterchain block ends traces, the root of the first of which is its seqno, and whose actions are known up to some block. */
class CountedIndex extends FakeIndex {
  head = 10;
  /** Blocks before it were dropped. */
  begin = 1;
  classified = Number.POSITIVE_INFINITY;
  tracesOfBlock = 1;

  override async settledRows({ from, to }: SeqnoRange) {
    const unclassified = to > this.classified ? Math.max(from, this.classified + 1) : null;
    return { unclassified, uncertain: null, undetected: 0 };
  }

  /** Called for each read. */
  onRead: (signal: AbortSignal | undefined) => void = () => {};

  override async endedTraces(
    range: SeqnoRange,
    _members: unknown,
    _accounts: unknown,
    _most?: number,
    limits?: IndexReadOptions,
  ): Promise<EndedTrace[]> {
    this.onRead(limits?.signal);
    const found: EndedTrace[] = [];
    for (
      let seqno = Math.max(range.from, this.begin);
      seqno <= Math.min(range.to, this.head, this.classified);
      seqno++
    ) {
      for (let i = 0; i < this.tracesOfBlock; i++) {
        found.push({
          ...{
            root: BigInt(seqno + 1_000 * i),
            trace_id: new Uint8Array(32),
            mc_seqno_end: seqno,
            nodes: 1,
            start_lt: 1n,
            end_lt: 2n,
          },
          ...{ accounts: [KEY], classification_state: 'ok', external_hash: null, external_hash_norm: null },
        });
      }
    }
    return found;
  }

  override async actionsOfTraces(roots: readonly bigint[]) {
    return new Map(roots.map((root) => [root, [{ root, type: 'any', accounts: [ACCOUNT], end_lt: 1n } as never]]));
  }
}

/** Keeps the blocks of the events. */
class Sink implements EventSink {
  readonly seqnos: number[] = [];
  readonly cursors: (string | null)[] = [];
  buffered = 0;
  ended: string | null = null;

  send({ json }: EventText, cursor: string | null): void {
    this.seqnos.push(JSON.parse(json).actions[0]);
    this.cursors.push(cursor);
  }

  async drained(): Promise<void> {}

  end(reason: string): void {
    this.ended = reason;
  }
}

let index: CountedIndex;
let hub: StreamHub;
let clock: FakeClock;
/** Called while an event is written. */
let onWrite: () => Promise<void>;

beforeEach(() => {
  index = new CountedIndex();
  clock = new FakeClock();
  onWrite = async () => {};
  const texts: Pick<EventSerializer, 'actions' | 'addressMembers'> = {
    actions: async (actions) => ({ json: `[${actions.map(({ root }) => root).join()}]`, addresses: new Map() }),
    addressMembers: async () => {
      await onWrite();
      return '"address_book":{}';
    },
  };
  hub = new StreamHub(
    { chain: 'abc', actionsKey: 'actions' },
    {
      ...{ index, live: null, clock, logger: silentLogger, texts: texts as EventSerializer },
      coverage: () => ({ history: [{ from: index.begin, to: index.head }], selected: false, state_seqno: null }),
    },
  );
  hub.start();
});
afterEach(() => hub.close());

function subscription(): Subscription {
  const types = new Set(['actions'] as const);
  const given = { version: 2, profile: 'spec', addressBook: true, metadata: false } as const;
  return {
    types,
    accounts: new Map([[rawOf(ACCOUNT), subscribedAccount(ACCOUNT, types)]]),
    traces: new Set(),
    minFinality: 'finalized',
    options: eventOptions({ ...given, actionTypes: null, supported: ['any'] }),
  };
}

function join(sink: Sink, cursor: string | null, pace: Pace | null = null): Subscriber {
  const subscriber = hub.subscriber(subscription(), sink, pace);
  hub.join(subscriber, hub.positionOf(cursor));
  return subscriber;
}

function commit(head: number): void {
  index.head = head;
  hub.wake();
}

const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const cursorAt = (seqno: number) => `abc.${seqno}.${seqno}.${seqno}`;

describe('a subscriber', () => {
  it('gets the events behind its cursor, then those that come', async () => {
    await hub.ready();
    const sink = new Sink();
    join(sink, cursorAt(3));
    await expect.poll(() => sink.seqnos).toEqual(upTo(4, 10));
    commit(15);
    await expect.poll(() => sink.seqnos).toEqual(upTo(4, 15));
    const resumed = new Sink();
    join(resumed, sink.cursors[4]!);
    await expect.poll(() => resumed.seqnos).toEqual(sink.seqnos.slice(5));
  });

  it('is ended when blocks are dropped from the index before they were replayed', async () => {
    await hub.ready();
    commit(100);
    const sink = new Sink();
    const turns: (() => void)[] = [];
    join(sink, cursorAt(3), () => new Promise((resolve) => void turns.push(resolve)));
    await expect.poll(() => turns.length).toBe(1);
    const sent = [...sink.seqnos];
    expect(sent).toEqual(upTo(4, 3 + sent.length));
    index.begin = 51;
    turns[0]!();
    await expect.poll(() => sink.ended).toBe('resume-failed');
    expect(sink.seqnos).toEqual(sent);
  });

  it('has a cursor behind what it was sent and what does not concern it', async () => {
    await hub.ready();
    const sink = new Sink();
    const subscriber = join(sink, null);
    index.tracesOfBlock = 0;
    commit(15);
    await expect.poll(() => hub.cursorBehind(subscriber)).toBe(cursorAt(15));
    expect(hub.cursorOf(subscriber)).toBe(cursorAt(10));
  });

  it('is refused by a hub that is closed, as while a network is replaced', async () => {
    await hub.ready();
    await hub.close();
    await expect(hub.ready()).rejects.toThrow('being closed or replaced');
    expect(() => join(new Sink(), null)).toThrow('being closed or replaced');
  });

  it('is replayed to as fast as its client may have work, and gets what comes meanwhile after it', async () => {
    await hub.ready();
    const sink = new Sink();
    let units = 0;
    let goOn = (): void => {};
    const pace = (done: number): Promise<void> => {
      units += done;
      return new Promise((resolve) => {
        goOn = resolve;
      });
    };
    join(sink, cursorAt(3), pace);
    await expect.poll(() => sink.seqnos).toEqual(upTo(4, 10));
    expect(units).toBeGreaterThan(0);
    commit(15);
    const other = new Sink();
    join(other, cursorAt(3));
    await expect.poll(() => other.seqnos).toEqual(upTo(4, 15));
    expect(sink.seqnos).toEqual(upTo(4, 10));
    goOn();
    await expect.poll(() => sink.seqnos).toEqual(upTo(4, 15));
  });

  it('that does not read, or has no budget, does not keep others from being replayed to', async () => {
    await hub.ready();
    const never = new Promise<void>(() => {});
    const unread = Array.from({ length: 20 }, () => {
      const sink = new Sink();
      sink.buffered = hub.settings.maxBufferedBytes / 2;
      sink.drained = () => never;
      return sink;
    });
    for (const sink of unread) join(sink, cursorAt(3));
    const poor = Array.from({ length: 20 }, () => new Sink());
    for (const sink of poor) join(sink, cursorAt(3), () => never);
    const sink = new Sink();
    join(sink, cursorAt(3));
    await expect.poll(() => sink.seqnos).toEqual(upTo(4, 10));
    expect(unread.map(({ seqnos }) => seqnos.length)).toEqual(unread.map(() => 1));
  });

  it('that does not read and changes its subscription again and again is replayed to once', async () => {
    await hub.ready();
    const sink = new Sink();
    sink.buffered = hub.settings.maxBufferedBytes / 2;
    sink.drained = () => new Promise(() => {});
    let subscriber = join(sink, cursorAt(3));
    for (let sent = 1; sent <= 5; sent++) {
      await expect.poll(() => sink.seqnos).toEqual(upTo(4, 3 + sent));
      subscriber = hub.change(subscriber, subscription(), null, () => {});
    }
    await expect.poll(() => hub.metrics().replaying).toBe(1);
    hub.leave(subscriber);
    await expect.poll(() => hub.metrics().replaying).toBe(0);
  });

  it('gets each event once, also when the events of a block could not be read to their end', async () => {
    await hub.ready();
    const [live, sink] = [new Sink(), new Sink()];
    join(live, null);
    index.tracesOfBlock = 2;
    let written = 0;
    onWrite = async () => {
      if (++written === 2) throw new Error('the index is not reached');
    };
    commit(11);
    await expect.poll(() => hub.problem).toContain('not reached');
    expect(live.seqnos).toEqual([11]);
    join(sink, cursorAt(9));
    const all = [10, 1_010, 11, 1_011];
    await expect.poll(() => sink.seqnos).toEqual(all);
    clock.advance(1_000);
    await expect.poll(() => live.seqnos).toEqual([11, 1_011]);
    index.head = 12;
    hub.wake();
    await expect.poll(() => live.seqnos).toEqual([11, 1_011, 12, 1_012]);
    await expect.poll(() => sink.seqnos).toEqual([...all, 12, 1_012]);
  });

  it('is replayed to in chunks of bounded work, and is read for no more once it has left', async () => {
    await hub.ready();
    commit(2_000);
    const sink = new Sink();
    const chunks: number[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    let subscriber: Subscriber | null = null;
    index.onRead = (signal) => void signals.push(signal);
    const pace = async (units: number): Promise<void> => {
      chunks.push(units);
      if (sink.seqnos.length > 500) hub.leave(subscriber!);
    };
    subscriber = join(sink, cursorAt(0), pace);
    await expect.poll(() => subscriber.isEnded).toBe(true);
    expect(sink.seqnos).toEqual(upTo(1, sink.seqnos.length));
    expect(sink.seqnos.length).toBeLessThan(1_500);
    expect(Math.max(...chunks)).toBeLessThan(60);
    expect(signals.length).toBeGreaterThan(2);
    expect(signals.every((signal) => signal?.aborted)).toBe(true);
    const reads = signals.length;
    commit(2_001);
    await hub.ready();
    expect(signals.length).toBe(reads);
  });

  it('gets actions that are classified later than their block is committed, though nobody waited for actions then', async () => {
    await hub.ready();
    index.classified = 10;
    // Nobody listens: the block passes.
    commit(12);
    await expect.poll(() => hub.cursor).toBe(cursorAt(12));
    const sink = new Sink();
    join(sink, cursorAt(8));
    await expect.poll(() => sink.seqnos).toEqual([9, 10]);
    index.classified = 11;
    hub.wake();
    await expect.poll(() => sink.seqnos).toEqual([9, 10, 11]);
    index.classified = 13;
    commit(13);
    await expect.poll(() => sink.seqnos).toEqual([9, 10, 11, 12, 13]);
  });

  it('that changes its subscription while an event is written gets each event once', async () => {
    await hub.ready();
    const [sink, other] = [new Sink(), new Sink()];
    let subscriber = join(sink, null);
    join(other, null);
    let changes = 0;
    onWrite = async () => {
      if (changes++ < 5) subscriber = hub.change(subscriber, subscription(), null, () => {});
    };
    for (let head = 11; head <= 20; head++) {
      commit(head);
      await expect.poll(() => other.seqnos.at(-1)).toBe(head);
    }
    await expect.poll(() => sink.seqnos).toEqual(upTo(11, 20));
    expect(other.seqnos).toEqual(upTo(11, 20));
  });

  it('that lags is ended, also when all together lag too much', async () => {
    await hub.ready();
    const { maxBufferedBytes } = hub.settings;
    const sinks = Array.from({ length: 70 }, () => new Sink());
    for (const sink of sinks) join(sink, null);
    const [reads, lags, ...others] = sinks as [Sink, Sink, ...Sink[]];
    lags.buffered = maxBufferedBytes + 1;
    for (const sink of others) sink.buffered = maxBufferedBytes;
    commit(11);
    await expect.poll(() => reads.seqnos).toEqual([11]);
    expect(lags.ended).toBe('lagging');
    expect(others.filter(({ ended }) => ended === 'lagging').length).toBe(4);
    expect(others.filter(({ seqnos }) => seqnos.length === 1).length).toBe(64);
  });

  it('is refused with a cursor of another chain, or from before the index', async () => {
    await hub.ready();
    expect(() => hub.positionOf('abd.3.3.3')).toThrow('of another network');
    expect(() => hub.positionOf('abc.3.3')).toThrow('not the cursor');
    index.head = 40;
    const late = new StreamHub(
      { chain: 'abc', actionsKey: 'actions' },
      {
        ...{ index, live: null, clock: new FakeClock(), logger: silentLogger, texts: {} as EventSerializer },
        coverage: () => ({ history: [{ from: 30, to: 40 }], selected: false, state_seqno: null }),
      },
    );
    late.start();
    await late.ready();
    expect(() => late.positionOf(cursorAt(28))).toThrow('reaches back to 30');
    expect(late.positionOf(cursorAt(29)).blocks.seqno).toBe(29);
    expect(late.firstCursor).toBe(cursorAt(29));
    await late.close();
  });
});
