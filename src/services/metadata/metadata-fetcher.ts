import { sanitizeDocument } from '#domain/contracts/token-metadata.js';
import type { Database } from '#drivers/store/database.js';
import {
  type ClaimedMetadata,
  claimMetadata,
  type MetadataOutcome,
  settleMetadata,
} from '#drivers/store/write/token-metadata.js';
import { HOST_LIMITS, type HostLimits, HostThrottle } from '#drivers/web/host-throttle.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { MetricRow, Sample } from '#kernel/metric-rows.js';
import { sharedAbortController } from '#kernel/shared-abort.js';
import type { TernError } from '#kernel/tern-error.js';
import { metadataErrors } from '#services/metadata/errors.js';
import { type FetchModules, fetchDocument, metadataError } from '#services/metadata/fetch-document.js';
import { type MetadataLink, readMetadataLink } from '#services/metadata/metadata-link.js';

export interface FetcherOptions {
  /** See {@link readMetadataLink}. */
  readonly gateway: string;
  /** Fetches at the same time. */
  readonly atOnce: number;
  readonly hosts?: HostLimits;
}

export interface FetcherModules extends FetchModules {
  readonly database: Database;
  readonly clock: Clock;
  readonly unixTimeMs: () => number;
  /** [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /** Called when the stored metadata of a token changed. */
  readonly onChange?: () => void;
}

/** How often due links are looked for when none was due. */
const LOOK_MS = 1_000;
/** Pause after a failure of the database. */
const RETRY_MS = 2_000;
/** Outcomes written in one transaction. */
const MOST_OUTCOMES = 64;

/**
 * Fetches the off-chain metadata that is due, in a loop, and writes the outcomes. Any number of processes may do so on one
 * database: each claims links for a lease, and the links of a process that was killed become due again when the lease ends.
 */
export class MetadataFetcher {
  readonly #options: FetcherOptions;
  readonly #modules: FetcherModules;
  readonly #hosts: HostThrottle;
  readonly #stop = sharedAbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #outcomes: MetadataOutcome[] = [];
  readonly #sums = { fetched: 0, put_off: 0, fetch_seconds: 0, behind_seconds: 0 };
  readonly #failed = new Map<string, number>();
  #wake = (): void => {};
  #loop: Promise<void> = Promise.resolve();
  #problem: TernError | null = null;

  constructor(options: FetcherOptions, modules: FetcherModules) {
    this.#options = options;
    this.#modules = modules;
    this.#hosts = new HostThrottle(options.hosts ?? HOST_LIMITS, () => modules.clock.now());
  }

  start(): void {
    this.#loop = this.#run();
  }

  metrics(): Omit<MetadataMetrics, 'overrides'> {
    return {
      ...this.#sums,
      running: this.#running.size,
      failed: new Map(this.#failed),
      resting_hosts: this.#hosts.backingOff,
    };
  }

  /** Aborts running fetches and returns their claims. */
  async close(): Promise<void> {
    this.#stop.abort(metadataErrors.stopped({}));
    this.#wake();
    await this.#loop;
    await Promise.all(this.#running);
    // Without the database the claims end with their lease.
    while (this.#outcomes.length > 0) if (!(await this.#attempt(() => this.#settle()))) break;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let claimed = 0;
      const works = await this.#attempt(async () => {
        await this.#settle();
        claimed = await this.#claim();
      });
      if (!works) await pause(RETRY_MS, this.#modules.clock, signal);
      else if (claimed === 0 && this.#outcomes.length === 0) await this.#rest();
    }
  }

  /** Until a fetch ends or it is time to look for due links again. */
  async #rest(): Promise<void> {
    const { clock } = this.#modules;
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(LOOK_MS, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#stop.signal.aborted) this.#wake();
    });
    this.#wake = () => {};
  }

  /** @returns whether the database worked */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    const { logger } = this.#modules;
    try {
      await work();
      if (this.#problem !== null) logger.info('fetching of metadata continues');
      this.#problem = null;
      return true;
    } catch (error) {
      const problem = metadataError(error);
      if (this.#problem?.code !== problem.code && !this.#stop.signal.aborted) {
        const { code, message, remedy } = problem;
        logger.warn('fetching of metadata is suspended', { code, problem: message, remedy });
      }
      this.#problem = problem;
      return false;
    }
  }

  async #claim(): Promise<number> {
    const { database } = this.#modules;
    const limit = this.#options.atOnce - this.#running.size;
    if (limit <= 0 || this.#stop.signal.aborted) return 0;
    const now = this.#unixTime();
    const rows = await database.withWriter((client) => claimMetadata(client, { now, limit, leases: LEASE_SECONDS }));
    this.#sums.behind_seconds = Math.max(0, ...rows.map(({ due_at }) => now - Number(due_at)));
    for (const row of rows) this.#begin(row);
    return rows.length;
  }

  async #settle(): Promise<void> {
    const outcomes = this.#outcomes.slice(0, MOST_OUTCOMES);
    if (outcomes.length === 0) return;
    const now = this.#unixTime();
    const { database, onChange } = this.#modules;
    const changes = await database.transaction((client) => settleMetadata(client, outcomes, now));
    this.#outcomes.splice(0, outcomes.length);
    if (changes) onChange?.();
  }

  #begin(row: ClaimedMetadata): void {
    let link: MetadataLink;
    try {
      link = readMetadataLink(row.uri, this.#options.gateway);
    } catch (error) {
      this.#fail(row, metadataError(error));
      return;
    }
    const wait = link.kind === 'web' ? this.#hosts.take(link.url.host) : 0;
    if (wait > 0) this.#postpone(row, Math.ceil(wait / 1000));
    else if (this.#stop.signal.aborted) this.#returnClaim(row, link);
    else {
      const work = this.#fetch(row, link).finally(() => {
        this.#running.delete(work);
        this.#wake();
      });
      this.#running.add(work);
    }
  }

  async #fetch(row: ClaimedMetadata, link: MetadataLink): Promise<void> {
    const { clock, random } = this.#modules;
    const began = clock.now();
    try {
      const found = await fetchDocument(link, this.#modules, this.#stop.signal);
      const document = JSON.stringify(sanitizeDocument(found));
      this.#sums.fetched++;
      this.#outcomes.push({ ...row, result: 'fetched', document, next: this.#in(jittered(EXPIRY_SECONDS, random)) });
      this.#finish(link, began, true);
    } catch (error) {
      if (this.#stop.signal.aborted) {
        this.#returnClaim(row, link);
        return;
      }
      const known = metadataError(error);
      this.#fail(row, known);
      this.#finish(link, began, isOfContent(link, known) ? null : hostResponded(known));
    }
  }

  #finish(link: MetadataLink, began: number, hasAnswered: boolean | null): void {
    const tookMs = this.#modules.clock.now() - began;
    this.#sums.fetch_seconds += tookMs / 1000;
    if (link.kind === 'web') this.#hosts.done(link.url.host, tookMs, hasAnswered);
  }

  #fail(row: ClaimedMetadata, error: TernError): void {
    const { random, logger } = this.#modules;
    const { code, message } = error;
    if (error.class === 'internal') logger.warn('metadata could not be fetched', { code, problem: message });
    this.#failed.set(code, (this.#failed.get(code) ?? 0) + 1);
    this.#outcomes.push(failedOutcome(row, error, this.#unixTime(), random));
  }

  #postpone(row: ClaimedMetadata, seconds: number): void {
    this.#sums.put_off++;
    this.#outcomes.push({ ...row, result: 'put-off', next: this.#in(seconds) });
  }

  #returnClaim(row: ClaimedMetadata, link: MetadataLink): void {
    if (link.kind === 'web') this.#hosts.release(link.url.host);
    this.#outcomes.push({ ...row, result: 'put-off', next: this.#unixTime() });
  }

  #in(seconds: number): number {
    return this.#unixTime() + seconds;
  }

  #unixTime(): number {
    return Math.floor(this.#modules.unixTimeMs() / 1000);
  }
}

/** Codes of failures of the server or the connection, as opposed to the document of one token. */
const NO_RESPONSE: ReadonlySet<string> = new Set([
  metadataErrors.unresolved.code,
  metadataErrors.unreachable.code,
  metadataErrors.time.code,
]);

/** Statuses of servers that are overloaded or unavailable. */
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The outcome of a failed attempt. @param now Unix time in seconds */
function failedOutcome(
  row: ClaimedMetadata,
  { code, class: kind, message }: TernError,
  now: number,
  random: () => number,
): MetadataOutcome {
  const seconds = kind === 'caller' ? UNUSABLE_LINK_SECONDS : retrySeconds(row.attempts);
  const failure = { code, message: storable(message) };
  return { ...row, result: 'failed', failure, next: now + jittered(seconds, random) };
}

/** Whether a host responded, judged by the error of a fetch. */
function hostResponded({ code, data }: TernError): boolean {
  if (code === metadataErrors.status.code) return !UNAVAILABLE.has(Number(data.status));
  return !NO_RESPONSE.has(code);
}

/** Whether a fetch failed as those of content that nobody has: a gateway looks for it until it gives up, or its client does. */
function isOfContent(link: MetadataLink, { code, data }: TernError): boolean {
  if (link.kind !== 'web' || !link.isGateway) return false;
  return code === metadataErrors.time.code || (code === metadataErrors.status.code && data.status === 504);
}

/** A message that PostgreSQL JSON can hold: servers choose parts of messages. */
function storable(message: string): string {
  return message
    .slice(0, 1_000)
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '');
}

/** Seconds until the next attempt by the number of failures: 5, doubled each time up to 6 hours; then once a week. */
const RETRY_SECONDS: readonly number[] = [
  ...Array.from({ length: 16 }, (_, failures) => Math.min(5 * 2 ** failures, 21_600)),
  604_800,
];

/** For links that cannot be followed as they are: a host name may resolve to another address one day. */
const UNUSABLE_LINK_SECONDS = 30 * 86_400;

/** After a successful fetch. */
const EXPIRY_SECONDS = 7 * 86_400;

/** How long a claim holds, by the number of attempts: longer than any fetch; after many attempts as long as the pause. */
export const LEASE_SECONDS: readonly number[] = RETRY_SECONDS.map((seconds) => Math.max(60, seconds));

function retrySeconds(attempts: number): number {
  return RETRY_SECONDS[Math.min(Math.max(attempts, 1), RETRY_SECONDS.length) - 1]!;
}

/** A random tenth more or less, so that links that were fetched together spread out. */
function jittered(seconds: number, random: () => number): number {
  return Math.max(1, Math.round(seconds * (0.9 + 0.2 * random())));
}

/** Counters of the fetching of metadata; all but `running`, `behind_seconds`, `resting_hosts` and `overrides` only grow. */
export interface MetadataMetrics {
  /** Fetches now. */
  readonly running: number;
  readonly fetched: number;
  /** Failures by error code. */
  readonly failed: ReadonlyMap<string, number>;
  /** Postponed because the host is busy or failing. */
  readonly put_off: number;
  /** Duration of all attempts. */
  readonly fetch_seconds: number;
  /** How long the last claimed link had been due. */
  readonly behind_seconds: number;
  /** Hosts that are not used for a while because they failed. */
  readonly resting_hosts: number;
  /** Tokens whose metadata is overridden by the operator's file. */
  readonly overrides: number;
}

/** Metrics of the metadata fetcher; `null` where this process does not fetch. */
export const metadataMetricRows: readonly MetricRow<MetadataMetrics | null>[] = [
  metadataMetric('counter', 'fetched_total', 'Metadata documents fetched', (m) => m.fetched),
  {
    name: 'tern_metadata_failures_total',
    help: 'Failed metadata fetches by error code',
    kind: 'counter',
    labels: ['code'],
    read: (metrics) => [...(metrics?.failed ?? [])].map(([code, count]): Sample => [{ code }, count]),
  },
  metadataMetric(
    'counter',
    'put_off_total',
    'Fetches postponed because of the rate limit or the failure of their host',
    (m) => m.put_off,
  ),
  metadataMetric('counter', 'fetch_seconds_total', 'Total duration of fetches', (m) => m.fetch_seconds),
  metadataMetric('gauge', 'running', 'Fetches in progress', (m) => m.running),
  metadataMetric('gauge', 'behind_seconds', 'How long the last started fetch had been due', (m) => m.behind_seconds),
  metadataMetric('gauge', 'resting_hosts', 'Hosts paused after failures', (m) => m.resting_hosts),
  metadataMetric('gauge', 'overrides', 'Tokens in the overrides file', (m) => m.overrides),
];

function metadataMetric(
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: (metrics: MetadataMetrics) => number,
): MetricRow<MetadataMetrics | null> {
  return {
    name: `tern_metadata_${name}`,
    help,
    kind,
    read: (metrics): Sample[] => (metrics === null ? [] : [[{}, read(metrics)]]),
  };
}
