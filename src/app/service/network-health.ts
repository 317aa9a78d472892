import type { NetworkHealth } from '#api/http/http-api.js';
import type { HeadWatch } from '#app/service/head-watch.js';
import type { PoolMetrics } from '#drivers/lite/metrics.js';

/** What the health of a network is judged from. */
export interface HealthFacts {
  readonly pool: PoolMetrics;
  readonly watch: Pick<HeadWatch, 'head' | 'problem'>;
  readonly unixTimeMs: number;
  /** How old the newest block may be; 0 for any age. */
  readonly maxHeadAgeMs: number;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

/** Longest text about servers. */
const MAX_TEXT = 2_000;

/** A network is ready when a server is healthy, the head is proven, and that is not too old. */
export function networkHealth({ pool, watch, unixTimeMs, maxHeadAgeMs, details }: HealthFacts): NetworkHealth {
  const { head } = watch;
  const healthy = pool.servers.filter(({ state }) => state === 'healthy').length;
  const bornMs = head?.gen_utime == null ? null : head.gen_utime * 1000;
  // Recorded chains may have been made by a clock that is ahead.
  const headAgeMs = bornMs === null ? null : Math.max(0, unixTimeMs - bornMs);
  const isOld = maxHeadAgeMs > 0 && (headAgeMs ?? Number.POSITIVE_INFINITY) > maxHeadAgeMs;
  let problem: string | null = null;
  if (healthy === 0) problem = serversText(pool);
  else if (watch.problem !== null) problem = `the newest block cannot be proven: ${watch.problem}`;
  else if (head === null) problem = 'the newest block is not proven yet';
  else if (isOld) problem = `the newest block, ${head.seqno}, is ${ageText(headAgeMs)} old`;
  return {
    ready: problem === null,
    problem,
    headSeqno: head?.seqno ?? 0,
    headAgeMs,
    details: { servers: pool.servers.length, healthy_servers: healthy, ...details },
  };
}

function ageText(ms: number | null): string {
  return ms === null ? 'of unknown age, so too' : `${Math.round(ms / 1000)} s`;
}

/** Each server with the reason why it is not asked. */
function serversText({ servers }: PoolMetrics): string {
  const each = servers.map(({ server, state, reason }) => `${server}: ${state}${reason === '' ? '' : ` (${reason})`}`);
  const text = `no liteserver can be asked: ${each.join('; ')}`;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
