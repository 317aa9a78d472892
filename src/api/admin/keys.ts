import { Type } from '@sinclair/typebox';
import { type AdminContext, adminEndpoint } from '#api/admin/context.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { NAME } from '#services/access/json-field.js';
import { KEY_ID, type KeyRecord, LABEL } from '#services/access/keys.js';
import { lastUses, usageReport } from '#services/access/usage.js';

const POST = ['POST'] as const;
const TAG = 'Keys';

/** Days of which usage is kept. */
const MOST_DAYS = 90;
const LONGEST_GRACE_SECONDS = 366 * 86_400;

const name = (description: string) =>
  Type.String({ description, pattern: NAME.source, examples: ['acme'], minLength: 1, maxLength: 64 });

const keyId = Type.String({ description: 'Id of the key.', pattern: KEY_ID.source, examples: ['key_0123456789'] });

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const keyFields = {
  id: Type.String({ description: 'Id of the key; not secret.' }),
  label: Type.String({ description: 'Description by its creator.' }),
  owner: orNull('Keys of one owner on one plan share its limits; null for limits of its own.'),
  plan: Type.String({ description: 'Name of its plan.' }),
  networks: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'Networks that it is for; null for all of the plan.',
  }),
  admin: Type.Boolean({ description: 'Whether it opens this API.' }),
  created_at: Type.String({ description: 'When it was created.', format: 'date-time' }),
  revoked_at: orNull('When it was revoked; null for a valid key.'),
  secrets: Type.Array(
    Type.Object(
      {
        created_at: Type.String({ description: 'When it was created.', format: 'date-time' }),
        expires_at: orNull('From when on it is refused; null for never.'),
      },
      { additionalProperties: false },
    ),
    { description: 'Its secrets, without themselves: several while an old one is valid after a rotation.' },
  ),
};

const KeyAnswer = Type.Object(keyFields, { $id: 'AdminKey', additionalProperties: false, description: 'A key.' });

const IssuedKeyAnswer = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The key itself. It is not stored and cannot be shown again.' }) },
  { $id: 'AdminIssuedKey', additionalProperties: false, description: 'A key with a new secret.' },
);

const KeysAnswer = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        { ...keyFields, last_used: orNull('When a request with it was last allowed.') },
        { additionalProperties: false },
      ),
      { description: 'All keys, revoked ones included, the oldest first.' },
    ),
  },
  { $id: 'AdminKeys', additionalProperties: false },
);

const UsageAnswer = Type.Object(
  {
    usage: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: 'The day, UTC.', format: 'date' }),
          key: Type.String({ description: 'Id of the key, or `anonymous`.' }),
          network: Type.String({ description: 'Name of the network.' }),
          allowed: Type.Integer({ description: 'Allowed requests.' }),
          limited: Type.Integer({ description: 'Requests that were refused because of a limit.' }),
          work: Type.Integer({ description: 'Work in units of about 1 ms of CPU time.' }),
          last_used: orNull('The last allowed request of the day.'),
        },
        { additionalProperties: false },
      ),
      { description: 'The newest day first, then by key and network.' },
    ),
  },
  { $id: 'AdminUsage', additionalProperties: false },
);

/** A key without the hashes of its secrets. */
function keyJson({ secrets, admin, ...record }: KeyRecord) {
  const { networks } = record;
  return {
    ...record,
    networks: networks === null ? null : [...networks],
    admin: admin === true,
    secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
  };
}

const list = adminEndpoint({
  name: 'keys',
  verbs: ['GET'],
  tag: TAG,
  summary: 'All keys',
  description: 'All keys with the time of their last use. Secrets are not stored, so they are not shown.',
  params: Type.Object({}, { additionalProperties: false }),
  result: KeysAnswer,
  statuses: [],
  freshness: 'none',
  handle: async (_, { access, unixTimeMs }) => {
    const uses = lastUses(await usageReport(access.usage, MOST_DAYS, unixTimeMs()));
    const keys = await access.store.list();
    return { keys: keys.map((record) => ({ ...keyJson(record), last_used: uses.get(record.id) ?? null })) };
  },
});

const create = adminEndpoint({
  name: 'keys/create',
  verbs: POST,
  tag: TAG,
  summary: 'Creates a key',
  description: 'Creates a key and answers it once. It is valid at once in all processes with the same store.',
  params: Type.Object(
    {
      plan: Type.Optional(name('Name of the plan; default: `free`.')),
      label: Type.Optional(
        Type.String({ description: 'One line that describes the key.', maxLength: 200, examples: ['the wallet team'] }),
      ),
      owner: Type.Optional(name('Keys of one owner on one plan share its limits.')),
      networks: Type.Optional(
        Type.Array(name('A network.'), {
          description: 'Networks of the key; default: all of the plan.',
          minItems: 1,
          maxItems: 100,
        }),
      ),
      admin: Type.Optional(Type.Boolean({ description: 'Whether the key opens this API.', default: false })),
    },
    { additionalProperties: false },
  ),
  check: ({ label = '' }) => {
    if (!LABEL.test(label)) throw httpErrors['bad-parameter']({ parameter: 'label', problem: 'it must be one line' });
  },
  result: IssuedKeyAnswer,
  statuses: [],
  freshness: 'none',
  handle: async ({ plan = 'free', label = '', owner = null, networks = null, admin }, { access }) => {
    const wanted = { label, owner, plan, networks, ...(admin === true ? ({ admin: true } as const) : {}) };
    const { record, key } = await access.keys.create(wanted, access.plans());
    return { ...keyJson(record), key };
  },
});

const revoke = adminEndpoint({
  name: 'keys/revoke',
  verbs: POST,
  tag: TAG,
  summary: 'Revokes a key',
  description: 'Revokes a key for ever, in all processes within a second. Revoking it twice changes nothing.',
  params: Type.Object({ id: keyId }, { additionalProperties: false }),
  result: KeyAnswer,
  statuses: [404],
  freshness: 'none',
  handle: async ({ id }, { access }) => keyJson(await access.keys.revoke(id)),
});

const rotate = adminEndpoint({
  name: 'keys/rotate',
  verbs: POST,
  tag: TAG,
  summary: 'Gives a key a new secret',
  description: 'Id, plan and limits stay the same; the old secret is valid for the grace period.',
  params: Type.Object(
    {
      id: keyId,
      grace_seconds: Type.Optional(
        Type.Integer({
          description: 'How long the old secret stays valid.',
          default: 0,
          minimum: 0,
          maximum: LONGEST_GRACE_SECONDS,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: IssuedKeyAnswer,
  statuses: [404],
  freshness: 'none',
  handle: async ({ id, grace_seconds = 0 }, { access }) => {
    const { record, key } = await access.keys.rotate(id, grace_seconds * 1000);
    return { ...keyJson(record), key };
  },
});

const usage = adminEndpoint({
  name: 'usage',
  verbs: ['GET'],
  tag: TAG,
  summary: 'Usage by day, key and network',
  description: 'Requests and work of the last days, today included. Servers store it every few seconds.',
  params: Type.Object(
    {
      days: Type.Optional(Type.Integer({ description: 'Number of days.', default: 7, minimum: 1, maximum: MOST_DAYS })),
      key: Type.Optional(keyId),
    },
    { additionalProperties: false },
  ),
  result: UsageAnswer,
  statuses: [],
  freshness: 'none',
  handle: async ({ days = 7, key }, { access, unixTimeMs }) => {
    const rows = await usageReport(access.usage, days, unixTimeMs());
    return { usage: rows.filter((row) => key === undefined || row.key === key) };
  },
});

/** Methods of keys and of their usage. */
export const adminKeyEndpoints: readonly AnyEndpoint<AdminContext>[] = [list, create, revoke, rotate, usage];
