import type { Logger } from '#kernel/logger.js';
import {
  type Access,
  type AccessDecision,
  type AccessRequest,
  addressBlock,
  type KeyClient,
  type PlanMetrics,
  type RateState,
  type WorkBudget,
  type WorkDecision,
} from '#services/access/access.js';
import { KeyIndex, type KeyRecord, looksLikeApiKey } from '#services/access/keys.js';
import type { LimitDecision, Limiter } from '#services/access/limits.js';
import { type Limits, limitsOn, type Plan, type Plans, quotaText, rateText, workText } from '#services/access/plans.js';
import { TwoGenerationMap } from '#services/access/two-generation-map.js';
import { type UsageRecorder, WITHOUT_KEY } from '#services/access/usage.js';

export interface KeyedAccessModules {
  readonly plans: Plans;
  readonly limiter: Limiter;
  readonly usage: Pick<UsageRecorder, 'count' | 'addWork'>;
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
  readonly #toldAt = new TwoGenerationMap<number>(MOST_TOLD);
  #plans: Plans;
  /** Null: they could not be read yet. */
  #keys: KeyIndex | null = null;
  #look: (() => Promise<void>) | null = null;
  /** Requests with a key that is unknown, revoked or expired. */
  unknownKeys = 0;
  /** Requests with a key that is not for the network. */
  networksRefused = 0;

  constructor(modules: KeyedAccessModules) {
    this.#modules = modules;
    this.#plans = modules.plans;
  }

  /** @param look looks whether there are other keys; called before a key is refused as unknown */
  lookBeforeRefusing(look: () => Promise<void>): void {
    this.#look = look;
  }

  /** The plans in force. */
  get plans(): Plans {
    return this.#plans;
  }

  /** Replaces the keys, and the plans that are stored with them. */
  setKeys(keys: readonly KeyRecord[], plans: readonly Plan[] = []): void {
    this.#keys = new KeyIndex(keys);
    this.#plans = this.#modules.plans.with(plans);
    for (const { id, plan, revoked_at } of keys) {
      if (revoked_at !== null || this.#plans.find(plan) !== null) continue;
      this.#modules.logger.warn('a key has an unknown plan; it has the limits of requests without a key', {
        id,
        plan,
      });
    }
  }

  /** Keys that are not revoked. */
  get activeKeys(): number {
    return this.#keys?.active ?? 0;
  }

  get planMetrics(): readonly PlanMetrics[] {
    return this.#counts.metrics();
  }

  /** The subject that a key is counted by on a network; `null` for an unknown key. */
  subjectOf(keyId: string, network: string): string | null {
    const record = this.#keys?.byId(keyId) ?? null;
    return record === null ? null : subjectOf(record, network);
  }

  isValidKey(id: string): boolean {
    return this.#keys?.isValid(id, this.#modules.unixTimeMs()) ?? true;
  }

  clientOfKey(secret: string, network: string): KeyClient | null {
    const key = this.#keys?.bySecret(secret, this.#modules.unixTimeMs()) ?? null;
    if (key === null) return null;
    const plan = this.#plans.find(key.plan) ?? this.#plans.anonymous;
    return { client: subjectOf(key, network), weight: weightOf(limitsOn(plan, network)?.work_per_second ?? null) };
  }

  /** Returns synchronously unless the limiter has to query Redis, or the store has to be asked about an unknown key. */
  check(question: AccessRequest): AccessDecision | Promise<AccessDecision> {
    const asker = this.#askerOf(question);
    const isUnknown = 'kind' in asker && asker.kind === 'unknown-key';
    const { waitedMs = 0 } = question;
    if (!isUnknown || this.#look === null || !looksLikeApiKey(question.key!)) return this.#decide(asker, waitedMs);
    // It may have been created a moment ago, by another process.
    return this.#look().then(() => this.#decide(this.#askerOf(question), waitedMs));
  }

  #decide(asker: Requester | AccessDecision, waitedMs: number): AccessDecision | Promise<AccessDecision> {
    if ('kind' in asker) {
      if (asker.kind === 'unknown-key') this.unknownKeys++;
      if (asker.kind === 'network-not-allowed') this.networksRefused++;
      return asker;
    }
    const { subject, limits, key } = asker;
    const answer = this.#modules.limiter.take({ subject, isAddress: key === null, limits, waitedMs });
    return answer instanceof Promise ? answer.then((each) => this.#settle(asker, each)) : this.#settle(asker, answer);
  }

  #askerOf({ key: secret, clientAddress, network }: AccessRequest): Requester | AccessDecision {
    const { unixTimeMs } = this.#modules;
    const plans = this.#plans;
    // Some clients send an empty `?api_key=` when they have none.
    const withoutKey = secret === null || secret === '';
    if (!withoutKey && this.#keys === null) return { kind: 'keys-unavailable' };
    const key = withoutKey ? null : this.#keys!.bySecret(secret, unixTimeMs());
    if (key === null && !withoutKey) return { kind: 'unknown-key' };
    const plan = (key === null ? null : plans.find(key.plan)) ?? plans.anonymous;
    const isForNetwork = key === null || key.networks === null || key.networks.includes(network);
    const limits = isForNetwork ? limitsOn(plan, network) : null;
    if (limits === null) return { kind: 'network-not-allowed' };
    const subject = key === null ? `address ${addressBlock(clientAddress)} ${network}` : subjectOf(key, network);
    return { plan, limits, network, key, subject };
  }

  #settle(asker: Requester, answer: LimitDecision): AccessDecision {
    const { plan, limits, network, key, subject } = asker;
    this.#modules.usage.count(key?.id ?? WITHOUT_KEY, network, answer.passed ? 'allowed' : 'limited');
    if (answer.passed) {
      this.#counts.count(plan.name, network, 'allowed');
      const work = this.#budgetOf(asker);
      const { rate } = answer;
      return {
        ...{ kind: 'allowed', plan: plan.name, key: key?.id ?? null, group: plan.group, client: subject, work },
        streams: limits,
        ...(key?.admin === true ? { isAdmin: true } : {}),
        ...(rate === undefined ? {} : { rate }),
      };
    }
    this.#counts.count(plan.name, network, OUTCOME_OF[answer.by]);
    const again = (): void => {
      this.#modules.usage.count(key?.id ?? WITHOUT_KEY, network, 'limited');
      this.#counts.count(plan.name, network, OUTCOME_OF[answer.by]);
    };
    const retryAfterMs = Math.ceil(answer.waitMs);
    const rate = exhausted(answer, limits);
    return { kind: 'limited', retryAfterMs, limit: limitText(answer.by, limits, key), rate, again };
  }

  /** Logs who has used up a budget of work, each client once a minute. */
  #tell({ plan, network, subject }: Requester, limit: string): void {
    const { unixTimeMs, logger } = this.#modules;
    const now = unixTimeMs();
    if (now - (this.#toldAt.get(subject) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
    this.#toldAt.set(subject, now);
    logger.warn('a client has used up its budget of work', { client: subject, plan: plan.name, network, limit });
  }

  #budgetOf(asker: Requester): WorkBudget {
    const { plan, limits, network, key, subject } = asker;
    const { limiter, usage } = this.#modules;
    const question = { subject, isAddress: key === null, limits };
    const decide = (answer: LimitDecision, units: number): WorkDecision => {
      if (answer.passed) return WORK_ALLOWED;
      if (units > 0) {
        this.#counts.count(plan.name, network, 'limited_by_work');
        usage.count(key?.id ?? WITHOUT_KEY, network, 'limited');
      }
      const limit = limitText('work', limits, key);
      this.#tell(asker, limit);
      return { kind: 'limited', retryAfterMs: Math.ceil(answer.waitMs), limit };
    };
    return {
      take: (units) => {
        const answer = limiter.takeWork(question, units);
        return answer instanceof Promise ? answer.then((later) => decide(later, units)) : decide(answer, units);
      },
      settle: (taken, done) => {
        limiter.settleWork(question, done - taken);
        this.#counts.count(plan.name, network, 'work', done);
        usage.addWork(key?.id ?? WITHOUT_KEY, network, done);
      },
    };
  }
}

/** The state of a limit of which nothing is left. */
function exhausted({ by, waitMs }: LimitDecision & { readonly passed: false }, limits: Limits): RateState {
  const { requests_per_second, burst, daily_quota } = limits;
  if (by === 'quota') return { limit: daily_quota ?? 0, remaining: 0, resetMs: waitMs, windowMs: 86_400_000 };
  const windowMs = (burst / (requests_per_second ?? 1)) * 1000;
  return { limit: burst, remaining: 0, resetMs: windowMs, windowMs };
}

const WORK_ALLOWED: WorkDecision = { kind: 'allowed' };

/** How often the log says that a client has used up its budget of work. */
const TOLD_EVERY_MS = 60_000;

/** Clients of which it is remembered when the log said so. */
const MOST_TOLD = 10_000;

/** Keys of one owner on one plan are counted together. */
/** Work per second of a plan whose clients have weight 1: that of the built-in plan `free`. */
const WORK_OF_WEIGHT_1 = 200;
const LEAST_WEIGHT = 0.1;
/** Also of plans without a limit. */
const MOST_WEIGHT = 20;

/** Whoever may do more gets more when there is not enough for all. */
function weightOf(workPerSecond: number | null): number {
  if (workPerSecond === null) return MOST_WEIGHT;
  return Math.min(MOST_WEIGHT, Math.max(LEAST_WEIGHT, workPerSecond / WORK_OF_WEIGHT_1));
}

function subjectOf({ id, owner, plan }: KeyRecord, network: string): string {
  return owner === null ? `key ${id} ${network}` : `owner ${owner}/${plan} ${network}`;
}

function limitText(by: LimitKind, limits: Limits, key: KeyRecord | null): string {
  const words = LIMIT_TEXTS[by](limits);
  return key === null ? `${words} without an API key` : words;
}

type LimitKind = (LimitDecision & { readonly passed: false })['by'];

const LIMIT_TEXTS: Readonly<Record<LimitKind, (limits: Limits) => string>> = {
  rate: ({ requests_per_second }) => rateText(requests_per_second ?? 0),
  quota: ({ daily_quota }) => quotaText(daily_quota ?? 0),
  work: ({ work_per_second }) => workText(work_per_second ?? 0),
};

/** What is counted of a plan. */
type PlanOutcome = Exclude<keyof PlanMetrics, 'plan' | 'network'>;

const OUTCOME_OF: Readonly<Record<LimitKind, PlanOutcome>> = {
  rate: 'limited_by_rate',
  quota: 'limited_by_quota',
  work: 'limited_by_work',
};

type Counts = { -readonly [Name in keyof PlanMetrics]: PlanMetrics[Name] };

/** Counts by plan and network. */
class PlanCounts {
  readonly #counts = new Map<string, Map<string, Counts>>();

  count(plan: string, network: string, outcome: PlanOutcome, more = 1): void {
    let networks = this.#counts.get(plan);
    if (networks === undefined) {
      networks = new Map();
      this.#counts.set(plan, networks);
    }
    let counts = networks.get(network);
    if (counts === undefined) {
      counts = { plan, network, allowed: 0, limited_by_rate: 0, limited_by_quota: 0, limited_by_work: 0, work: 0 };
      networks.set(network, counts);
    }
    counts[outcome] += more;
  }

  metrics(): readonly PlanMetrics[] {
    return [...this.#counts.values()].flatMap((networks) => [...networks.values()].map((counts) => ({ ...counts })));
  }
}
