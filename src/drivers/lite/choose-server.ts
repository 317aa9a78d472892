import type { Need } from '#drivers/lite/lite-source.js';
import type { LitePoolModules, PoolSettings } from '#drivers/lite/options.js';
import type { LiteServer } from '#drivers/lite/server.js';
import type { LinkedList } from '#kernel/linked-list.js';

/** A server has at least this number of newest states and blocks. */
export const ALWAYS_KEPT = 64;
/** A server at most this number of blocks behind the required block is queried with a wait. */
const SOON = 8;
/** The reference server refuses to wait for a block further ahead. */
const MAX_WAIT_AHEAD = 100;
/** Servers up to this factor slower than the fastest one are considered equal. */
const AS_GOOD = 1.5;

/** What a request requires of a server. */
export interface ServerRequirement {
  readonly need: Need;
  /** Function name. */
  readonly fn: string;
  /** 0 for none. */
  readonly waitSeqno: number;
}

/** The head of the pool, by which the lag of a server is measured. */
export interface PoolHead {
  readonly headSeqno: number;
  readonly maxLag: number;
}

/** How well a server fits; lower is better. A higher tier is used only if no server has a lower one. */
export const Tier = {
  fits: 0,
  /** The server may have the data, or will have it soon. */
  perhaps: 1,
  lagging: 2,
  failing: 3,
  /** The server is believed not to have the data. */
  lacks: 4,
} as const;

export interface Candidate {
  readonly server: LiteServer;
  readonly tier: number;
}

/** The tier of a server for a request; null when it cannot be queried. */
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

/** The block that the server must wait for before it can answer; 0 for none. */
export function waitFor(server: LiteServer, { need, waitSeqno }: ServerRequirement): number {
  if (waitSeqno > server.seqno) return waitSeqno;
  if (need.kind !== 'state' && need.kind !== 'block') return 0;
  return need.seqno > server.seqno && need.seqno <= server.seqno + SOON ? need.seqno : 0;
}

/** Whether the server has the required data, as far as known. */
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

/** By the slices of its config entry; `perhaps` when it has the range but not all shards. */
function isInSlices({ address, seqno }: LiteServer, need: Need): 'yes' | 'no' | 'perhaps' {
  if (address.slices === null) return 'yes';
  const wanted = need.kind === 'head' ? seqno : need.kind === 'archive' ? 1 : need.seqno;
  const slices = address.slices.filter(({ range }) => range.from <= wanted && wanted <= range.to);
  if (slices.length === 0) return 'no';
  const isWhole = slices.some(({ shards }) => shards.some((each) => each.workchain === 0 && each.shard === 2n ** 63n));
  return isWhole ? 'yes' : 'perhaps';
}

/** Chooses randomly among the best servers, weighted by speed. Null when there is none. */
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
  // Differences of a millisecond are ignored.
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

/** State shared by all requests of a pool. */
export interface PoolContext {
  readonly servers: readonly LiteServer[];
  readonly settings: PoolSettings;
  readonly modules: LitePoolModules;
  readonly hedges: HedgeBudget;
  /** The seqno that lag is measured against. */
  readonly referenceSeqno: number;
  readonly isClosed: boolean;
  /** Called when the state of a server changes, and when the pool is closed. */
  readonly watchers: LinkedList<() => void>;
}

/** Limits hedged queries to a share of all requests: each request adds a fraction of one to the budget. */
export class HedgeBudget {
  readonly #share: number;
  readonly #burst: number;
  #budget: number;
  #used = 0;

  constructor(share: number, burst: number) {
    this.#share = share;
    this.#burst = share === 0 ? 0 : burst;
    this.#budget = this.#burst;
  }

  /** Hedged queries sent. */
  get spent(): number {
    return this.#used;
  }

  earn(): void {
    this.#budget = Math.min(this.#burst, this.#budget + this.#share);
  }

  /**
   * Takes one from the budget if available. Half of the budget is reserved for long overdue requests, so that slightly slow
   * ones leave some for a server that stops responding.
   */
  take(isOverdue: boolean): boolean {
    if (this.#budget < (isOverdue ? 1 : Math.floor(this.#burst / 2) + 1)) return false;
    this.#budget--;
    this.#used++;
    return true;
  }
}
