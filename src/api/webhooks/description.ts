import { DELIVERY_STATES } from '#drivers/store/write/webhooks.js';

/** Plain JSON. */
type Json = Readonly<Record<string, unknown>>;

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const id: Json = { type: 'string', description: 'Of the webhook.' };
const refusals: Json = Object.fromEntries(
  [
    [401, 'An API key is required.'],
    [404, 'There is no such webhook of this key, or webhooks are off.'],
    [422, 'A parameter is wrong.'],
    [429, 'A limit of the client is exceeded, such as its budget of work.'],
    [503, 'Their database cannot be reached, or the server is overloaded.'],
  ].map(([status, description]) => [status, { description, content: json(ref('Failure')) }]),
);

function change(name: string, summary: string, required: readonly string[], properties: Json, result: Json): Json {
  return {
    post: {
      ...{ operationId: `webhooks_${name}`, summary },
      requestBody: { required: true, content: json({ type: 'object', required, properties }) },
      responses: { 200: { description: 'Done.', content: json(result) }, ...refusals },
    },
  };
}

function look(name: string, summary: string, parameters: readonly Json[], result: Json): Json {
  const responses = { 200: { description: 'Found.', content: json(result) }, ...refusals };
  return { get: { operationId: `webhooks_${name}`, summary, parameters, responses } };
}

/** The OpenAPI 3.1 document of webhooks. */
export const webhooksOpenApi: Json = {
  openapi: '3.1.0',
  info: {
    title: 'Webhooks of Tern',
    version: '1.0.0',
    description:
      'Events of a subscription, sent to a server by POST, at least once and in order, signed as of Standard Webhooks ' +
      '(headers `webhook-id`, `webhook-timestamp`, `webhook-signature`). What is not answered with 2xx is sent again for a day.',
  },
  servers: [{ url: '/' }],
  paths: {
    '/api/webhooks/add': change(
      'add',
      'Adds a webhook; the answer has its secret, once',
      ['url', 'filter'],
      {
        url: { type: 'string', format: 'uri' },
        filter: { $ref: '/api/streaming/openapi.json#/components/schemas/Subscription' },
      },
      ref('Webhook'),
    ),
    '/api/webhooks/list': look('list', 'The webhooks of this key; of all keys for an admin key', [], {
      type: 'object',
      properties: { webhooks: { type: 'array', items: ref('Webhook') } },
    }),
    '/api/webhooks/test': change('test', 'Sends a test event', ['id'], { id }, { type: 'object' }),
    '/api/webhooks/rotate': change(
      'rotate',
      'Gives a webhook a new secret; the one before signs as well for a day',
      ['id'],
      { id },
      {
        type: 'object',
        properties: {
          id,
          secret: { type: 'string', description: 'The new one, once.' },
          previous_until: { type: 'string', format: 'date-time', description: 'Until then both secrets sign.' },
        },
      },
    ),
    '/api/webhooks/remove': change(
      'remove',
      'Removes a webhook',
      ['id'],
      { id },
      {
        type: 'object',
        properties: { removed: { const: true } },
      },
    ),
    '/api/webhooks/deliveries': look(
      'deliveries',
      'Deliveries that wait or were given up',
      [
        { name: 'id', in: 'query', required: true, schema: id },
        { name: 'state', in: 'query', schema: { enum: DELIVERY_STATES } },
      ],
      { type: 'object', properties: { deliveries: { type: 'array', items: ref('Delivery') } } },
    ),
    '/api/webhooks/replay': change(
      'replay',
      'Sends again what was given up',
      ['id'],
      { id, number: { type: 'integer', minimum: 1, description: 'Of one delivery; all without it.' } },
      { type: 'object', properties: { replayed: { type: 'integer' } } },
    ),
  },
  components: {
    schemas: {
      Failure: {
        type: 'object',
        required: ['error', 'code'],
        properties: { error: { type: 'string' }, code: { type: 'integer' } },
      },
      Webhook: {
        type: 'object',
        required: ['id', 'owner', 'url', 'filter', 'created_at'],
        properties: {
          id,
          owner: {
            type: ['string', 'null'],
            description: 'Id of the API key that added it; null: it was added without one.',
          },
          url: { type: 'string' },
          filter: { type: ['object', 'null'], description: 'Null in a list: those before it are 8 MiB together.' },
          secret: { type: 'string', description: 'Of a webhook that was just added.' },
          cursor: { type: 'string', description: 'Behind the last event that was taken for it.' },
          created_at: { type: 'string', format: 'date-time' },
        },
      },
      Delivery: {
        type: 'object',
        properties: {
          number: { type: 'integer' },
          state: { enum: DELIVERY_STATES },
          attempts: { type: 'integer' },
          status: { type: ['integer', 'null'], description: 'HTTP status of the last attempt.' },
          problem: { type: ['string', 'null'] },
          next_attempt: { type: ['string', 'null'], format: 'date-time' },
          changed_at: { type: 'string', format: 'date-time' },
          event: { type: 'object' },
        },
      },
    },
  },
};
