import { statSync } from 'node:fs';
import { readRegularFile } from '#kernel/files.js';
import type { StreamLimits } from '#services/access/access.js';
import { accessErrors } from '#services/access/errors.js';
import { ConfigField, NAME, NAME_DESCRIPTION } from '#services/access/json-field.js';

/** How much is allowed. */
export interface Limits extends Partial<StreamLimits> {
  /** Requests per second, in the long run; `null` for any number. May be a fraction: 0.5 is one in two seconds. */
  readonly requests_per_second: number | null;
  /**
   * Requests that may come at once after a pause. In `t` seconds of overload `requests_per_second * t + burst` pass, so a
   * burst of one second's worth is 1.7 % of a minute.
   */
  readonly burst: number;
  /** Requests per day, from midnight to midnight UTC; `null` for any number. */
  readonly daily_quota: number | null;
  /** Work per second, in the long run, in work units: 1 unit is about 1 ms of CPU time. `null` for any amount. */
  readonly work_per_second: number | null;
  /** Work that may be done at once after a pause. A call that costs more may be made when all of it is left. */
  readonly work_burst: number;
}

/** What a key may do. Limits are counted for each network on its own. */
export interface Plan extends Limits {
  readonly name: string;
  /** The networks it is for, each with its limits; `null` for all networks, with the limits above. */
  readonly networks: ReadonlyMap<string, Limits> | null;
  /** The private liteserver group that it opens. */
  readonly group: string | null;
}

/** The plan of requests without a key: counted for each client address. */
const ANONYMOUS = 'anonymous';

/** The burst of a plan that does not name one: one second's worth, at least one. */
export function defaultBurst(requestsPerSecond: number | null): number {
  return requestsPerSecond === null ? 1 : Math.max(1, Math.floor(requestsPerSecond));
}

/** What the average request of a plan may cost that does not name its budget of work, in work units. */
const WORK_PER_REQUEST = 20;

/** Enough for a list of some hundred rows. */
const LEAST_WORK_BURST = 200;

const WORK_BURST_SECONDS = 10;

/** The budget of a plan that does not name one. */
function defaultWork(requestsPerSecond: number | null): number | null {
  return requestsPerSecond === null ? null : requestsPerSecond * WORK_PER_REQUEST;
}

/** The work at once of a plan that does not name it: that of ten seconds. */
function defaultWorkBurst(workPerSecond: number | null): number {
  return Math.max(LEAST_WORK_BURST, (workPerSecond ?? 0) * WORK_BURST_SECONDS);
}

const SERVER_STREAMS: StreamLimits = { stream_connections: null, stream_addresses: null };

function plan(name: string, requests_per_second: number | null): Plan {
  const burst = defaultBurst(requests_per_second);
  const work_per_second = defaultWork(requests_per_second);
  const work_burst = defaultWorkBurst(work_per_second);
  const limits = { requests_per_second, burst, daily_quota: null, work_per_second, work_burst };
  return { name, ...limits, ...SERVER_STREAMS, networks: null, group: null };
}

/** The plans that are there without a file: those that public services of TON have, and one without limit. */
const BUILT_IN_PLANS: readonly Plan[] = [
  plan(ANONYMOUS, 1),
  plan('free', 10),
  plan('plus', 25),
  plan('advanced', 100),
  plan('unlimited', null),
];

/** Plans by name. */
export class Plans {
  readonly #plans = new Map<string, Plan>();

  /** @param more plans beside those built in; one with the same name takes the place of the other */
  constructor(more: readonly Plan[] = []) {
    for (const each of [...BUILT_IN_PLANS, ...more]) this.#plans.set(each.name, each);
  }

  /** With more plans; one with the same name takes the place of the other. */
  with(more: readonly Plan[]): Plans {
    return more.length === 0 ? this : new Plans([...this.#plans.values(), ...more]);
  }

  /** All plans, that of requests without a key included. */
  get all(): readonly Plan[] {
    return [...this.#plans.values()];
  }

  find(name: string): Plan | null {
    return this.#plans.get(name) ?? null;
  }

  /** The plan of requests without a key. */
  get anonymous(): Plan {
    return this.#plans.get(ANONYMOUS)!;
  }

  /** A plan for a key: not the one of requests without a key. @throws access/no-such-plan */
  forKey(name: string): Plan {
    const found = name === ANONYMOUS ? null : this.find(name);
    if (found !== null) return found;
    const known = this.names.filter((each) => each !== ANONYMOUS).join(', ');
    throw accessErrors['no-such-plan']({ plan: name, known });
  }

  get names(): string[] {
    return [...this.#plans.keys()];
  }
}

/** The limits of a plan on a network; `null` when it is not for that network. */
export function limitsOn(plan: Plan, network: string): Limits | null {
  return plan.networks === null ? plan : (plan.networks.get(network) ?? null);
}

/** `10 requests per second`, `1 request per 2 seconds` */
export function rateText(requestsPerSecond: number): string {
  if (requestsPerSecond === 1) return '1 request per second';
  if (requestsPerSecond < 1 && Number.isInteger(1 / requestsPerSecond)) {
    return `1 request per ${1 / requestsPerSecond} seconds`;
  }
  return `${requestsPerSecond} requests per second`;
}

/** `100000 requests per day (UTC)` */
export function quotaText(dailyQuota: number): string {
  return `${dailyQuota} ${dailyQuota === 1 ? 'request' : 'requests'} per day (UTC)`;
}

/** `200 work units per second` */
export function workText(workPerSecond: number): string {
  return `${workPerSecond} work ${workPerSecond === 1 ? 'unit' : 'units'} per second`;
}

const MAX_BYTES = 2 ** 20;
const MAX_RATE = 1_000_000;
const MIN_RATE = 0.001;

/**
 * Reads a file of plans: `{"plans": [{"name": "team", "requests_per_second": 50, "burst": 100, "daily_quota": 1000000,
 * "networks": {"mainnet": {}, "testnet": {"requests_per_second": 5}}, "group": "own-servers"}]}`. Only `name` and
 * `requests_per_second` must be there, `work_per_second`, `work_burst`, `stream_connections` and `stream_addresses` may be; `networks` may be a list of names.
 *
 * @throws access/file, access/field
 */
export function readPlanFile(file: string): Plans {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES)
      throw accessErrors.file({ file, problem: `it has ${size} bytes; at most ${MAX_BYTES} are read` });
    text = readRegularFile(file).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw accessErrors.file({ file, problem: `it cannot be read: ${(error as Error).message}` }, error);
  }
  return parsePlans(file, text);
}

/** @throws access/file, access/field */
export function parsePlans(file: string, text: string): Plans {
  const { plans } = ConfigField.parse(file, text).members('plans');
  const names = new Set<string>();
  return new Plans(plans.items().map((field) => readPlan(field, names)));
}

const STREAM_FIELDS = ['stream_connections', 'stream_addresses'] as const;
const LIMIT_FIELDS = [
  'requests_per_second',
  'burst',
  'daily_quota',
  'work_per_second',
  'work_burst',
  ...STREAM_FIELDS,
] as const;
const PLAN_FIELDS = [...LIMIT_FIELDS, 'networks', 'group'] as const;

type LimitFields = Record<(typeof LIMIT_FIELDS)[number], ConfigField>;

/** Reads one stored plan. @throws access/field */
export function readStoredPlan(field: ConfigField): Plan {
  return readPlan(field, new Set());
}

/** @param names those of the plans before it */
function readPlan(field: ConfigField, names: Set<string>): Plan {
  const fields = field.members('name', ...PLAN_FIELDS);
  const name = fields.name.text(NAME, NAME_DESCRIPTION);
  if (names.has(name)) fields.name.refuse('a name that no plan before it has');
  names.add(name);
  if (fields.requests_per_second.value === undefined) readRate(fields.requests_per_second);
  const limits = readLimits(fields, null);
  const networks = fields.networks.optional((list) => readNetworks(list, { limits, fields }));
  const group = fields.group.optional((text) => text.text(NAME, NAME_DESCRIPTION));
  if (name === ANONYMOUS) refuseQuotaWithoutKey(fields.daily_quota, limits, networks);
  return { name, ...limits, networks, group };
}

/** Limits with the fields they were read from. */
interface OuterLimits {
  readonly limits: Limits;
  readonly fields: LimitFields;
}

/** @param outer the limits of the plan, for what a network does not say itself */
function readLimits(fields: LimitFields, outer: OuterLimits | null): Limits {
  const { requests_per_second: rate, burst, daily_quota: quota } = fields;
  const inheritsRate = rate.value === undefined && outer !== null;
  const requests_per_second = inheritsRate ? outer.limits.requests_per_second : rate.optional(readRate);
  return {
    requests_per_second,
    burst:
      burst.optional((each) => each.integer(1, MAX_RATE)) ??
      (inheritsRate ? outer.limits.burst : defaultBurst(requests_per_second)),
    daily_quota:
      quota.value === undefined && outer !== null
        ? outer.limits.daily_quota
        : quota.optional((each) => each.integer(1, Number.MAX_SAFE_INTEGER)),
    ...readWork(fields, outer, requests_per_second),
    ...readStreams(fields, outer),
  };
}

/** A network has the limits that its plan names. */
function readStreams(fields: LimitFields, outer: OuterLimits | null): StreamLimits {
  const read = (name: (typeof STREAM_FIELDS)[number]) =>
    fields[name].value === undefined && outer !== null
      ? (outer.limits[name] ?? null)
      : fields[name].optional((each) => each.integer(0, MAX_RATE));
  return { stream_connections: read('stream_connections'), stream_addresses: read('stream_addresses') };
}

/** A network has the budget that its plan names; when neither names one, it follows from the requests per second. */
function readWork(fields: LimitFields, outer: OuterLimits | null, requestsPerSecond: number | null) {
  const isOwn = fields.work_per_second.value !== undefined;
  const rate = isOwn || outer === null ? fields.work_per_second : outer.fields.work_per_second;
  const work_per_second = rate.value === undefined ? defaultWork(requestsPerSecond) : rate.optional(readWorkRate);
  const burst = isOwn || outer === null || fields.work_burst.value !== undefined ? fields : outer.fields;
  const work_burst =
    burst.work_burst.optional((each) => each.integer(1, MAX_RATE)) ?? defaultWorkBurst(work_per_second);
  return { work_per_second, work_burst };
}

function readRate(field: ConfigField): number {
  const { value } = field;
  if (typeof value === 'number' && value >= MIN_RATE && value <= MAX_RATE) return value;
  return field.refuse(`a number from ${MIN_RATE} to ${MAX_RATE}, or null for no limit`);
}

function readWorkRate(field: ConfigField): number {
  const { value } = field;
  if (typeof value === 'number' && value >= MIN_RATE && value <= MAX_RATE) return value;
  return field.refuse(`a number of work units from ${MIN_RATE} to ${MAX_RATE}, or null for no limit`);
}

function readNetworks(field: ConfigField, outer: OuterLimits): ReadonlyMap<string, Limits> {
  const networks = new Map<string, Limits>();
  if (Array.isArray(field.value)) {
    for (const item of field.items()) networks.set(item.text(NAME, NAME_DESCRIPTION), outer.limits);
  } else {
    for (const [name, network] of field.entries()) {
      if (!NAME.test(name)) network.refuse(`a network named by ${NAME_DESCRIPTION}`);
      networks.set(name, readLimits(network.members(...LIMIT_FIELDS), outer));
    }
  }
  if (networks.size === 0) field.refuse('at least one network, or null for all');
  return networks;
}

/** It would need memory for each address of a day. */
function refuseQuotaWithoutKey(field: ConfigField, limits: Limits, networks: ReadonlyMap<string, Limits> | null): void {
  const all = [limits, ...(networks?.values() ?? [])];
  if (all.some(({ daily_quota }) => daily_quota !== null)) {
    field.refuse(`null for the plan "${ANONYMOUS}": addresses are not counted by the day`);
  }
}
