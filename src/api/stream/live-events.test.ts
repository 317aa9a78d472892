import { expect, it } from 'vitest';
import type { EventSerializer } from '#api/stream/event-writer.js';
import { LiveFeed } from '#api/stream/live-events.js';
import { type EventText, Subscriber } from '#api/stream/subscriber.js';
import { type EventType, eventOptions, rawOf, type Subscription, subscribedAccount } from '#api/stream/subscription.js';
import { toBase64 } from '#kernel/bytes.js';
import type { LiveTrace } from '#services/pending/live-trace.js';
import { externalTo, liveAccount, liveTransaction, NO_STATE } from '#test/support/live-cells.js';

const ACCOUNT = liveAccount(1);
const EXTERNAL = externalTo(1, 1);
const norm = EXTERNAL.cell.hash();

/** A subscription to the trace and to the states of the account. */
function subscription(): Subscription {
  const types = new Set<EventType>(['trace', 'account_state_change']);
  const given = { version: 2, profile: 'spec', addressBook: false, metadata: false } as const;
  return {
    types,
    accounts: new Map([[rawOf(ACCOUNT), subscribedAccount(ACCOUNT, types)]]),
    traces: new Set([toBase64(norm)]),
    minFinality: 'pending',
    options: eventOptions({ ...given, actionTypes: null, supported: ['any'] }),
  };
}

it('writes each event once for all subscribers with the same options', async () => {
  const written: string[] = [];
  const addresses = new Map();
  const texts: Pick<EventSerializer, 'liveTrace' | 'liveActions' | 'liveState'> = {
    liveTrace: async () => {
      written.push('trace');
      return { trace: 'null', transactions: '{}', addresses };
    },
    liveActions: async () => {
      written.push('actions');
      return null;
    },
    liveState: () => {
      written.push('state');
      return '{}';
    },
  };
  const delivered: EventText[] = [];
  const feed = new LiveFeed({
    texts: texts as EventSerializer,
    deliver: (_, text) => void delivered.push(text),
    onTrouble: (error) => {
      throw error;
    },
  });
  const sink = { send: () => {}, buffered: 0, drained: async () => {}, end: () => {} };
  for (let i = 0; i < 50; i++) {
    const subscriber = new Subscriber(subscription(), sink, 1_000, null);
    feed.add(subscriber);
    feed.begin(subscriber);
  }
  const transaction = {
    ...liveTransaction(EXTERNAL.cell, [], { lt: 1_000n, finality: 'confirmed' }),
    ...{ before: NO_STATE, after: NO_STATE },
  };
  const trace = {
    ...{ external_hash: norm, external_hash_norm: norm, trace_id: null, since: 0, is_incomplete: false },
    ...{ transactions: [transaction], actions: [], finality: 'confirmed' },
  } as LiveTrace;
  feed.note({ kind: 'transactions', trace, changed: [transaction] });
  feed.note({ kind: 'actions', trace });
  await expect.poll(() => delivered.length).toBe(100);
  expect(written).toEqual(['state', 'trace', 'actions']);
  expect(new Set(delivered).size).toBe(2);
});
