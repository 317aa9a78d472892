import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServedTern } from '#test/support/served-tern.js';
import { vectorPath } from '#test/support/vector-files.js';
import { wholeIndex } from '#test/support/whole-index.js';
import { SseClient, type StreamEvent } from '../localnet/stream-clients.js';
import { differences } from './emulate-recorded.js';

const recorded = vectorPath('collection/recorded-live');
/** The newest masterchain block before the first recorded message. */
const BEFORE = 2183;

/** Places at which events differ from the recorded ones, and why. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/\.decoded(_opcode)?($|\.)/, 'the recorded network had another decoder of bodies'],
  [/(^|\.)raw_action($|\.)/, 'the members of an internal structure of the recorded service'],
  [
    /account_state_(before|after)\.(balance|extra_currencies|account_status|frozen_hash|data_hash|code_hash)$/,
    'null in recorded streams, although known',
  ],
  [/\.value_extra_currencies$/, 'of external-in messages null, as in API v3: they carry no value'],
  [/^state\.extra_currencies$/, 'always null in recorded streams'],
  [/^cursor$/, 'an extension'],
];

/** Lists that are sets in recorded events. */
const SETS = /(^|\.)(accounts|transactions)$/;

const folder = mkdtempSync(join(tmpdir(), 'tern-recorded-streams-'));
let tern: ServedTern;
/** A cursor from before the first recorded message. */
let cursor: string;

beforeAll(async () => {
  tern = await ServedTern.start([
    ...['dev', '--replay', join(recorded, 'chain'), '--data', folder, '--port', '0', '--log-level', 'silent'],
  ]);
  const head = await wholeIndex(tern.url);
  const now = await SseClient.subscribe(tern.url, { ...subscriptionOf('stream-sse-finalized'), resume_from: 'now' });
  await now.close();
  cursor = now.cursor!.replaceAll(String(head), String(BEFORE));
  expect(cursor).not.toBe(now.cursor);
});
afterAll(async () => {
  await tern?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Line {
  readonly dir: 'out' | 'in' | 'open' | 'close';
  readonly data?: StreamEvent;
}

function linesOf(session: string): readonly Line[] {
  const text = brotliDecompressSync(readFileSync(join(recorded, 'calm', `${session}.jsonl.br`))).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const subscriptionOf = (session: string): StreamEvent => linesOf(session).find(({ dir }) => dir === 'out')!.data;

/** The recorded events that are final, of one type. */
const finalizedOf = (session: string, type: string): readonly StreamEvent[] =>
  linesOf(session).flatMap(({ dir, data }) =>
    dir === 'in' && data?.type === type && data.finality === 'finalized' ? [data] : [],
  );

/** Subscribes as in a recorded session, from before its first message on, until so many events have come. */
async function replayed(fields: StreamEvent, until: (events: readonly StreamEvent[]) => boolean) {
  const client = await SseClient.subscribe(tern.url, fields, cursor);
  try {
    await expect.poll(() => until(client.events)).toBe(true);
    return client.events;
  } finally {
    await client.close();
  }
}

function sorted(value: StreamEvent, at = ''): StreamEvent {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const inner = value.map((each) => sorted(each, `${at}.`));
    return SETS.test(at) && value.every((each) => typeof each === 'string') ? inner.sort() : inner;
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sorted(inner, `${at}.${key}`)]));
}

/** Compares what has the same key. @returns how many there are */
function compare(
  theirs: ReadonlyMap<string, StreamEvent>,
  ours: ReadonlyMap<string, StreamEvent>,
  used: Set<RegExp>,
): number {
  expect([...ours.keys()].sort()).toEqual([...theirs.keys()].sort());
  const wrong: string[] = [];
  for (const [key, value] of theirs) {
    for (const { at, recorded: a, written: b } of differences(sorted(value), sorted(ours.get(key)))) {
      const rule = RULES.find(([place]) => place.test(at));
      if (rule === undefined)
        wrong.push(`${key} ${at}: ${JSON.stringify(a)}, written ${JSON.stringify(b)}`.slice(0, 300));
      else used.add(rule[0]);
    }
  }
  expect(wrong).toEqual([]);
  return theirs.size;
}

const used = new Set<RegExp>();

/** What the events of a type hold, once each: the recorded service repeats itself, and divides traces by blocks in another way. */
function itemsOf(events: readonly StreamEvent[], type: string): ReadonlyMap<string, StreamEvent> {
  const items = new Map<string, StreamEvent>();
  for (const event of events) {
    if (event.type !== type) continue;
    if (type === 'transactions') for (const each of event.transactions) items.set(each.hash, each);
    else if (type === 'actions') for (const each of event.actions) items.set(each.action_id, each);
    else if (type === 'account_state_change') items.set(`${event.account} ${event.state.hash}`, event);
    else if (type === 'trace') items.set(event.trace_external_hash_norm, event);
  }
  return items;
}

it('transactions, actions and account states are those of the recorded sessions', async () => {
  const session = 'stream-sse-finalized';
  const types = ['transactions', 'actions', 'account_state_change'] as const;
  const theirs = types.map((type) => itemsOf(finalizedOf(session, type), type));
  const events = await replayed(subscriptionOf(session), (found) =>
    types.every((type, i) => itemsOf(found, type).size >= theirs[i]!.size),
  );
  const counts = types.map((type, i) => compare(theirs[i]!, itemsOf(events, type), used));
  expect(counts).toEqual([51, 85, 38]);
});

it('a jetton wallet has its last recorded state: the index has only the newest', async () => {
  const session = 'stream-sse-finalized';
  const last = (events: readonly StreamEvent[]) => {
    const wallets = new Map<string, StreamEvent>();
    const newest = events.toSorted(
      (a, b) => Number(a.jetton.last_transaction_lt) - Number(b.jetton.last_transaction_lt),
    );
    for (const { jetton } of newest) wallets.set(jetton.address, jetton);
    return wallets;
  };
  const theirs = last(finalizedOf(session, 'jettons_change'));
  const changes = (events: readonly StreamEvent[]) => events.filter(({ type }) => type === 'jettons_change');
  const events = await replayed(
    { ...subscriptionOf(session), types: ['jettons_change'] },
    (found) => changes(found).length >= theirs.size,
  );
  expect(compare(theirs, last(changes(events)), used)).toBe(2);
});

it('traces are those of the recorded session', async () => {
  const session = 'stream-trace';
  // The last of repeated ones: those before lack what came later.
  const theirs = itemsOf(finalizedOf(session, 'trace'), 'trace');
  const events = await replayed(
    { types: ['trace'], trace_external_hash_norms: [...theirs.keys()] },
    (found) => found.length >= theirs.size,
  );
  expect(events.length).toBe(theirs.size);
  const bare = (all: ReadonlyMap<string, StreamEvent>) =>
    new Map([...all].map(([key, { address_book, metadata, ...event }]) => [key, event]));
  expect(compare(bare(theirs), bare(itemsOf(events, 'trace')), used)).toBe(8);
});

it('every rule is used', () => {
  expect(RULES.filter(([place]) => !used.has(place)).map(([, reason]) => reason)).toEqual([]);
});
