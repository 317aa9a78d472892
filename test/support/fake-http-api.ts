import { Type } from '@sinclair/typebox';
import { Registry } from 'prom-client';
import { commaList, endpointOf } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { ApiRequest, HttpApi, HttpNetwork, NetworkHealth } from '#api/http/http-api.js';
import type { HttpModules, HttpOptions } from '#api/http/options.js';
import { type HttpServer, startHttpServer } from '#api/http/server.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { defineErrors } from '#kernel/tern-error.js';
import { type Access, unlimitedWork } from '#services/access/access.js';

/** What the fake methods work with: what the HTTP layer gave, and which work was done. */
export interface FakeContext {
  readonly request: ApiRequest;
  readonly world: FakeWorld;
}

/** What a test can turn, and see. */
export class FakeWorld {
  head = 7;
  health: NetworkHealth = { ready: true, problem: null, headSeqno: 7, headAgeMs: 100 };
  /** Names of methods in the order in which their work began. */
  readonly worked: string[] = [];
  /** Ends all waiting work. */
  release: () => void = () => {};
  readonly released = new Promise<void>((resolve) => {
    this.release = resolve;
  });
  aborted = 0;
}

export const fakeErrors = defineErrors('fake', {
  missing: { class: 'not-found', message: () => 'there is none', remedy: 'Make one.' },
  broken: { class: 'upstream', message: () => 'the node broke', remedy: 'Use another.' },
  odd: { class: 'caller', message: (d: { text: string }) => `${d.text} is odd`, remedy: 'Make it even.' },
  special: { class: 'caller', message: () => 'a special case', remedy: 'None.' },
  busy: { class: 'overloaded', message: () => 'busy', remedy: 'Wait.' },
  lost: { class: 'internal', message: () => 'secret detail', remedy: 'Report.' },
});

const ThrownError = Type.Union([
  Type.Literal('missing'),
  Type.Literal('broken'),
  Type.Literal('special'),
  Type.Literal('busy'),
  Type.Literal('lost'),
  Type.Literal('bug'),
]);

const endpoint = endpointOf<FakeContext>();

/** A text of an even number of characters; decodes to its length. */
const evenText = (description: string) =>
  Type.Transform(Type.String({ description, examples: ['ab'] }))
    .Decode((text) => {
      if (text.length % 2 === 1) throw fakeErrors.odd({ text: JSON.stringify(text.slice(0, 20)) });
      return text.length;
    })
    .Encode((length) => 'x'.repeat(length));

/** Decodes with an error that has no code when it is no number. */
const frailNumber = Type.Transform(Type.String({ description: 'A number.', format: 'int64' }))
  .Decode((text) => BigInt(text))
  .Encode(String);

const Tree = Type.Recursive(
  (This) =>
    Type.Object({ value: Type.Integer(), children: Type.Optional(Type.Array(This)) }, { additionalProperties: false }),
  { $id: 'Tree' },
);

const Everything = Type.Object(
  { '@type': Type.Literal('chain.everything'), params: Type.Record(Type.String(), Type.Unknown()) },
  { $id: 'Everything', description: 'What was asked for.' },
);

/** Bigints as text, so that the answer shows what arrived. */
const plain = (params: object) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}n` : value]),
  );

/** All kinds of fields, verbs, freshness and errors. */
export const fakeEndpoints = [
  endpoint({
    name: 'getEverything',
    aliases: ['everything'],
    verbs: ['GET', 'POST'],
    tag: 'Reads',
    summary: 'Everything',
    description: 'Tells what it was asked.',
    params: Type.Object(
      {
        even: evenText('An even text.'),
        seqno: Type.Optional(
          Type.Integer({ description: 'A number.', format: 'int32', minimum: 1, maximum: 2 ** 31 - 1 }),
        ),
        lt: Type.Optional(frailNumber),
        flag: Type.Optional(Type.Boolean({ description: 'A flag.' })),
        ratio: Type.Optional(Type.Number({ description: 'A ratio.' })),
        kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')], { description: 'A kind.' })),
        method: Type.Optional(Type.Union([Type.String(), Type.Integer()], { description: 'A name or a number.' })),
        maybe: Type.Optional(Type.Union([Type.Integer(), Type.Null()], { description: 'A number or null.' })),
        list: Type.Optional(Type.Array(Type.Integer(), { description: 'Numbers.', maxItems: 3 })),
        commas: Type.Optional(commaList(Type.Integer(), { description: 'Numbers, also between commas.' })),
        texts: Type.Optional(Type.Array(evenText('An even text.'), { description: 'Even texts.' })),
        limit: Type.Optional(Type.Integer({ description: 'How many.', default: 10, minimum: 1, maximum: 100 })),
        tree: Type.Optional(Tree),
        anything: Type.Optional(Type.Unknown({ description: 'Anything.' })),
      },
      { additionalProperties: false },
    ),
    check: (params) => {
      if (params.flag === true && params.seqno === undefined) {
        throw httpErrors['bad-parameter']({ parameter: 'seqno', problem: 'flag needs it' });
      }
    },
    result: Everything,
    statuses: [422, 504],
    freshness: 'none',
    handle: async (params) => ({ '@type': 'chain.everything' as const, params: plain(params) }),
  }),
  endpoint({
    name: 'getHead',
    verbs: ['GET', 'POST'],
    tag: 'Reads',
    summary: 'Head',
    description: 'Tells the head.',
    params: Type.Object({}, { additionalProperties: false }),
    result: Type.Object({ '@type': Type.String(), seqno: Type.Integer() }, { $id: 'Head' }),
    statuses: [504],
    freshness: 'head',
    handle: async (_, { world, request }) => {
      world.worked.push('getHead');
      request.header('X-Tern-Mc-Seqno', String(world.head));
      return { '@type': 'chain.head', seqno: world.head };
    },
  }),
  endpoint({
    name: 'getBlock',
    verbs: ['GET', 'POST'],
    tag: 'Reads',
    summary: 'Block',
    description: 'Tells a block, now or later.',
    params: Type.Object(
      { seqno: Type.Integer({ minimum: 1 }), wait: Type.Optional(Type.Boolean()) },
      { additionalProperties: false },
    ),
    result: Type.Object({
      '@type': Type.String(),
      seqno: Type.Integer(),
      group: Type.Union([Type.String(), Type.Null()]),
    }),
    statuses: [404, 422, 504],
    freshness: ({ seqno }) => (seqno <= 5 ? 'forever' : 'head'),
    handle: async ({ seqno, wait }, { world, request }) => {
      world.worked.push(`getBlock ${seqno}`);
      request.read.signal.addEventListener('abort', () => world.aborted++);
      if (wait) await world.released;
      return { '@type': 'chain.block', seqno, group: request.group };
    },
  }),
  endpoint({
    name: 'send',
    verbs: ['POST'],
    tag: 'Writes',
    summary: 'Send',
    description: 'Does something each time.',
    params: Type.Object({ boc: evenText('Bytes.') }, { additionalProperties: false }),
    result: Type.String(),
    statuses: [422, 500],
    freshness: 'none',
    handle: async (_, { world }) => {
      world.worked.push('send');
      return 'ok';
    },
  }),
  endpoint({
    name: 'fail',
    verbs: ['GET', 'POST'],
    tag: 'Writes',
    unpublished: true,
    summary: 'Fail',
    description: 'Fails as told.',
    params: Type.Object({ how: ThrownError }, { additionalProperties: false }),
    result: Type.Null(),
    statuses: [422],
    errorStatuses: { 'fake/special': 409 },
    freshness: 'forever',
    handle: ({ how }): Promise<null> => {
      if (how === 'bug') return Promise.resolve((null as unknown as { bug: { bug: null } }).bug.bug);
      throw fakeErrors[how]({});
    },
  }),
  endpoint({
    name: 'getLarge',
    verbs: ['GET'],
    tag: 'Reads',
    summary: 'Large',
    description: 'Gives a long text.',
    params: Type.Object({}, { additionalProperties: false }),
    result: Type.String(),
    statuses: [],
    freshness: 'none',
    handle: async () => 'large '.repeat(2_000),
  }),
] as const;

export function fakeApi(world: FakeWorld): HttpApi<FakeContext> {
  return {
    prefix: '/api/v2',
    title: 'A fake API',
    version: '2.1.1',
    description: 'For tests.',
    endpoints: fakeEndpoints,
    tags: [{ name: 'Reads', description: 'Reading.' }],
    typeNames: { 'chain.head': 'ton.head', 'chain.block': 'ton.block', 'chain.everything': 'ton.everything' },
    context: (request) => ({ request, world }),
  };
}

export const openAccess: Access = {
  check: () => ({ kind: 'allowed', plan: 'open', key: null, group: null, client: 'one', work: unlimitedWork }),
};

/** A network with the fake API. */
export function fakeNetwork(name: string, hosts: readonly string[], world = new FakeWorld()): HttpNetwork {
  return { name, hosts, apis: [fakeApi(world)], health: () => world.health, headSeqno: () => world.head };
}

/** A server of the fake API on a free port of this machine. */
export async function startFakeServer(
  options: Partial<HttpOptions> = {},
  modules: Partial<HttpModules> = {},
): Promise<HttpServer & { readonly world: FakeWorld }> {
  const world = new FakeWorld();
  const server = await startHttpServer(
    { host: '127.0.0.1', port: 0, version: '2.2.0', ...options },
    {
      access: openAccess,
      clock: systemClock,
      unixTimeMs: () => 1_763_690_000_500,
      randomBytes: (size) => new Uint8Array(size),
      logger: silentLogger,
      metrics: new Registry(),
      networks: [fakeNetwork('testing', [], world)],
      ...modules,
    },
  );
  return { ...server, world };
}
