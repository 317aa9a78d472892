import { LANES } from '#api/stream/cursor.js';
import { V1_TYPES, V2_TYPES } from '#api/stream/subscription.js';
import { FINALITIES } from '#services/pending/live-trace.js';
import { STAGES } from '#services/pending/message-follow.js';

/** Plain JSON. */
type Json = Readonly<Record<string, unknown>>;

const VERSION = '2.0.0';
const OF_V3 = '/api/v3/openapi.json#/components/schemas/';
const text = (description: string, more: Json = {}): Json => ({ type: 'string', description, ...more });
const listOf = (items: Json, description: string): Json => ({ type: 'array', items, description });
const byKey = (values: Json, description: string): Json => ({
  ...{ type: 'object', additionalProperties: values, description },
});
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const object = (required: readonly string[], properties: Json, more: Json = {}): Json => ({
  ...{ type: 'object', required, properties, ...more },
});

const CURSOR = text(
  `Of finalized events: what follows begins behind this. Opaque: the network and a place in each of ${LANES.length} lanes.`,
);
const FINALITY = text('The lowest of its transactions.', { enum: FINALITIES });
const NORM = text('Normalised hash of the external-in message, base64.');
const ADDRESSES: Json = {
  address_book: { $ref: `${OF_V3}AddressBook` },
  metadata: { $ref: `${OF_V3}Metadata` },
};

interface EventShape {
  readonly types: readonly string[];
  readonly properties: Json;
  readonly description: string;
}

const TRANSACTIONS = listOf(
  { $ref: `${OF_V3}Transaction` },
  'Of the accounts of the subscription, by lt, newest first.',
);
const ACTIONS = listOf({ $ref: `${OF_V3}Action` }, 'In which the accounts take part, newest first.');

/** What both versions have, by name. */
const EVENTS: Readonly<Record<string, EventShape>> = {
  Transactions: {
    types: ['transactions'],
    properties: { trace_external_hash_norm: NORM, transactions: TRANSACTIONS },
    description: 'Transactions of a trace.',
  },
  Actions: {
    types: ['actions'],
    properties: { trace_external_hash_norm: NORM, actions: ACTIONS },
    description: 'Actions of a trace.',
  },
  AccountState: {
    types: ['account_state_change'],
    properties: {
      account: text('Raw form, upper-case digits.'),
      state: { type: 'object', description: 'Hash, balance, status, code and data hash.' },
    },
    description: 'The state of an account after its last transaction of a block. Always finalized.',
  },
  Jettons: {
    types: ['jettons_change'],
    properties: { jetton: { type: 'object', description: 'The jetton wallet: address, balance, owner, jetton.' } },
    description: 'A jetton wallet of an account changed. Always finalized.',
  },
};

const TRACE: EventShape = {
  types: ['trace'],
  properties: {
    trace_external_hash_norm: NORM,
    trace: { type: 'object', description: 'The tree: `tx_hash`, `in_msg_hash`, `children`.' },
    transactions: byKey({ $ref: `${OF_V3}Transaction` }, 'By hash.'),
    actions: listOf({ $ref: `${OF_V3}Action` }, 'Left out where there are none.'),
    is_incomplete: { type: 'boolean', description: 'Not all of its transactions are shown.' },
  },
  description: 'A trace that a client named.',
};

const OPTIONAL = ['is_incomplete', 'actions'];

function eventSchema({ types, properties, description }: EventShape, levels: Json): Json {
  const required = Object.keys(properties).filter((name) => types[0] === 'actions' || !OPTIONAL.includes(name));
  const type = types.length === 1 ? { const: types[0] } : { enum: types };
  return object(
    ['type', ...Object.keys(levels), ...required],
    { type, ...levels, ...properties, ...ADDRESSES, cursor: CURSOR },
    { description },
  );
}

/** In the first version what is pending has types of its own, and no event says its finality. */
function firstVersionOf({ types, ...shape }: EventShape): EventShape {
  const pending = types.map((type) => `pending_${type}`).filter((type) => V1_TYPES.some((each) => each === type));
  return { ...shape, types: [...pending, ...types] };
}

function schemasOf(events: Readonly<Record<string, EventShape>>, prefix: string, levels: Json): Json {
  const named = Object.entries(events).map(([name, shape]) => [`${prefix}${name}Event`, eventSchema(shape, levels)]);
  const oneOf = [...named.map(([name]) => ref(name as string)), ref('InvalidatedEvent'), ref('LaggingEvent')];
  return { ...Object.fromEntries(named), [`${prefix}Event`]: { oneOf } };
}

const FIRST_EVENTS = Object.fromEntries(
  Object.entries(EVENTS).map(([name, shape]) => [name, firstVersionOf(shape)] as const),
);

const OPTIONS: Json = {
  include_address_book: { type: 'boolean' },
  include_metadata: { type: 'boolean' },
  action_types: listOf({ type: 'string' }, 'Types of actions that are sent; all at first.'),
  supported_action_types: listOf({ type: 'string' }, 'Types of actions or versions that the client supports.'),
};
const ID: Json = { id: text('Comes back in the reply.') };
const RESUME: Json = {
  resume_from: text(
    'A cursor: events behind it are sent first, from the index. `now`: the reply has the cursor of now.',
  ),
};

const subscription = object(
  ['types'],
  {
    ...ID,
    types: listOf({ enum: V2_TYPES }, 'Of events; they replace those of the subscription before.'),
    addresses: listOf({ type: 'string' }, 'Accounts in any form. Required for all types but `trace`.'),
    trace_external_hash_norms: listOf({ type: 'string' }, 'Normalised hashes, base64. Required for `trace`.'),
    min_finality: text('Events that are less certain are not sent; `finalized` at first.', { enum: FINALITIES }),
    ...OPTIONS,
    ...RESUME,
  },
  { description: 'What a client wants to get. Unknown members are ignored.' },
);

const FIRST_TYPES = listOf({ enum: V1_TYPES }, 'Of events.');

const firstSubscription = object(
  ['addresses', 'types'],
  { ...ID, addresses: listOf({ type: 'string' }, 'Accounts in any form.'), types: FIRST_TYPES, ...OPTIONS, ...RESUME },
  { description: 'What a client of the first version wants to get. Unknown members are ignored.' },
);

const schemas: Json = {
  Subscription: subscription,
  V1Subscription: firstSubscription,
  Reply: object(['status'], { id: { type: 'string' }, status: { type: 'string' }, cursor: CURSOR }),
  Failure: object(['error'], {
    id: { type: 'string' },
    error: text('What is wrong with the request, with the name of the field. The connection stays open.'),
  }),
  ...schemasOf({ ...EVENTS, Trace: TRACE }, '', { finality: FINALITY }),
  ...schemasOf(FIRST_EVENTS, 'V1', {}),
  InvalidatedEvent: object(
    ['type', 'trace_external_hash_norm'],
    {
      type: { const: 'trace_invalidated' },
      trace_external_hash_norm: NORM,
      reason: text('Why. After `mispredicted` come events with the real trace.', {
        enum: ['refused', 'expired', 'replaced', 'dropped', 'mispredicted'],
      }),
      problem: text('The same in a sentence.'),
    },
    { description: 'What was pending of the trace will not be.' },
  ),
  LaggingEvent: object(
    ['type', 'cursor'],
    { type: { enum: ['lagging', 'resume-failed'] }, error: { type: 'string' }, cursor: CURSOR },
    { description: 'The last one before the server closes: the client did not read, or events could not be replayed.' },
  ),
  FollowedMessage: object(['status', 'settled', 'success', 'transactions', 'failures'], {
    status: text('How far the message is, or why it will not be.', {
      enum: [...STAGES, 'refused', 'expired', 'replaced', 'dropped'],
    }),
    settled: { type: 'boolean', description: 'Nothing more will happen.' },
    success: {
      type: ['boolean', 'null'],
      description: 'Whether all of its transactions succeed; null: none is known.',
    },
    message_hash: { type: ['string', 'null'] },
    message_hash_norm: { type: ['string', 'null'] },
    account: { type: ['string', 'null'] },
    trace_id: { type: ['string', 'null'] },
    mc_block_seqno: { type: ['integer', 'null'] },
    transactions: byKey({ type: 'integer' }, 'Their number, by finality.'),
    failures: listOf({ type: 'object' }, 'Account, transaction, phase, exit code, and what it means.'),
    exit_code: { type: ['integer', 'null'], description: 'Of a message that the contract refused.' },
    problem: { type: ['string', 'null'], description: 'Why it will not be, and what to do.' },
  }),
};

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const refusal = (description: string): Json => ({ description, content: json(ref('Failure')) });

function sseOperation(operationId: string, request: string, events: string, more: Json): Json {
  return {
    post: {
      operationId,
      ...more,
      summary: 'Events as Server-Sent Events',
      description:
        'The first frame is `connected`, then `event` for each event, with its cursor as `id`. A comment comes every 15 seconds. ' +
        'A client that does not read gets `lagging`, and is closed.',
      parameters: [
        {
          name: 'Last-Event-ID',
          in: 'header',
          schema: { type: 'string' },
          description: 'A cursor: as `resume_from`.',
        },
      ],
      requestBody: { required: true, content: json(ref(request)) },
      responses: {
        200: {
          description: 'Events, until the client closes.',
          content: { 'text/event-stream': { schema: ref(events) } },
        },
        422: refusal('The subscription is wrong (400 in the `toncenter` profile).'),
        429: refusal('Too many streams of this client.'),
        503: refusal('No events can be read, or too many streams are resumed.'),
      },
    },
  };
}

/** The OpenAPI 3.1 document of streams over Server-Sent Events and of followed messages. */
export const streamOpenApi: Json = {
  openapi: '3.1.0',
  info: {
    title: 'TON streaming API',
    version: VERSION,
    description:
      'Events of accounts and traces as they become pending, confirmed and final. The same over WebSocket: asyncapi.json beside this.',
  },
  servers: [{ url: '/' }],
  paths: {
    '/api/streaming/v2/sse': sseOperation('stream_sse', 'Subscription', 'Event', {}),
    '/api/streaming/v1/sse': sseOperation('stream_sse_v1', 'V1Subscription', 'V1Event', { deprecated: true }),
    '/api/v3/follow/{hash}': {
      get: {
        operationId: 'follow',
        summary: 'What becomes of a message',
        description:
          'By long poll, or with `Accept: text/event-stream` as events with the name `status` until it is settled.',
        parameters: [
          {
            name: 'hash',
            in: 'path',
            required: true,
            schema: { type: 'string' },
            description: 'Of the message, raw or normalised.',
          },
          {
            name: 'timeout',
            in: 'query',
            schema: { type: 'number', minimum: 0, maximum: 60, default: 30 },
            description: 'Seconds.',
          },
          {
            name: 'after',
            in: 'query',
            schema: { enum: STAGES },
            description: 'Answers once the message is further than this.',
          },
        ],
        responses: {
          200: {
            description: 'What is known now.',
            content: { ...json(ref('FollowedMessage')), 'text/event-stream': { schema: ref('FollowedMessage') } },
          },
          404: { description: 'Nobody here has seen the message.' },
          422: { description: 'A parameter is wrong.' },
        },
      },
    },
    '/api/streaming/healthz': {
      get: {
        operationId: 'stream_health',
        summary: 'Whether events come',
        responses: { 200: { description: 'They do.' }, 503: { description: 'They do not; the body says why.' } },
      },
    },
  },
  components: { schemas },
};

const TO_TAKE_OUT = listOf({ type: 'string' }, 'Accounts to take out.');

/** What a client sends on a channel, by operation. */
const REQUESTS: Readonly<Record<'stream' | 'streamV1', Readonly<Record<string, Json>>>> = {
  stream: {
    subscribe: ref('Subscription'),
    unsubscribe: object([], {
      id: { type: 'string' },
      addresses: TO_TAKE_OUT,
      trace_external_hash_norms: listOf({ type: 'string' }, 'Traces to take out.'),
    }),
    ping: object([], { id: { type: 'string' } }),
  },
  streamV1: {
    subscribe: object(
      ['types'],
      { ...ID, addresses: listOf({ type: 'string' }, 'Accounts in any form.'), types: FIRST_TYPES, ...RESUME },
      { description: 'Adds to what is subscribed to.' },
    ),
    set_subscription: object(
      ['subscriptions'],
      { ...ID, subscriptions: byKey(FIRST_TYPES, 'Types by account.'), ...RESUME },
      { description: 'Replaces what is subscribed to.' },
    ),
    configure: object([], { ...ID, ...OPTIONS }, { description: 'How events are written from now on.' }),
    unsubscribe: object(['addresses'], { ...ID, addresses: TO_TAKE_OUT }),
    ping: object([], { ...ID }),
  },
};

function channel(name: keyof typeof REQUESTS, address: string, events: string, more: Json): Json {
  const requests = Object.entries(REQUESTS[name]).map(([operation, payload]) => [
    operation,
    { payload: { allOf: [payload, object(['operation'], { operation: { const: operation } })] } },
  ]);
  const answers = { reply: { payload: ref('Reply') }, failure: { payload: ref('Failure') } };
  return {
    address,
    ...more,
    messages: { ...Object.fromEntries(requests), ...answers, event: { payload: ref(events) } },
  };
}

/** What is sent and received on a channel. */
function operations(name: keyof typeof REQUESTS, suffix: string): Json {
  const $ref = `#/channels/${name}`;
  const messages = (names: readonly string[]) => names.map((each) => ({ $ref: `${$ref}/messages/${each}` }));
  return {
    [`request${suffix}`]: {
      action: 'send',
      channel: { $ref },
      messages: messages(Object.keys(REQUESTS[name])),
      reply: { channel: { $ref }, messages: messages(['reply', 'failure']) },
    },
    [`receive${suffix}`]: { action: 'receive', channel: { $ref }, messages: messages(['event']) },
  };
}

/** AsyncAPI knows no mapping of types to schemas, as `Action` of API v3 has it: what all actions have in common. */
const ACTION: Json = {
  type: 'object',
  required: ['action_id', 'type', 'details'],
  properties: {
    action_id: { type: 'string' },
    type: { type: 'string' },
    success: { type: 'boolean' },
    details: { type: 'object' },
  },
  description: 'As `Action` of API v3 (`/api/v3/openapi.json`), which has the details of each type.',
};

function withOwnAction(described: Json): Json {
  const own = JSON.stringify(described).replaceAll(`"${OF_V3}Action"`, '"#/components/schemas/Action"');
  return { ...JSON.parse(own), Action: ACTION };
}

/** The AsyncAPI 3.0 document of streams over WebSocket. */
export const streamAsyncApi: Json = {
  asyncapi: '3.0.0',
  info: {
    title: 'TON streaming API over WebSocket',
    version: VERSION,
    description:
      'Text messages with one JSON object each. A wrong request is answered with an error, and the connection stays open.',
  },
  channels: {
    stream: channel('stream', '/api/streaming/v2/ws', 'Event', {}),
    streamV1: channel('streamV1', '/api/streaming/v1/ws', 'V1Event', {
      description: 'Deprecated: what is pending has types of its own, and no event says its finality.',
    }),
  },
  operations: { ...operations('stream', ''), ...operations('streamV1', 'V1') },
  components: { schemas: withOwnAction(schemas) },
};
