/** Requests of a key on a network in a day. */
export interface UsageCounts {
  readonly allowed: number;
  /** Refused because of a limit. */
  readonly limited: number;
  /** The last allowed one, as `2025-01-31T12:00:00.000Z`; `null` when none was. */
  readonly last_used: string | null;
}

/** Counts by id of the key and by network. */
export type UsageByKey = ReadonlyMap<string, ReadonlyMap<string, UsageCounts>>;

/** What requests without a key are counted under. */
export const WITHOUT_KEY = 'anonymous';

/** Where usage is kept, by day (`2025-01-31`, UTC). Several processes may use one store at the same time. */
export interface UsageStore {
  /** Adds to what is there; returns what is there then. */
  add(day: string, more: UsageByKey): Promise<UsageByKey>;
  /** Empty when nothing is there. */
  read(day: string): Promise<UsageByKey>;
  /** The days of which something is there, the oldest first. */
  days(): Promise<readonly string[]>;
  /** Forgets the days before this one. */
  forgetBefore(day: string): Promise<void>;
}

/** The sum, key by key and network by network. */
export function addUsage(a: UsageByKey, b: UsageByKey): UsageByKey {
  const sum = new Map(a);
  for (const [key, networks] of b) {
    const all = new Map(sum.get(key));
    for (const [network, counts] of networks) all.set(network, addCounts(all.get(network), counts));
    sum.set(key, all);
  }
  return sum;
}

function addCounts(a: UsageCounts | undefined, b: UsageCounts): UsageCounts {
  if (a === undefined) return b;
  const last_used = (a.last_used ?? '') > (b.last_used ?? '') ? a.last_used : b.last_used;
  return { allowed: a.allowed + b.allowed, limited: a.limited + b.limited, last_used };
}
