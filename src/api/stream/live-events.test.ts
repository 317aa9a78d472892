import { expect, it } from 'vitest';
import type { EventSerializer } from '#api/stream/event-writer.js';
import { LiveFeed } from '#api/stream/live-events.js';
import { type EventText, Subscriber } from '#api/stream/subscriber.js';
import { type EventType, eventOptions, rawOf, type Subscription, subscribedAccount } from '#api/stream/subscription.js';
import { toBase64 } from '#kernel/bytes.js';
import type { LiveTrace } from '#services/pending/live-trace.js';
import { externalTo, liveAccount, liveTransaction } from '#test/support/live-cells.js';

const ACCOUNT = liveAccount(1);
const EXTERNAL = externalTo(1, 1);
const norm = EXTERNAL.cell.hash();

/** A subscription to the trace, and to the transactions of the account. */
function subscription(profile: 'spec' | 'toncenter', type: EventType): Subscription {
  const types = new Set([type]);
  const given = { version: 2, profile, addressBook: false, metadata: false } as const;
  return {
    types,
    accounts: type === 'trace' ? new Map() : new Map([[rawOf(ACCOUNT), subscribedAccount(ACCOUNT, types)]]),
    traces: new Set(type === 'trace' ? [toBase64(norm)] : []),
    minFinality: 'pending',
    options: eventOptions({ ...given, actionTypes: null, supported: ['any'] }),
  };
}

const transaction = liveTransaction(EXTERNAL.cell, [], { lt: 1_000n, finality: 'confirmed' });
const trace = {
  ...{ external_hash: norm, external_hash_norm: norm, trace_id: null, since: 0, is_incomplete: false },
  ...{ transactions: [transaction], actions: [], finality: 'confirmed' },
} as LiveTrace;

const sink = { send: () => {}, buffered: 0, drained: async () => {}, end: () => {} };

/** A feed, what it delivered, and what was written for it. */
function startFeed(onWrite: (profile: string) => Promise<void> = async () => {}) {
  const written: string[] = [];
  const delivered: { readonly to: Subscriber; readonly text: EventText }[] = [];
  const troubles: unknown[] = [];
  const addresses = new Map();
  const write = async (what: string, profile: string) => {
    written.push(what);
    await onWrite(profile);
  };
  const texts: Pick<EventSerializer, 'liveTrace' | 'liveTransactions' | 'liveActions'> = {
    liveTrace: async (_, profile) => {
      await write('trace', profile);
      return { trace: 'null', transactions: '{}', addresses };
    },
    liveTransactions: async (_, __, profile) => {
      await write('transactions', profile);
      return { json: '[]', addresses };
    },
    liveActions: async () => {
      written.push('actions');
      return null;
    },
  };
  const feed = new LiveFeed({
    texts: texts as EventSerializer,
    deliver: (to, text) => void delivered.push({ to, text }),
    onTrouble: (error) => void troubles.push(error),
  });
  const join = (type: EventType, profile: 'spec' | 'toncenter' = 'spec') => {
    const subscriber = new Subscriber(subscription(profile, type), sink, 1_000, null);
    feed.add(subscriber);
    feed.begin(subscriber);
    return subscriber;
  };
  const note = () => {
    feed.note({ kind: 'transactions', trace });
    feed.note({ kind: 'actions', trace });
  };
  return { feed, written, delivered, troubles, join, note };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('writes each event once for all subscribers with the same options', async () => {
  const { join, note, delivered, written, troubles } = startFeed();
  for (let i = 0; i < 50; i++) {
    join('trace');
    join('transactions');
  }
  note();
  note();
  await expect.poll(() => delivered.length).toBe(100);
  await settled();
  expect(written).toEqual(['transactions', 'trace', 'actions']);
  expect(new Set(delivered.map(({ text }) => text)).size).toBe(2);
  expect([delivered.length, troubles]).toEqual([100, []]);
});

it.each(['trace', 'transactions'] as const)('sends no %s that became final while it was written', async (type) => {
  let goOn = (): void => {};
  const { join, note, delivered, written } = startFeed(
    () =>
      new Promise((resolve) => {
        goOn = resolve;
      }),
  );
  const [first, second] = [join(type), join(type)];
  note();
  await expect.poll(() => written).toEqual([type]);
  first.uncertain.settle(toBase64(norm), type);
  goOn();
  await expect.poll(() => delivered.map(({ to }) => to)).toEqual([second]);
  note();
  await settled();
  expect(delivered).toHaveLength(1);
});

it('sends nothing to who left while it was written, and notes nothing as sent', async () => {
  let goOn = (): void => {};
  const { feed, join, note, delivered, written } = startFeed(
    () =>
      new Promise((resolve) => {
        goOn = resolve;
      }),
  );
  const subscriber = join('trace');
  note();
  await expect.poll(() => written).toEqual(['trace']);
  feed.silence(subscriber);
  goOn();
  await settled();
  expect(delivered).toEqual([]);
  expect(subscriber.uncertain.forget(toBase64(norm))).toBe(false);
});

it('goes on with others when an event cannot be written for some, who get it the next time', async () => {
  let isWritten = false;
  const { join, note, delivered, troubles } = startFeed(async (profile) => {
    if (profile === 'spec' && !isWritten) throw new Error('no text');
  });
  const all = [
    ...[join('trace', 'spec'), join('trace', 'spec'), join('trace', 'toncenter')],
    ...[join('transactions', 'spec'), join('transactions', 'toncenter')],
  ];
  note();
  await expect.poll(() => delivered.map(({ to }) => to)).toEqual([all[4], all[2]]);
  expect(troubles).toHaveLength(2);
  isWritten = true;
  note();
  await expect.poll(() => delivered.slice(2).map(({ to }) => to)).toEqual([all[3], all[0], all[1]]);
});
