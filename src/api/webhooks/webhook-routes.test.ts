import { afterEach, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { webhookRoutes } from '#api/webhooks/webhook-routes.js';
import type { ListedWebhook, StoredDelivery } from '#drivers/store/write/webhooks.js';
import { type Access, unlimitedWork, type WorkBudget } from '#services/access/access.js';
import { webhookErrors } from '#services/webhooks/errors.js';
import type { NewWebhook, WebhookOwner, Webhooks } from '#services/webhooks/webhooks.js';
import { startFakeServer } from '#test/support/fake-http-api.js';

const SECRETS = { secret: 'whsec_a', previous_secret: null, previous_until: 0n };
const HOOK = { id: 'wh_1', owner: 'id1', url: 'https://example.com/', cursor: '7', created_at: 0n };
const LISTED: ListedWebhook = { ...HOOK, filter: '{"accounts": ["a"]}' };
const DELIVERY: StoredDelivery = {
  ...{ number: 3n, body: '{"type":"gap"}', state: 'delivered', attempts: 1, since: 0n, not_before: 0n },
  ...{ changed_at: 0n, status: 200, problem: null },
};

let server: HttpServer;
/** Whose webhooks were asked for. */
let owners: WebhookOwner[];
/** Prices in the order in which they were paid. */
let paid: number[];
let left: number;
let deliveries: readonly StoredDelivery[];

const webhooks = {
  list: async (owner: WebhookOwner) => {
    owners.push(owner);
    return [LISTED, { ...LISTED, id: 'wh_2', filter: null }];
  },
  add: async (owner: WebhookOwner, { url, filter }: NewWebhook) => {
    owners.push(owner);
    return { ...HOOK, owner, url, filter, secrets: SECRETS };
  },
  rotate: async (owner: WebhookOwner) => {
    owners.push(owner);
    return SECRETS;
  },
  remove: async (owner: WebhookOwner, id: string) => {
    owners.push(owner);
    if (id !== HOOK.id) throw webhookErrors['no-such-hook']({ id });
  },
  deliveries: async () => deliveries,
} as unknown as Webhooks;

const work: WorkBudget = {
  take: (units) => {
    if (left < units) return { kind: 'limited', retryAfterMs: 900, limit: '10 work units' };
    left -= units;
    paid.push(units);
    return { kind: 'allowed' };
  },
  settle: () => {},
};

const access: Access = {
  check: ({ key }) => {
    const allowed = { kind: 'allowed', plan: 'free', group: null, client: 'one', work: unlimitedWork } as const;
    if (key === 'admin') return { ...allowed, key: 'id2', isAdmin: true };
    return { ...allowed, key: key === null ? null : 'id1', work };
  },
};

afterEach(() => server.close());

async function start(): Promise<void> {
  [owners, paid, left, deliveries] = [[], [], 1_000, [DELIVERY]];
  server = await startFakeServer(
    {},
    { access, rawRoutes: webhookRoutes({ webhooksOf: () => webhooks, access: 'keys' }) },
  );
}

async function ask(path: string, key: string | null, body?: object) {
  const response = await fetch(`${server.url}/api/webhooks/${path}`, {
    headers: key === null ? {} : { 'X-API-Key': key },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  expect(headers.get('cache-control'), path).toBe('no-store');
  const json = (await response.json()) as Record<string, unknown>;
  return { status, retryAfter: headers.get('retry-after'), json };
}

it('answers are kept by no cache', async () => {
  await start();
  const created_at = '1970-01-01T00:00:00.000Z';
  const { filter, ...hook } = { ...LISTED, created_at };
  expect(await ask('list', 'a')).toMatchObject({
    status: 200,
    json: {
      webhooks: [
        { ...hook, filter: { accounts: ['a'] } },
        { ...hook, id: 'wh_2', filter: null },
      ],
    },
  });
  expect(filter).toBe(LISTED.filter);
  const added = { ...hook, filter: {}, secret: SECRETS.secret };
  expect(await ask('add', 'a', { url: HOOK.url, filter: {} })).toMatchObject({ status: 200, json: added });
  expect(await ask('rotate', 'a', { id: HOOK.id })).toMatchObject({ json: { secret: SECRETS.secret } });
  expect(await ask('deliveries?id=wh_1', 'a')).toMatchObject({
    json: { deliveries: [{ number: 3, state: 'delivered', event: { type: 'gap' }, changed_at: created_at }] },
  });
  expect(await ask('remove', 'a', { id: 'wh_9' })).toMatchObject({ status: 404 });
  expect(await ask('list', null)).toMatchObject({ status: 401 });
  expect(await ask('openapi.json', null)).toMatchObject({ status: 200 });
});

it('an admin key manages the webhooks of all keys, and adds its own', async () => {
  await start();
  for (const key of ['a', 'admin']) {
    await ask('list', key);
    await ask('remove', key, { id: HOOK.id });
    await ask('add', key, { url: HOOK.url, filter: {} });
  }
  expect(owners).toEqual(['id1', 'id1', 'id1', null, null, 'id2']);
});

it('lists are paid by their length', async () => {
  await start();
  deliveries = Array.from({ length: 10 }, () => ({ ...DELIVERY, body: JSON.stringify('x'.repeat(39_998)) }));
  expect((await ask('deliveries?id=wh_1', 'a')).status).toBe(200);
  expect(paid).toEqual([1, 20]);
  left = 20;
  const refused = await ask('deliveries?id=wh_1', 'a');
  expect([refused.status, refused.retryAfter, refused.json.code]).toEqual([429, '1', 429]);
  left = 0;
  expect((await ask('add', 'a', { url: HOOK.url, filter: {} })).status).toBe(429);
  expect(owners).toEqual([]);
});
