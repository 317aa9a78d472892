import type { RawReply, RawRequest, RawRoute } from '#api/http/http-api.js';
import { webhooksOpenApi } from '#api/webhooks/description.js';
import { DELIVERY_STATES, type StoredDelivery, type StoredWebhook } from '#drivers/store/write/webhooks.js';
import { isTernError } from '#kernel/tern-error.js';
import { webhookErrors } from '#services/webhooks/errors.js';
import type { WebhookOwner, Webhooks } from '#services/webhooks/webhooks.js';

/** Who may use webhooks over HTTP: clients with a key, or anybody, who then shares them with all. */
type WebhookAccess = 'keys' | 'open';

export interface WebhookRoutesModules {
  /** The webhooks of a network; null: it has none. */
  readonly webhooksOf: (network: string) => Webhooks | null;
  readonly access: WebhookAccess;
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const CHANGES: ReadonlySet<string> = new Set(['add', 'test', 'rotate', 'remove', 'replay']);

type Method = (webhooks: Webhooks, owner: WebhookOwner, given: Given) => Promise<unknown>;

const METHODS: Readonly<Record<string, Method>> = {
  list: async (webhooks, owner) => ({ webhooks: (await webhooks.list(owner)).map((hook) => hookJson(hook, false)) }),
  add: async (webhooks, owner, given) => {
    const hook = await webhooks.add(owner, { url: given.text('url'), filter: given.object('filter') });
    return hookJson(hook, true);
  },
  test: (webhooks, owner, given) => webhooks.test(owner, given.text('id')),
  rotate: async (webhooks, owner, given) => {
    const id = given.text('id');
    const { secret, previous_until } = await webhooks.rotate(owner, id);
    return { id, secret, previous_until: timeText(previous_until) };
  },
  remove: async (webhooks, owner, given) => {
    await webhooks.remove(owner, given.text('id'));
    return { removed: true };
  },
  deliveries: async (webhooks, owner, given) => {
    const state = given.word('state', DELIVERY_STATES);
    return { deliveries: (await webhooks.deliveries(owner, given.text('id'), state)).map(deliveryJson) };
  },
  replay: async (webhooks, owner, given) => ({
    replayed: await webhooks.replay(owner, given.text('id'), given.number('number')),
  }),
};

/** The routes of `/api/webhooks`. */
export function webhookRoutes(modules: WebhookRoutesModules): readonly RawRoute[] {
  const methods = Object.entries(METHODS).map(([name, method]) => ({
    path: `/api/webhooks/${name}`,
    name: `webhooks/${name}`,
    verbs: CHANGES.has(name) ? (['POST'] as const) : (['GET'] as const),
    style: 'plain' as const,
    handle: (request: RawRequest, reply: RawReply) => answer(method, request, reply, modules),
  }));
  const openapi: RawRoute = {
    ...{ path: '/api/webhooks/openapi.json', name: 'webhooks/openapi', verbs: ['GET'], style: 'plain' },
    handle: (_, reply) => reply.send(200, JSON_TYPE, JSON.stringify(webhooksOpenApi)),
  };
  return [...methods, openapi];
}

async function answer(
  method: Method,
  request: RawRequest,
  reply: RawReply,
  { webhooksOf, access }: WebhookRoutesModules,
): Promise<void> {
  try {
    const webhooks = webhooksOf(request.network.name);
    if (webhooks === null) throw webhookErrors.off({});
    if (access === 'keys' && request.keyId === null) throw webhookErrors['key-required']({});
    const given = new Given(request.method === 'GET' ? request.query : request.body);
    const result = await method(webhooks, request.keyId, given);
    reply.send(200, JSON_TYPE, JSON.stringify(result));
  } catch (error) {
    const status = statusOfError(error);
    const text =
      isTernError(error) && error.class !== 'internal' ? error.message : `internal error; request ${request.id}`;
    reply.send(status, JSON_TYPE, JSON.stringify({ error: text, code: status }));
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
    if (typeof value === 'string' && value !== '') return value;
    throw webhookErrors.parameter({ parameter, problem: 'a text is required' });
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

/** @param isNew then with the secret, which is shown once */
function hookJson({ id, url, filter, secrets, cursor, created_at }: StoredWebhook, isNew: boolean): object {
  return { id, url, filter, ...(isNew ? { secret: secrets.secret } : {}), cursor, created_at: timeText(created_at) };
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
}: StoredDelivery): object {
  return {
    ...{ number: Number(number), state, attempts, status, problem },
    next_attempt: state === 'waiting' && not_before > 0n ? timeText(not_before) : null,
    changed_at: timeText(changed_at),
    event: JSON.parse(body) as unknown,
  };
}

function timeText(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
