import type { TSchema } from '@sinclair/typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v3Endpoints } from '#api/v3/v3-api.js';
import { coreChain } from '#test/contract/against-chain/core-chain.js';
import { type Json, V3Client } from '#test/contract/against-chain/v3-client.js';
import { EFFECTS } from '#test/contract/against-chain/v3-effects.js';
import { type ChainFacts, chainFacts } from '#test/contract/against-chain/v3-facts.js';
import { describeLists, type ListSubject, listedParameters } from '#test/contract/against-chain/v3-list-suite.js';
import { ANY_TEXT, BAD_VALUES, REQUIRED } from '#test/contract/against-chain/v3-refusals.js';
import { TOKEN_LISTS } from '#test/contract/against-chain/v3-token-lists.js';
import { FULL } from '#test/support/full-depth.js';
import { DEV_CHAIN } from '#test/support/replayed-contracts.js';
import { type ServedV3, serveV3 } from '#test/support/served-v3.js';

const published = v3Endpoints.filter(({ unpublished }) => unpublished !== true);
const byGet = published.filter(({ verbs }) => verbs.includes('GET'));

/**
 * Asked for all of their parameters, and sets of them, where there are such contracts: `contract-lists.test.ts` and
 * `token-lists.test.ts` of the store; what is pending: `pending.test.ts` of API v3.
 */
const ELSEWHERE: readonly string[] = [
  ...['dns/records', 'multisig/wallets', 'multisig/orders', 'vesting'],
  ...['jetton/masters', 'jetton/wallets', 'nft/collections', 'nft/items', 'nft/sales'],
  ...['pendingTransactions', 'pendingTraces', 'pendingActions'],
];

interface Parameter {
  readonly method: string;
  readonly name: string;
  readonly schema: TSchema;
}

const parametersOf = (endpoints: typeof published): Parameter[] =>
  endpoints.flatMap(({ name: method, params }) =>
    Object.entries(params.properties as Record<string, TSchema>).map(([name, schema]) => ({ method, name, schema })),
  );

describe('the parameters of v3, over a recorded chain', () => {
  let served: ServedV3;
  let client: V3Client;
  let subject: ListSubject;
  beforeAll(async () => {
    const dev = { name: 'dev_chain', folder: DEV_CHAIN, to: null };
    served = await serveV3(dev);
    client = new V3Client(served.url);
    subject = { client, facts: chainFacts(coreChain(dev.folder, { ...dev, globalVersion: 13 })) };
  }, 600_000);
  afterAll(() => served?.close());

  it('have a case each', () => {
    const none = { wallets: new Map(), items: new Map() };
    const ofTokens = Object.entries(TOKEN_LISTS).map(([name, make]) => [
      name,
      (facts: ChainFacts) => make(facts, none),
    ]);
    const listed = [
      ...listedParameters(subject.facts),
      ...listedParameters(subject.facts, Object.fromEntries(ofTokens)),
    ];
    const cases = new Set([
      ...listed.flatMap(([method, names]) => names.map((name) => `${method} ${name}`)),
      ...Object.entries(EFFECTS).flatMap(([method, effects]) =>
        Object.keys(effects).map((name) => `${method} ${name}`),
      ),
    ]);
    const declared = parametersOf(published.filter(({ name }) => !ELSEWHERE.includes(name))).map(
      ({ method, name }) => `${method} ${name}`,
    );
    expect([...cases].sort()).toEqual([...declared].sort());
  });

  if (FULL) describeLists(() => subject);

  const effects = Object.entries(EFFECTS).flatMap(([method, of]) =>
    Object.entries(of).map(([name, effect]) => [method, name, effect] as const),
  );
  it.each(effects)('%s has an effect by %s', async (_method, _name, effect) => {
    await effect(subject);
  });

  it('of events are those of traces', async () => {
    const [one, other] = ['traces', 'events'].map((name) => v3Endpoints.find((endpoint) => endpoint.name === name)!);
    expect(Object.keys(one!.params.properties)).toEqual(Object.keys(other!.params.properties));
    const request = 'limit=20&start_utime=1795255900&sort=asc&offset=3';
    const { body: traces, next } = await client.ask(`traces?${request}&include_actions=1`);
    const { body: events, next: behind } = await client.ask(`events?${request}`);
    expect(events).toEqual({ ...withoutMember(traces, 'traces'), events: traces.traces });
    expect(behind).toBe(next);
  });

  it('skips an external-in message that was received twice once', async () => {
    const { rows } = await served.database.withWriter((client) =>
      client.query<{ rows: bigint; messages: bigint }>(
        `SELECT count(*) AS rows, count(DISTINCT msg_key) AS messages FROM messages WHERE created_lt IS NULL`,
      ),
    );
    expect(rows[0]!.rows).toBeGreaterThan(rows[0]!.messages);
    for (const filter of ['source=null', '']) {
      for (const sort of ['asc', 'desc']) {
        const list = async (page: string): Promise<string[]> => {
          const { body } = await client.ask(`messages?${filter}&sort=${sort}&${page}`);
          return body.messages.map(({ hash }: Json) => hash);
        };
        const whole = await list('limit=1000');
        expect(new Set(whole).size).toBe(whole.length);
        for (let offset = 1; offset < whole.length - 3; offset += 29)
          expect(await list(`limit=3&offset=${offset}`), `offset ${offset}`).toEqual(whole.slice(offset, offset + 3));
      }
    }
  });

  it('are refused by name when their value is none', async () => {
    for (const { method, name } of parametersOf(byGet)) {
      if (ANY_TEXT.includes(name)) continue;
      const bad = BAD_VALUES[name];
      expect(bad, `bad values of ${name}`).toBeDefined();
      for (const value of bad!) {
        const request = requestWith(method, `${name}=${encodeURIComponent(value)}`, name);
        const { status, error } = await client.refused(request);
        expect([status, error], request).toEqual([422, expect.stringContaining(name)]);
      }
    }
  });

  it('count as not given when they are empty, or are refused by name', async () => {
    const counts = { notGiven: 0, refused: 0 };
    for (const { method, name } of parametersOf(byGet)) {
      const request = requestWith(method, `${name}=`, name);
      const [empty, without] = await Promise.all(
        [request, requestWith(method, '', name)].map(async (one) => {
          const answer = await client.send(one);
          return { status: answer.status, text: await answer.text() };
        }),
      );
      if (empty!.text === without!.text) counts.notGiven++;
      else {
        expect(empty, request).toEqual({ status: 422, text: expect.stringContaining(name) });
        counts.refused++;
      }
    }
    expect(counts.notGiven).toBeGreaterThan(4 * counts.refused);
    expect(counts.refused).toBeGreaterThan(5);
  });

  it('are refused when they are missing or given twice; unknown ones are named in a header', async () => {
    for (const { name: method, params, errorStatuses = {} } of byGet) {
      const unknown = await client.send(requestWith(method, 'nosuch=1', ''));
      expect(unknown.headers.get('x-tern-ignored'), method).toBe('nosuch');
      const strict = await fetch(`${served.url}/api/v3/${requestWith(method, 'nosuch=1', '')}`, {
        headers: { 'x-tern-profile': 'spec' },
      });
      expect([strict.status, await strict.json()], method).toEqual([
        422,
        { code: 422, error: expect.stringContaining('nosuch') },
      ]);
      for (const name of (params.required as string[] | undefined) ?? []) {
        const { status, error } = await client.refused(method);
        const missing = errorStatuses['http/missing-parameter'] as { toncenter: number } | undefined;
        expect([status, error], method).toEqual([missing?.toncenter ?? 422, expect.stringContaining(name)]);
      }
    }
    for (const { method, name, schema } of parametersOf(byGet)) {
      if (schema.type === 'array') continue;
      const request = requestWith(method, `${name}=1&${name.toUpperCase()}=1`, name);
      const { status, error } = await client.refused(request);
      expect([status, error], request).toEqual([422, `parameter ${name}: it is given 2 times`]);
    }
  });

  it('of bodies are refused by name', async () => {
    const cases: [method: string, body: Json, named: string, status?: number][] = [
      ['message', {}, 'boc', 401],
      ['message', { boc: '' }, 'boc'],
      ['message', { boc: 'te6' }, 'boc'],
      ['message', { boc: 5 }, 'boc'],
      ['message', { boc: 'te6cckEBAQEAAgAAAEysuc0=', more: 1 }, 'more'],
      ['runGetMethod', { method: 'seqno' }, 'address', 401],
      ['runGetMethod', { address: `0:${'0'.repeat(64)}` }, 'method', 401],
      ['runGetMethod', { address: 'x', method: 'seqno' }, 'address'],
      ['runGetMethod', { address: `0:${'0'.repeat(64)}`, method: 5 }, 'method'],
      [
        'runGetMethod',
        { address: `0:${'0'.repeat(64)}`, method: 'seqno', stack: [{ type: 'x', value: '1' }] },
        'stack',
      ],
      ['estimateFee', {}, 'address'],
      ['estimateFee', { address: 'x' }, 'address'],
      ['estimateFee', { address: `0:${'0'.repeat(64)}`, body: 'x' }, 'body'],
      ['estimateFee', { address: `0:${'0'.repeat(64)}`, init_code: 'x' }, 'init_code'],
      ['estimateFee', { address: `0:${'0'.repeat(64)}`, init_data: 'x' }, 'init_data'],
      ['estimateFee', { address: `0:${'0'.repeat(64)}`, ignore_chksig: 'x' }, 'ignore_chksig'],
      ['decode', { opcodes: ['zz'] }, 'opcodes'],
      ['decode', { opcodes: 5 }, 'opcodes'],
      ['decode', { bodies: [5] }, 'bodies'],
    ];
    for (const [method, body, named, wanted = 422] of cases) {
      const headers = { 'content-type': 'application/json' };
      const { status, error } = await client.refused(method, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([status, error], `${method} ${JSON.stringify(body)}`).toEqual([wanted, expect.stringContaining(named)]);
    }
  });

  it('that all methods have: without an address book, by header or query', async () => {
    const book = async (more: string, headers: Record<string, string> = {}) => {
      const answer = await client.send(`transactions?limit=3${more}`, { headers });
      return Object.keys(((await answer.json()) as Json).address_book).length;
    };
    expect(await book('')).toBeGreaterThan(0);
    expect(await book('&x_no_address_book=true')).toBe(0);
    expect(await book('', { 'X-No-Address-Book': '1' })).toBe(0);
    expect(await book('&x_no_address_book=true', { 'X-No-Address-Book': '0' })).toBeGreaterThan(0);
  });
});

/** A request in which one parameter has a value, and what else is required has a good one. */
function requestWith(method: string, argument: string, name: string): string {
  const others = (REQUIRED[method] ?? '').split('&').filter((one) => one !== '' && !one.startsWith(`${name}=`));
  return `${method}?${[...others, argument].join('&')}`;
}

function withoutMember(body: Json, name: string): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
}
