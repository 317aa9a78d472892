import type { Need } from '#drivers/lite/lite-source.js';
import type { LitePoolModules, PoolSettings } from '#drivers/lite/options.js';
import type { LiteServer } from '#drivers/lite/server.js';

/** A server keeps at least so many of its newest states and blocks. */
const ALWAYS_KEPT = 64;
/** A server that is so few blocks behind what is needed is made to wait for it. */
const SOON = 8;
/** The reference server refuses to wait for a block that is further ahead. */
const MAX_WAIT_AHEAD = 100;
/** Servers up to so many times as slow as the best one are as good. */
const AS_GOOD = 1.5;

/** What a server is chosen for. */
export interface ServerRequirement {
  readonly need: Need;
  /** Name of the function. */
  readonly fn: string;
  /** 0 for none. */
  readonly waitSeqno: number;
}

/** The state of all servers, as far as it matters for one. */
export interface PoolHead {
  readonly headSeqno: number;
  readonly maxLag: number;
}

/** How well a server fits; lower is better, and a higher one is asked only when there is none of a lower one. */
export const Tier = {
  fits: 0,
  /** It may have what is needed, or will have it soon. */
  perhaps: 1,
  lagging: 2,
  failing: 3,
  /** By what is known it does not have what is needed. */
  lacks: 4,
} as const;

export interface Candidate {
  readonly server: LiteServer;
  readonly tier: number;
}

/** How well a server fits; null when it cannot be asked. */
export function tierOf(server: LiteServer, wanted: ServerRequirement, { headSeqno, maxLag }: PoolHead): number | null {
  const state = server.health.state(headSeqno - server.seqno, maxLag);
  if (state === 'quarantined' || !server.health.isConnected || !server.health.hasHead) return null;
  if (server.unsupported.has(wanted.fn)) return null;
  if (wanted.waitSeqno > server.seqno + MAX_WAIT_AHEAD) return null;
  const has = hasRequired(server, wanted.need);
  if (has === 'no') return Tier.lacks;
  if (state === 'failing') return Tier.failing;
  if (state === 'lagging' && (wanted.need.kind === 'head' || wanted.waitSeqno > server.seqno)) return Tier.lagging;
  return has === 'yes' && wanted.waitSeqno <= server.seqno ? Tier.fits : Tier.perhaps;
}

/** The block that this server must be made to wait for before it can answer; 0 for none. */
export function waitFor(server: LiteServer, { need, waitSeqno }: ServerRequirement): number {
  if (waitSeqno > server.seqno) return waitSeqno;
  if (need.kind !== 'state' && need.kind !== 'block') return 0;
  return need.seqno > server.seqno && need.seqno <= server.seqno + SOON ? need.seqno : 0;
}

/** Whether the server has what is needed, as far as that is known. */
export function hasRequired(server: LiteServer, need: Need): 'yes' | 'no' | 'perhaps' {
  const inSlices = isInSlices(server, need);
  if (inSlices === 'no') return 'no';
  const has = hasByDepth(server, need);
  return inSlices === 'perhaps' && has === 'yes' ? 'perhaps' : has;
}

function hasByDepth({ depth, seqno }: LiteServer, need: Need): 'yes' | 'no' | 'perhaps' {
  switch (need.kind) {
    case 'head':
      return 'yes';
    case 'archive': {
      if (depth.isArchive) return 'yes';
      return depth.has('blocks', 1) === 'no' || depth.has('states', 1) === 'no' ? 'no' : 'perhaps';
    }
    default: {
      if (need.seqno > seqno) return need.seqno <= seqno + SOON ? 'perhaps' : 'no';
      if (need.seqno > seqno - ALWAYS_KEPT) return 'yes';
      return depth.has(need.kind === 'state' ? 'states' : 'blocks', need.seqno);
    }
  }
}

/** What its description says; perhaps, when it has that time, but not all shards. */
function isInSlices({ address, seqno }: LiteServer, need: Need): 'yes' | 'no' | 'perhaps' {
  if (address.slices === null) return 'yes';
  const wanted = need.kind === 'head' ? seqno : need.kind === 'archive' ? 1 : need.seqno;
  const slices = address.slices.filter(({ range }) => range.from <= wanted && wanted <= range.to);
  if (slices.length === 0) return 'no';
  const isWhole = slices.some(({ shards }) => shards.some((each) => each.workchain === 0 && each.shard === 2n ** 63n));
  return isWhole ? 'yes' : 'perhaps';
}

/** One of the servers that fit best: the faster it is, the likelier. Null when there is none. */
export function chooseServer(candidates: readonly Candidate[], random: () => number): LiteServer | null {
  let tier = Number.POSITIVE_INFINITY;
  for (const each of candidates) tier = Math.min(tier, each.tier);
  let best = Number.POSITIVE_INFINITY;
  const good: { server: LiteServer; ms: number }[] = [];
  for (const { server, tier: own } of candidates) {
    if (own !== tier) continue;
    const ms = server.expectedMs;
    best = Math.min(best, ms);
    good.push({ server, ms });
  }
  let total = 0;
  // A millisecond more or less is no reason to prefer a server.
  const limit = best * AS_GOOD + 1;
  for (const { ms } of good) if (ms <= limit) total += 1 / (ms + 1);
  let left = random() * total;
  let chosen: LiteServer | null = null;
  for (const { server, ms } of good) {
    if (ms > limit) continue;
    chosen = server;
    left -= 1 / (ms + 1);
    if (left < 0) break;
  }
  return chosen;
}

/** What the requests of a pool have in common. */
export interface PoolContext {
  readonly servers: readonly LiteServer[];
  readonly settings: PoolSettings;
  readonly modules: LitePoolModules;
  readonly hedges: HedgeBudget;
  /** What lag is measured by. */
  readonly referenceSeqno: number;
  readonly isClosed: boolean;
  /** Called whenever a server is of more or of less use than before, and when the pool is closed. */
  readonly watchers: Set<() => void>;
}

/** Keeps second requests below a share of all requests: each request earns a part of one. */
export class HedgeBudget {
  readonly #share: number;
  readonly #burst: number;
  #saved: number;
  #spent = 0;

  constructor(share: number, burst: number) {
    this.#share = share;
    this.#burst = share === 0 ? 0 : burst;
    this.#saved = this.#burst;
  }

  /** How many have been sent. */
  get spent(): number {
    return this.#spent;
  }

  earn(): void {
    this.#saved = Math.min(this.#burst, this.#saved + this.#share);
  }

  /**
   * Takes one if there is one. Half of what can be saved is for requests that are long overdue, so that those which are only
   * a little slow leave something for the moment at which a server falls silent.
   */
  take(isOverdue: boolean): boolean {
    if (this.#saved < (isOverdue ? 1 : Math.floor(this.#burst / 2) + 1)) return false;
    this.#saved--;
    this.#spent++;
    return true;
  }
}
