import { expect } from 'vitest';
import type { Json, V3Client } from '#test/contract/against-chain/v3-client.js';
import type { ListSubject } from '#test/contract/against-chain/v3-list-suite.js';

/*
 * What the parameters of `/actions` choose is compared with the whole list: which actions have a value is read from themselves, and
 * of messages from the chain.
 */

const NOBODY = `0:${'C'.repeat(64)}`;
/** The source of special messages of the masterchain. */
export const SYSTEM_SENDER = `-1:${'0'.repeat(64)}`;

/** Action ids of failed external-in messages repeat in other traces. */
const nameOf = ({ trace_id, action_id }: Json) => `${trace_id} ${action_id}`;
const namesOf = (actions: readonly Json[]) => actions.map(nameOf).sort();

const known = new WeakMap<V3Client, Promise<readonly Json[]>>();

/** All actions with their accounts, in ascending order. */
function allActions(client: V3Client): Promise<readonly Json[]> {
  let actions = known.get(client);
  if (actions === undefined) {
    actions = client.all('actions?include_accounts=true&sort=asc', 'actions');
    known.set(client, actions);
  }
  return actions;
}

/** Some distinct values, from the rarest to the most frequent. */
function valuesOf<Value extends string | number>(actions: readonly Json[], read: (action: Json) => readonly Value[]) {
  const counts = new Map<Value, number>();
  for (const value of actions.flatMap(read)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => a - b).map(([value]) => value);
  expect(sorted.length).toBeGreaterThan(1);
  return [...new Set([sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!])];
}

async function expectChosen(client: V3Client, filter: string, chosen: (action: Json) => boolean): Promise<void> {
  const all = await allActions(client);
  const expected = all.filter(chosen);
  expect(namesOf(await client.all(`actions?${filter}`, 'actions')), filter).toEqual(namesOf(expected));
}

/** A filter by a value that each action has once or several times; of one that nobody has, the list is empty. */
function chooses(name: string, read: (action: Json) => readonly (string | number)[], nothing: string | number | null) {
  return async ({ client }: ListSubject) => {
    for (const value of valuesOf(await allActions(client), read)) {
      const filter = `${name}=${encodeURIComponent(value)}`;
      await expectChosen(client, filter, (action) => read(action).includes(value));
    }
    if (nothing !== null) await expectChosen(client, `${name}=${encodeURIComponent(nothing)}`, () => false);
  };
}

function bounds(name: string, read: (action: Json) => bigint, isWithin: (value: bigint, bound: bigint) => boolean) {
  return async ({ client }: ListSubject) => {
    const all = await allActions(client);
    for (const at of [0, all.length >> 1, all.length - 1]) {
      const bound = read(all[at]!);
      await expectChosen(client, `${name}=${bound}`, (action) => isWithin(read(action), bound));
    }
  };
}

/** Filters take the stored type: `extra_currency_transfer` is how transfers and calls with other currencies are answered. */
const storedType = ({ type, details }: Json): string => {
  if (type !== 'extra_currency_transfer') return type;
  return 'comment' in details ? 'ton_transfer' : 'call_contract';
};
const lt = ({ trace_end_lt }: Json) => BigInt(trace_end_lt);
const utime = ({ trace_end_utime }: Json) => BigInt(trace_end_utime);
const atLeast = (value: bigint, bound: bigint) => value >= bound;
const atMost = (value: bigint, bound: bigint) => value <= bound;
const NO_HASH = Buffer.alloc(32, 0xcc).toString('base64');

/** What shows that each parameter of `/actions` acts. */
export const ACTION_EFFECTS: Readonly<Record<string, (subject: ListSubject) => Promise<void>>> = {
  account: chooses('account', ({ accounts }) => accounts, NOBODY),
  tx_hash: chooses('tx_hash', ({ transactions }) => transactions, NO_HASH),
  msg_hash: async (subject) => {
    const byTransaction = new Map<string, string[]>();
    for (const { hash, sender, receiver } of subject.facts.messages) {
      for (const transaction of [sender, receiver]) {
        if (transaction === null) continue;
        byTransaction.set(transaction.hash, [...(byTransaction.get(transaction.hash) ?? []), hash]);
      }
    }
    const messagesOf = ({ transactions }: Json): string[] => [
      ...new Set<string>(transactions.flatMap((each: string) => byTransaction.get(each) ?? [])),
    ];
    await chooses('msg_hash', messagesOf, NO_HASH)(subject);
  },
  action_id: chooses('action_id', ({ action_id }) => [action_id], NO_HASH),
  trace_id: chooses('trace_id', ({ trace_id }) => [trace_id], NO_HASH),
  mc_seqno: chooses('mc_seqno', ({ trace_mc_seqno_end }) => [trace_mc_seqno_end], null),
  action_type: chooses('action_type', (action) => [storedType(action)], 'evaa_supply'),
  exclude_action_type: async ({ client }) => {
    for (const type of valuesOf(await allActions(client), (action) => [storedType(action)])) {
      await expectChosen(client, `exclude_action_type=${type}`, (action) => storedType(action) !== type);
    }
  },
  exclude_system: async ({ client, facts }) => {
    const fromSystem = new Set(
      facts.messages.filter(({ source }) => source === SYSTEM_SENDER).map(({ receiver }) => receiver?.hash),
    );
    const received = new Set(facts.messages.map(({ receiver }) => receiver?.hash));
    const ofSystem = new Set(
      facts.transactions
        .filter(({ account, hash }) => account.startsWith('-1:') && (fromSystem.has(hash) || !received.has(hash)))
        .map(({ hash }) => hash),
    );
    const isSystem = ({ trace_id }: Json) => ofSystem.has(trace_id);
    expect((await allActions(client)).some(isSystem)).toBe(true);
    await expectChosen(client, 'exclude_system=true', (action) => !isSystem(action));
    await expectChosen(client, 'exclude_system=false', () => true);
  },
  supported_action_types: async ({ client }) => {
    const all = await allActions(client);
    const types = valuesOf(all, ({ type }) => [type as string]);
    const { body } = await client.ask('actions?limit=1000&sort=asc&supported_action_types=latest');
    expect(namesOf(body.actions)).toEqual(namesOf(all.slice(0, 1000)));
    const old = await client.all('actions?supported_action_types=v1', 'actions');
    const shown = new Set(old.map(({ type }) => type));
    expect(old.length).toBeGreaterThan(0);
    // Of what later versions brought, the old one shows the parts.
    const oldNames = new Set(namesOf(old));
    expect(namesOf(all.filter(({ type }) => shown.has(type))).every((name) => oldNames.has(name))).toBe(true);
    expect(types.length).toBeGreaterThan(0);
  },
  start_lt: bounds('start_lt', lt, atLeast),
  end_lt: bounds('end_lt', lt, atMost),
  start_utime: bounds('start_utime', utime, atLeast),
  end_utime: bounds('end_utime', utime, atMost),
  include_accounts: async ({ client }) => {
    for (const { accounts } of (await client.ask('actions')).body.actions) expect(accounts).toBeUndefined();
    for (const { accounts } of (await client.ask('actions?include_accounts=true')).body.actions) {
      expect(accounts.length).toBeGreaterThan(0);
    }
  },
  include_transactions: async ({ client }) => {
    for (const { transactions_full } of (await client.ask('actions')).body.actions) {
      expect(transactions_full).toBeUndefined();
    }
    for (const { transactions, transactions_full } of (await client.ask('actions?limit=10&include_transactions=true'))
      .body.actions) {
      expect(transactions_full.map(({ hash }: Json) => hash)).toEqual(transactions);
    }
  },
  limit: async ({ client }) => {
    const all = await allActions(client);
    for (const limit of [1, 2, 1000]) {
      const { body, next } = await client.ask(`actions?sort=asc&limit=${limit}`);
      expect(body.actions.map(nameOf)).toEqual(all.slice(0, limit).map(nameOf));
      expect(next !== null).toBe(limit < all.length);
    }
  },
  offset: async ({ client }) => {
    const all = await allActions(client);
    const { body } = await client.ask('actions?sort=asc&offset=2&limit=5');
    expect(body.actions.map(nameOf)).toEqual(all.slice(2, 7).map(nameOf));
  },
  sort: async ({ client }) => {
    const all = await allActions(client);
    const down = await client.all('actions?sort=desc', 'actions');
    expect(namesOf(down)).toEqual(namesOf(all));
    const order = down.map(lt);
    expect(order).toEqual([...order].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
    expect((await client.all('actions?', 'actions')).map(nameOf)).toEqual(down.map(nameOf));
  },
  cursor: async ({ client }) => {
    const all = await allActions(client);
    const paged = await client.all('actions?sort=asc', 'actions', 37);
    expect(paged.map(nameOf)).toEqual(all.map(nameOf));
  },
};
