import { readFileSync, statSync } from 'node:fs';
import { accessErrors } from '#services/access/errors.js';
import { JsonField } from '#services/access/json-field.js';
import { NAME, NAME_IN_WORDS } from '#services/access/names.js';
import { ANONYMOUS, defaultBurst, type Limits, type Plan, Plans } from '#services/access/plans.js';

const MAX_BYTES = 2 ** 20;
const MAX_RATE = 1_000_000;
const MIN_RATE = 0.001;

/**
 * Reads a file of plans: `{"plans": [{"name": "team", "requests_per_second": 50, "burst": 100, "daily_quota": 1000000,
 * "networks": {"mainnet": {}, "testnet": {"requests_per_second": 5}}, "group": "own-servers"}]}`. Only `name` and
 * `requests_per_second` must be there; `networks` may be a list of names.
 *
 * @throws access/file, access/field
 */
export function readPlanFile(file: string): Plans {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES)
      throw accessErrors.file({ file, problem: `it has ${size} bytes; at most ${MAX_BYTES} are read` });
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw accessErrors.file({ file, problem: `it cannot be read: ${(error as Error).message}` }, error);
  }
  return parsePlans(file, text);
}

/** @throws access/file, access/field */
export function parsePlans(file: string, text: string): Plans {
  const { plans } = JsonField.parse(file, text).members('plans');
  const names = new Set<string>();
  return new Plans(plans.items().map((field) => readPlan(field, names)));
}

const LIMIT_FIELDS = ['requests_per_second', 'burst', 'daily_quota'] as const;
const PLAN_FIELDS = [...LIMIT_FIELDS, 'networks', 'group'] as const;

type LimitFields = Record<(typeof LIMIT_FIELDS)[number], JsonField>;

/** @param names those of the plans before it */
function readPlan(field: JsonField, names: Set<string>): Plan {
  const fields = field.members('name', ...PLAN_FIELDS);
  const name = fields.name.text(NAME, NAME_IN_WORDS);
  if (names.has(name)) fields.name.refuse('a name that no plan before it has');
  names.add(name);
  if (fields.requests_per_second.value === undefined) readRate(fields.requests_per_second);
  const limits = readLimits(fields, null);
  const networks = fields.networks.optional((list) => readNetworks(list, limits));
  const group = fields.group.optional((text) => text.text(NAME, NAME_IN_WORDS));
  if (name === ANONYMOUS) refuseQuotaWithoutKey(fields.daily_quota, limits, networks);
  return { name, ...limits, networks, group };
}

/** @param outer the limits of the plan, for what a network does not say itself */
function readLimits(fields: LimitFields, outer: Limits | null): Limits {
  const { requests_per_second: rate, burst, daily_quota: quota } = fields;
  const requests_per_second =
    rate.value === undefined && outer !== null ? outer.requests_per_second : rate.optional(readRate);
  const inherited = rate.value === undefined && outer !== null ? outer.burst : defaultBurst(requests_per_second);
  return {
    requests_per_second,
    burst: burst.optional((each) => each.integer(1, MAX_RATE)) ?? inherited,
    daily_quota:
      quota.value === undefined && outer !== null
        ? outer.daily_quota
        : quota.optional((each) => each.integer(1, Number.MAX_SAFE_INTEGER)),
  };
}

function readRate(field: JsonField): number {
  const { value } = field;
  if (typeof value === 'number' && value >= MIN_RATE && value <= MAX_RATE) return value;
  return field.refuse(`a number from ${MIN_RATE} to ${MAX_RATE}, or null for no limit`);
}

function readNetworks(field: JsonField, outer: Limits): ReadonlyMap<string, Limits> {
  const networks = new Map<string, Limits>();
  if (Array.isArray(field.value)) {
    for (const item of field.items()) networks.set(item.text(NAME, NAME_IN_WORDS), outer);
  } else {
    for (const [name, network] of field.entries()) {
      if (!NAME.test(name)) network.refuse(`a network named by ${NAME_IN_WORDS}`);
      networks.set(name, readLimits(network.members(...LIMIT_FIELDS), outer));
    }
  }
  if (networks.size === 0) field.refuse('at least one network, or null for all');
  return networks;
}

/** It would need memory for each address of a day. */
function refuseQuotaWithoutKey(field: JsonField, limits: Limits, networks: ReadonlyMap<string, Limits> | null): void {
  const all = [limits, ...(networks?.values() ?? [])];
  if (all.some(({ daily_quota }) => daily_quota !== null)) {
    field.refuse(`null for the plan "${ANONYMOUS}": addresses are not counted by the day`);
  }
}
