import { isIPv4, isIPv6 } from 'node:net';
import type { Logger } from '#kernel/logger.js';
import type { Access, AccessDecision, AccessRequest, PlanMetrics } from '#services/access/access.js';
import { KeyIndex, type KeyRecord } from '#services/access/keys.js';
import type { LimitDecision, Limiter } from '#services/access/limits.js';
import { type Limits, limitsOn, type Plan, type Plans, quotaText, rateText } from '#services/access/plans.js';
import { type UsageRecorder, WITHOUT_KEY } from '#services/access/usage.js';

export interface KeyedAccessModules {
  readonly plans: Plans;
  readonly limiter: Limiter;
  readonly usage: Pick<UsageRecorder, 'count'>;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
}

/** A request with its plan. */
interface Requester {
  readonly plan: Plan;
  readonly limits: Limits;
  readonly network: string;
  /** `null` without a key. */
  readonly key: KeyRecord | null;
  readonly subject: string;
}

/** Mode `keys`: a key has the limits of its plan; requests without one have the plan `anonymous` by client address. */
export class KeyedAccess implements Access {
  readonly #modules: KeyedAccessModules;
  readonly #counts = new PlanCounts();
  #keys = new KeyIndex([]);
  /** Requests with a key that is unknown, revoked or expired. */
  unknownKeys = 0;
  /** Requests with a key that is not for the network. */
  networksRefused = 0;

  constructor(modules: KeyedAccessModules) {
    this.#modules = modules;
  }

  /** Replaces the keys. */
  setKeys(keys: readonly KeyRecord[]): void {
    this.#keys = new KeyIndex(keys);
    for (const { id, plan, revoked_at } of keys) {
      if (revoked_at !== null || this.#modules.plans.find(plan) !== null) continue;
      this.#modules.logger.warn('a key has an unknown plan; it has the limits of requests without a key', {
        id,
        plan,
      });
    }
  }

  /** Keys that are not revoked. */
  get activeKeys(): number {
    return this.#keys.active;
  }

  get planMetrics(): readonly PlanMetrics[] {
    return this.#counts.metrics();
  }

  /** The subject that a key is counted by on a network; `null` for an unknown key. */
  subjectOf(keyId: string, network: string): string | null {
    const record = this.#keys.byId(keyId);
    return record === null ? null : subjectOf(record, network);
  }

  /** Returns synchronously unless the limiter has to query Redis. */
  check(question: AccessRequest): AccessDecision | Promise<AccessDecision> {
    const asker = this.#askerOf(question);
    if ('kind' in asker) return asker;
    const { subject, limits, key } = asker;
    const answer = this.#modules.limiter.take({ subject, isAddress: key === null, limits });
    return answer instanceof Promise ? answer.then((each) => this.#settle(asker, each)) : this.#settle(asker, answer);
  }

  #askerOf({ key: secret, clientAddress, network }: AccessRequest): Requester | AccessDecision {
    const { plans, unixTimeMs } = this.#modules;
    // Some clients send an empty `?api_key=` when they have none.
    const withoutKey = secret === null || secret === '';
    const key = withoutKey ? null : this.#keys.bySecret(secret, unixTimeMs());
    if (key === null && !withoutKey) {
      this.unknownKeys++;
      return { kind: 'unknown-key' };
    }
    const plan = (key === null ? null : plans.find(key.plan)) ?? plans.anonymous;
    const isForNetwork = key === null || key.networks === null || key.networks.includes(network);
    const limits = isForNetwork ? limitsOn(plan, network) : null;
    if (limits === null) {
      this.networksRefused++;
      return { kind: 'network-not-allowed' };
    }
    const subject = key === null ? `address ${addressBlock(clientAddress)} ${network}` : subjectOf(key, network);
    return { plan, limits, network, key, subject };
  }

  #settle({ plan, limits, network, key }: Requester, answer: LimitDecision): AccessDecision {
    this.#modules.usage.count(key?.id ?? WITHOUT_KEY, network, answer.passed ? 'allowed' : 'limited');
    if (answer.passed) {
      this.#counts.count(plan.name, network, 'allowed');
      return { kind: 'allowed', plan: plan.name, key: key?.id ?? null, group: plan.group };
    }
    this.#counts.count(plan.name, network, answer.by === 'rate' ? 'limited_by_rate' : 'limited_by_quota');
    return { kind: 'limited', retryAfterMs: Math.ceil(answer.waitMs), limit: limitText(answer.by, limits, key) };
  }
}

/** Keys of one owner on one plan are counted together. */
function subjectOf({ id, owner, plan }: KeyRecord, network: string): string {
  return owner === null ? `key ${id} ${network}` : `owner ${owner}/${plan} ${network}`;
}

function limitText(by: 'rate' | 'quota', limits: Limits, key: KeyRecord | null): string {
  const words = by === 'rate' ? rateText(limits.requests_per_second ?? 0) : quotaText(limits.daily_quota ?? 0);
  return key === null ? `${words} without an API key` : words;
}

/** The outcome of a request with a plan. */
type PlanOutcome = 'allowed' | 'limited_by_rate' | 'limited_by_quota';

type Counts = { -readonly [Name in keyof PlanMetrics]: PlanMetrics[Name] };

/** Counts by plan and network. */
class PlanCounts {
  readonly #counts = new Map<string, Map<string, Counts>>();

  count(plan: string, network: string, outcome: PlanOutcome): void {
    let networks = this.#counts.get(plan);
    if (networks === undefined) {
      networks = new Map();
      this.#counts.set(plan, networks);
    }
    let counts = networks.get(network);
    if (counts === undefined) {
      counts = { plan, network, allowed: 0, limited_by_rate: 0, limited_by_quota: 0 };
      networks.set(network, counts);
    }
    counts[outcome]++;
  }

  metrics(): readonly PlanMetrics[] {
    return [...this.#counts.values()].flatMap((networks) => [...networks.values()].map((counts) => ({ ...counts })));
  }
}

/** The subject of all invalid addresses. */
const UNREADABLE = 'unreadable';

/**
 * What requests without a key are counted by: a whole IPv4 address; the first 64 bits of an IPv6 address, since a subscriber has
 * at least such a network; IPv4-mapped addresses (`::ffff:192.0.2.1`) count as IPv4.
 */
export function addressBlock(text: string): string {
  if (isIPv4(text)) return text;
  if (text.length > 64 || !isIPv6(text)) return UNREADABLE;
  const groups = groupsOf(text);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high, low] = [groups[6]!, groups[7]!];
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight numbers of a well-formed IPv6 address. */
function groupsOf(text: string): number[] {
  const zone = text.indexOf('%');
  const [before = '', after] = (zone < 0 ? text : text.slice(0, zone)).split('::');
  const front = halfOf(before);
  if (after === undefined) return front;
  const back = halfOf(after);
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function halfOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [(a! << 8) | b!, (c! << 8) | d!];
  });
}
