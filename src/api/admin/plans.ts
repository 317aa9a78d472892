import { Type } from '@sinclair/typebox';
import { type AdminContext, adminEndpoint } from '#api/admin/context.js';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { NAME } from '#services/access/json-field.js';
import type { Limits, Plan } from '#services/access/plans.js';

const POST = ['POST'] as const;
const TAG = 'Plans';

const orNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const limitFields = {
  requests_per_second: orNull('Requests per second in the long run; null for any number.'),
  burst: Type.Integer({ description: 'Requests that may come at once after a pause.' }),
  daily_quota: orNull('Requests per day (UTC); null for any number.'),
  work_per_second: orNull('Work units per second in the long run; null for any amount.'),
  work_burst: Type.Number({ description: 'Work units that may be used at once after a pause.' }),
};

const PlanAnswer = Type.Object(
  {
    name: Type.String({ description: 'Name of the plan; `anonymous` is that of requests without a key.' }),
    ...limitFields,
    networks: Type.Union([Type.Record(Type.String(), Type.Object(limitFields)), Type.Null()], {
      description: 'The networks that it covers, with their limits; null for all networks.',
    }),
    group: Type.Union([Type.String(), Type.Null()], { description: 'The private liteserver group that it opens.' }),
  },
  { $id: 'AdminPlan', additionalProperties: false, description: 'A plan.' },
);

const PlansAnswer = Type.Object(
  { plans: Type.Array(PlanAnswer, { description: 'All plans in force.' }) },
  { $id: 'AdminPlans', additionalProperties: false },
);

function planJson({ name, networks, group, ...limits }: Plan) {
  return { name, ...limitsJson(limits), networks: networks === null ? null : networksJson(networks), group };
}

function limitsJson({ requests_per_second, burst, daily_quota, work_per_second, work_burst }: Limits) {
  return { requests_per_second, burst, daily_quota, work_per_second, work_burst };
}

function networksJson(networks: ReadonlyMap<string, Limits>) {
  return Object.fromEntries([...networks].map(([network, limits]) => [network, limitsJson(limits)]));
}

const list = adminEndpoint({
  name: 'plans',
  verbs: ['GET'],
  tag: TAG,
  summary: 'All plans',
  description:
    'The plans in force: built-in ones, those of the plans file, and those of the database, which come first.',
  params: Type.Object({}, { additionalProperties: false }),
  result: PlansAnswer,
  statuses: [],
  freshness: 'none',
  handle: async (_, { access }) => ({ plans: access.plans().all.map(planJson) }),
});

const put = adminEndpoint({
  name: 'plans/put',
  verbs: POST,
  tag: TAG,
  summary: 'Adds or replaces a plan',
  description:
    'Stores a plan in the database; it is in force in all processes within a second. Where keys are in files, this is 422.',
  params: Type.Object(
    {
      plan: Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'The plan, as an item of plans.json.',
          examples: [{ name: 'partner', requests_per_second: 50, daily_quota: 1_000_000 }],
        },
      ),
    },
    { additionalProperties: false },
  ),
  result: PlanAnswer,
  statuses: [],
  freshness: 'none',
  handle: async ({ plan }, { access }) => planJson(await access.putPlan(plan)),
});

const remove = adminEndpoint({
  name: 'plans/delete',
  verbs: POST,
  tag: TAG,
  summary: 'Deletes a plan of the database',
  description:
    'A built-in plan or one of the plans file of the same name is in force again. Keys of a plan that is nowhere have the limits ' +
    'of requests without a key.',
  params: Type.Object(
    { name: Type.String({ description: 'Name of the plan.', pattern: NAME.source, examples: ['partner'] }) },
    { additionalProperties: false },
  ),
  result: Type.Object({ deleted: Type.String({ description: 'Name of the plan.' }) }, { $id: 'AdminDeletedPlan' }),
  statuses: [],
  freshness: 'none',
  handle: async ({ name }, { access }) => {
    await access.deletePlan(name);
    return { deleted: name };
  },
});

/** Methods of plans. */
export const adminPlanEndpoints: readonly AnyEndpoint<AdminContext>[] = [list, put, remove];
