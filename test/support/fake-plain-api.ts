import { Type } from '@sinclair/typebox';
import { commaList, endpointOf, jsonText } from '#api/http/endpoint.js';
import type { ApiFreshness, ApiRequest, HttpApi } from '#api/http/http-api.js';
import { requestSwitch, type SwitchValues } from '#api/http/parameters.js';
import { fakeErrors } from '#test/support/fake-http-api.js';

/** Switches of every kind. */
const plainSwitches = {
  timeoutMs: requestSwitch({
    header: 'X-Timeout',
    query: 'x_timeout',
    schema: Type.Integer({ minimum: 1, maximum: 3_000, description: 'Milliseconds.' }),
    byDefault: null,
  }),
  noAddressBook: requestSwitch({
    header: 'X-No-Address-Book',
    query: 'x_no_address_book',
    schema: Type.Boolean({ description: 'Without an address book.' }),
    byDefault: false,
  }),
  actionsVersion: requestSwitch({
    header: 'X-Actions-Version',
    schema: Type.Transform(Type.String({ description: 'A version.' }))
      .Decode((text) => new Set(text.split('.')))
      .Encode((parts) => [...parts].join('.')),
    byDefault: null,
  }),
};

export type PlainSwitches = typeof plainSwitches;

export interface PlainContext {
  readonly request: ApiRequest<SwitchValues<PlainSwitches>>;
  readonly world: PlainWorld;
}

/** What a test can turn, and see. */
export class PlainWorld {
  /** Of the index. */
  seqno = 40;
  lagMs: number | null = 1_250.4;
  readonly worked: string[] = [];
  /** Ends all waiting work. */
  release: () => void = () => {};
  readonly released = new Promise<void>((resolve) => {
    this.release = resolve;
  });
}

const endpoint = endpointOf<PlainContext>();

const Rows = Type.Object({ rows: Type.Array(Type.Unknown()) }, { $id: 'RowsResponse', additionalProperties: false });

const plainEndpoints = [
  endpoint({
    name: 'jetton/wallets',
    aliases: ['jettonWallets'],
    verbs: ['GET'],
    tag: 'Reads',
    summary: 'Rows',
    description: 'Tells what it was asked.',
    params: Type.Object(
      {
        account: Type.Optional(commaList(Type.String({ pattern: '^[A-Z]+$' }), { maxItems: 3, description: 'Many.' })),
        kind: Type.Optional(Type.Array(Type.String(), { description: 'Many, which may have commas.' })),
        flag: Type.Optional(Type.Boolean({ description: 'A flag.' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many.' })),
      },
      { additionalProperties: false },
    ),
    result: Rows,
    statuses: [],
    freshness: 'none',
    handle: async (params) => ({ rows: [params] }),
  }),
  endpoint({
    name: 'masterchainInfo',
    verbs: ['GET', 'POST'],
    tag: 'Reads',
    summary: 'Head',
    description: 'Tells the head.',
    params: Type.Object(
      { how: Type.Optional(Type.String()), wait: Type.Optional(Type.Boolean()) },
      { additionalProperties: false },
    ),
    result: Type.Object({ seqno: Type.Integer(), profile: Type.String(), noAddressBook: Type.Boolean() }),
    statuses: [404, 409],
    errorStatuses: { 'fake/special': 409 },
    freshness: ({ how }) => (how === 'once' ? 'forever' : 'head'),
    handle: async ({ how, wait }, { request, world }) => {
      world.worked.push(how ?? 'masterchainInfo');
      const { seqno } = world;
      if (wait) await world.released;
      if (how === 'missing' || how === 'special' || how === 'busy' || how === 'lost') throw fakeErrors[how]({});
      if (how === 'own') request.header('X-Tern-Mc-Seqno', '5');
      request.header('X-Tern-Next', 'abc');
      return { seqno, profile: request.profile, noAddressBook: request.switches.noAddressBook };
    },
  }),
  endpoint({
    name: 'switches',
    verbs: ['GET', 'POST'],
    tag: 'Reads',
    summary: 'Switches',
    description: 'Tells what the context has.',
    params: Type.Object({}, { additionalProperties: false }),
    result: Type.Unknown(),
    statuses: [],
    freshness: 'head',
    handle: async (_, { request: { switches, read }, world }) => {
      world.worked.push('switches');
      const { timeoutMs, noAddressBook, actionsVersion } = switches;
      return { timeoutMs, noAddressBook, actionsVersion: actionsVersion && [...actionsVersion], ms: read.deadlineMs };
    },
  }),
  endpoint({
    name: 'decode',
    verbs: ['POST'],
    tag: 'Tools',
    summary: 'Text',
    description: 'Gives a text of JSON as it is.',
    params: Type.Object({ text: Type.String() }, { additionalProperties: false }),
    result: Type.Unknown(),
    statuses: [],
    freshness: 'none',
    handle: async ({ text }) => jsonText(text),
  }),
] as const;

/** A plain API with all that an API may declare. */
export function fakePlainApi(world: PlainWorld): HttpApi<PlainContext, PlainSwitches> {
  return {
    prefix: '/api/v3',
    title: 'A plain API',
    version: '1.2.4',
    description: 'For tests.',
    style: 'plain',
    apiVersion: '1.2.4',
    maxUrlBytes: 100_000,
    profiles: 'separate',
    switches: plainSwitches,
    endpoints: plainEndpoints,
    deadlineMs: ({ timeoutMs }) => timeoutMs,
    headSeqno: () => world.seqno,
    freshness: (): ApiFreshness => ({ mcSeqno: world.seqno, lagMs: world.lagMs }),
    context: (request) => ({ request, world }),
  };
}
