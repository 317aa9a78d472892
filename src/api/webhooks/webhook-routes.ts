import type { RawReply, RawRequest, RawRoute } from '#api/http/http-api.js';
import { webhooksOpenApi } from '#api/webhooks/description.js';
import {
  DELIVERY_STATES,
  type ListedWebhook,
  type StoredDelivery,
  type StoredWebhook,
} from '#drivers/store/write/webhooks.js';
import { isTernError } from '#kernel/tern-error.js';
import { webhookErrors } from '#services/webhooks/errors.js';
import { requireStorable, type WebhookOwner, type Webhooks } from '#services/webhooks/webhooks.js';

/** Who may use webhooks over HTTP: clients with a key, or anybody, who then shares them with all. */
type WebhookAccess = 'keys' | 'open';

export interface WebhookRoutesModules {
  /** The webhooks of a network; null: it has none. */
  readonly webhooksOf: (network: string) => Webhooks | null;
  readonly access: WebhookAccess;
}

// The same URL has other answers for other keys, and some have secrets.
const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };

/** Price of a method in work units, without the text of a list. */
const METHOD_UNITS = 1;
const CHARACTERS_PER_UNIT = 20_000;

/** Who calls a method. */
interface Caller {
  /** Whose webhooks it manages: those of all for an admin key. */
  readonly owner: WebhookOwner;
  /** Whose webhooks it adds. */
  readonly keyId: string | null;
}

/** A method that changes something. */
type Method = (webhooks: Webhooks, caller: Caller, given: Given) => Promise<unknown>;

/** A list that is not written yet. */
interface Listing {
  /** Characters of most of it. */
  readonly length: number;
  /** JSON. */
  readonly write: () => string;
}

type ListMethod = (webhooks: Webhooks, caller: Caller, given: Given) => Promise<Listing>;

const LISTS: Readonly<Record<string, ListMethod>> = {
  list: async (webhooks, { owner }) => {
    const hooks = await webhooks.list(owner);
    return {
      length: sumOf(hooks, ({ url, filter }) => url.length + (filter?.length ?? 0)),
      write: () => `{"webhooks":[${hooks.map(listedJson).join()}]}`,
    };
  },
  deliveries: async (webhooks, { owner }, given) => {
    const state = given.word('state', DELIVERY_STATES);
    const found = await webhooks.deliveries(owner, given.text('id'), state);
    return {
      length: sumOf(found, ({ body }) => body.length),
      write: () => `{"deliveries":[${found.map(deliveryJson).join()}]}`,
    };
  },
};

const METHODS: Readonly<Record<string, Method>> = {
  add: async (webhooks, { keyId }, given) => {
    const hook = await webhooks.add(keyId, { url: given.text('url'), filter: given.object('filter') });
    return newHookJson(hook);
  },
  test: (webhooks, { owner }, given) => webhooks.test(owner, given.text('id')),
  rotate: async (webhooks, { owner }, given) => {
    const id = given.text('id');
    const { secret, previous_until } = await webhooks.rotate(owner, id);
    return { id, secret, previous_until: timeText(previous_until) };
  },
  remove: async (webhooks, { owner }, given) => {
    await webhooks.remove(owner, given.text('id'));
    return { removed: true };
  },
  replay: async (webhooks, { owner }, given) => ({
    replayed: await webhooks.replay(owner, given.text('id'), given.number('number')),
  }),
};

/** The routes of `/api/webhooks`. */
export function webhookRoutes(modules: WebhookRoutesModules): readonly RawRoute[] {
  const route = (name: string, verb: 'GET' | 'POST', run: Run): RawRoute => ({
    ...{ path: `/api/webhooks/${name}`, name: `webhooks/${name}`, verbs: [verb], style: 'plain' },
    handle: (request, reply) => answer(run, request, reply, modules),
  });
  const lists = Object.entries(LISTS).map(([name, list]) =>
    route(name, 'GET', async (webhooks, caller, request) => {
      const { length, write } = await list(webhooks, caller, new Given(request.query));
      return request.inTurn(length / CHARACTERS_PER_UNIT, write);
    }),
  );
  const methods = Object.entries(METHODS).map(([name, method]) =>
    route(name, 'POST', async (webhooks, caller, request) =>
      JSON.stringify(await method(webhooks, caller, new Given(request.body))),
    ),
  );
  const openapi: RawRoute = {
    ...{ path: '/api/webhooks/openapi.json', name: 'webhooks/openapi', verbs: ['GET'], style: 'plain' },
    handle: (_, reply) => reply.send(200, JSON_HEADERS, JSON.stringify(webhooksOpenApi)),
  };
  return [...lists, ...methods, openapi];
}

/** Runs a method. @returns its answer: JSON */
type Run = (webhooks: Webhooks, caller: Caller, request: RawRequest) => Promise<string>;

async function answer(
  run: Run,
  request: RawRequest,
  reply: RawReply,
  { webhooksOf, access }: WebhookRoutesModules,
): Promise<void> {
  try {
    const webhooks = webhooksOf(request.network.name);
    if (webhooks === null) throw webhookErrors.off({});
    if (access === 'keys' && request.keyId === null) throw webhookErrors['key-required']({});
    const { keyId, isAdmin } = request;
    await request.inTurn(METHOD_UNITS, () => {});
    reply.send(200, JSON_HEADERS, await run(webhooks, { owner: isAdmin ? null : keyId, keyId }, request));
  } catch (error) {
    // Limits, which the server answers as those of other APIs.
    if (isTernError(error) && error.code.startsWith('http/')) throw error;
    const status = statusOfError(error);
    const text =
      isTernError(error) && error.class !== 'internal' ? error.message : `internal error; request ${request.id}`;
    reply.send(status, JSON_HEADERS, JSON.stringify({ error: text, code: status }));
  }
}

function statusOfError(error: unknown): number {
  if (!isTernError(error)) return 500;
  if (error.code === 'webhooks/key-required') return 401;
  const statuses = {
    caller: 422,
    'not-found': 404,
    overloaded: 503,
    upstream: 503,
    'shutting-down': 503,
    internal: 500,
  };
  return statuses[error.class];
}

/** The parameters of a request. @throws webhooks/parameter */
class Given {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw webhookErrors.parameter({ parameter: 'body', problem: 'it must be a JSON object' });
    }
    this.#fields = value as Record<string, unknown>;
  }

  text(parameter: string): string {
    const value = this.#fields[parameter];
    if (typeof value !== 'string' || value === '')
      throw webhookErrors.parameter({ parameter, problem: 'a text is required' });
    requireStorable(parameter, value);
    return value;
  }

  object(parameter: string): object {
    const value = this.#fields[parameter];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw webhookErrors.parameter({ parameter, problem: 'an object is required: a subscription' });
  }

  number(parameter: string): bigint | null {
    const value = this.#fields[parameter];
    if (value === undefined || value === null) return null;
    if (/^[1-9][0-9]{0,15}$/.test(String(value))) return BigInt(String(value));
    throw webhookErrors.parameter({ parameter, problem: 'it must be a whole number from 1' });
  }

  word<const Words extends readonly string[]>(parameter: string, words: Words): Words[number] | null {
    const value = this.#fields[parameter];
    if (value === undefined || value === null) return null;
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw webhookErrors.parameter({ parameter, problem: `it must be one of ${words.join(', ')}` });
  }
}

/** With the secret, which is shown once. */
function newHookJson({ id, owner, url, filter, secrets, cursor, created_at }: StoredWebhook): object {
  return { id, owner, url, filter, secret: secrets.secret, cursor, created_at: timeText(created_at) };
}

function listedJson({ id, owner, url, filter, cursor, created_at }: ListedWebhook): string {
  return jsonWith({ id, owner, url, cursor, created_at: timeText(created_at) }, 'filter', filter ?? 'null');
}

function deliveryJson({
  number,
  state,
  attempts,
  not_before,
  changed_at,
  status,
  problem,
  body,
}: StoredDelivery): string {
  const fields = {
    ...{ number: Number(number), state, attempts, status, problem },
    next_attempt: state === 'waiting' && not_before > 0n ? timeText(not_before) : null,
    changed_at: timeText(changed_at),
  };
  return jsonWith(fields, 'event', body);
}

/** An object as JSON, with a further member that is JSON already. */
function jsonWith(fields: object, name: string, json: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"${name}":${json}}`;
}

function sumOf<Row>(rows: readonly Row[], lengthOf: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + lengthOf(row), 0);
}

function timeText(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
