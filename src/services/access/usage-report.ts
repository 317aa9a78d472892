import { dayOf } from '#services/access/daily-quota.js';
import type { UsageByKey, UsageCounts, UsageStore } from '#services/access/usage.js';

const DAY_MS = 86_400_000;

/** Usage of one day, one key, one network. */
export interface UsageRow extends UsageCounts {
  /** `2025-01-31`, UTC. */
  readonly day: string;
  /** The id of the key, or `anonymous`. */
  readonly key: string;
  readonly network: string;
}

/** The usage of the last days, today included: the newest day first, then by key and network. */
export async function usageReport(store: UsageStore, days: number, unixTimeMs: number): Promise<readonly UsageRow[]> {
  const oldest = dayOf(unixTimeMs - (days - 1) * DAY_MS);
  const rows: UsageRow[] = [];
  for (const day of [...(await store.days())].reverse()) {
    if (day >= oldest) rows.push(...rowsOf(day, await store.read(day)));
  }
  return rows;
}

/** When each key was last used, as far as the report goes back. */
export function lastUses(rows: readonly UsageRow[]): ReadonlyMap<string, string> {
  const last = new Map<string, string>();
  for (const { key, last_used } of rows) {
    if (last_used !== null && last_used > (last.get(key) ?? '')) last.set(key, last_used);
  }
  return last;
}

function rowsOf(day: string, usage: UsageByKey): UsageRow[] {
  return [...usage]
    .flatMap(([key, networks]) => [...networks].map(([network, counts]) => ({ day, key, network, ...counts })))
    .sort((a, b) => (a.key === b.key ? compare(a.network, b.network) : compare(a.key, b.key)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
