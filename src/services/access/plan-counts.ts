import type { PlanMetrics } from '#services/access/metrics.js';

/** What can become of a request that has a plan. */
export type PlanOutcome = 'allowed' | 'limited_by_rate' | 'limited_by_quota';

type Counts = { -readonly [Name in keyof PlanMetrics]: PlanMetrics[Name] };

/** Counts by plan and network. */
export class PlanCounts {
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
