import { accessErrors } from '#services/access/errors.js';

/** How much is allowed. */
export interface Limits {
  /** Requests per second, in the long run; `null` for any number. May be a fraction: 0.5 is one in two seconds. */
  readonly requests_per_second: number | null;
  /**
   * Requests that may come at once after a pause. In `t` seconds of overload `requests_per_second * t + burst` pass, so a
   * burst of one second's worth is 1.7 % of a minute.
   */
  readonly burst: number;
  /** Requests per day, from midnight to midnight UTC; `null` for any number. */
  readonly daily_quota: number | null;
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
export const ANONYMOUS = 'anonymous';

/** The burst of a plan that does not name one: one second's worth, at least one. */
export function defaultBurst(requestsPerSecond: number | null): number {
  return requestsPerSecond === null ? 1 : Math.max(1, Math.floor(requestsPerSecond));
}

function plan(name: string, requests_per_second: number | null): Plan {
  const burst = defaultBurst(requests_per_second);
  return { name, requests_per_second, burst, daily_quota: null, networks: null, group: null };
}

/** The plans that are there without a file: those that public services of TON have, and one without limit. */
export const BUILT_IN_PLANS: readonly Plan[] = [
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
export function rateInWords(requestsPerSecond: number): string {
  if (requestsPerSecond === 1) return '1 request per second';
  if (requestsPerSecond < 1 && Number.isInteger(1 / requestsPerSecond)) {
    return `1 request per ${1 / requestsPerSecond} seconds`;
  }
  return `${requestsPerSecond} requests per second`;
}

/** `100000 requests per day (UTC)` */
export function quotaInWords(dailyQuota: number): string {
  return `${dailyQuota} ${dailyQuota === 1 ? 'request' : 'requests'} per day (UTC)`;
}
