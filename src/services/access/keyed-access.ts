import type { Logger } from '#kernel/observe/logger.js';
import type { Access, AccessAnswer, AccessQuestion } from '#services/access/access.js';
import { addressBlock } from '#services/access/client-address.js';
import { KeyIndex } from '#services/access/key-index.js';
import type { KeyRecord } from '#services/access/key-record.js';
import type { LimitAnswer, Limiter } from '#services/access/limiter.js';
import type { PlanMetrics } from '#services/access/metrics.js';
import { PlanCounts } from '#services/access/plan-counts.js';
import { type Limits, limitsOn, type Plan, type Plans, quotaInWords, rateInWords } from '#services/access/plans.js';
import { WITHOUT_KEY } from '#services/access/usage.js';
import type { UsageRecorder } from '#services/access/usage-recorder.js';

export interface KeyedAccessModules {
  readonly plans: Plans;
  readonly limiter: Limiter;
  readonly usage: Pick<UsageRecorder, 'count'>;
  readonly unixTimeMs: () => number;
  readonly logger: Logger;
}

/** A request whose plan is known. */
interface Asker {
  readonly plan: Plan;
  readonly limits: Limits;
  readonly network: string;
  /** `null` without a key. */
  readonly key: KeyRecord | null;
  readonly subject: string;
}

/** Mode `keys`: a key opens what its plan says; without one a client address has the plan `anonymous`. */
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

  /** The keys from now on. */
  setKeys(keys: readonly KeyRecord[]): void {
    this.#keys = new KeyIndex(keys);
    for (const { id, plan, revoked_at } of keys) {
      if (revoked_at !== null || this.#modules.plans.find(plan) !== null) continue;
      this.#modules.logger.warn('a key has a plan that is not there; it has the limits of requests without a key', {
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

  /** By whom a key is counted on a network; `null` when there is no such key. */
  subjectOf(keyId: string, network: string): string | null {
    const record = this.#keys.byId(keyId);
    return record === null ? null : subjectOf(record, network);
  }

  /** Answers at once unless the limiter has to ask somebody. */
  ask(question: AccessQuestion): AccessAnswer | Promise<AccessAnswer> {
    const asker = this.#askerOf(question);
    if ('kind' in asker) return asker;
    const { subject, limits, key } = asker;
    const answer = this.#modules.limiter.take({ subject, isAddress: key === null, limits });
    return answer instanceof Promise ? answer.then((each) => this.#settle(asker, each)) : this.#settle(asker, answer);
  }

  #askerOf({ key: secret, clientAddress, network }: AccessQuestion): Asker | AccessAnswer {
    const { plans, unixTimeMs } = this.#modules;
    // `?api_key=` with nothing behind it is how some clients say that they have none.
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

  #settle({ plan, limits, network, key }: Asker, answer: LimitAnswer): AccessAnswer {
    this.#modules.usage.count(key?.id ?? WITHOUT_KEY, network, answer.passed ? 'allowed' : 'limited');
    if (answer.passed) {
      this.#counts.count(plan.name, network, 'allowed');
      return { kind: 'allowed', plan: plan.name, key: key?.id ?? null, group: plan.group };
    }
    this.#counts.count(plan.name, network, answer.by === 'rate' ? 'limited_by_rate' : 'limited_by_quota');
    return { kind: 'limited', retryAfterMs: Math.ceil(answer.waitMs), limit: limitInWords(answer.by, limits, key) };
  }
}

/** Keys of one owner on one plan are counted together. */
function subjectOf({ id, owner, plan }: KeyRecord, network: string): string {
  return owner === null ? `key ${id} ${network}` : `owner ${owner}/${plan} ${network}`;
}

function limitInWords(by: 'rate' | 'quota', limits: Limits, key: KeyRecord | null): string {
  const words = by === 'rate' ? rateInWords(limits.requests_per_second ?? 0) : quotaInWords(limits.daily_quota ?? 0);
  return key === null ? `${words} without an API key` : words;
}
