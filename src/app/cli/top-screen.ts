import type { NetworkReadiness } from '#api/http/health-routes.js';
import { histogramQuantile, type PrometheusSample, sampleSum } from '#kernel/prometheus-text.js';

/** What a server said of itself at a moment. */
export interface ServerLook {
  readonly atMs: number;
  /** Of `/readyz`. */
  readonly networks: Readonly<Record<string, NetworkReadiness>>;
  /** Of `/metrics`. */
  readonly samples: readonly PrometheusSample[];
}

/** Null: not known, or not measured by this server. */
type Figure = number | null;

interface NetworkFigures {
  readonly name: string;
  readonly ready: boolean;
  readonly problem: string | null;
  readonly head_seqno: number;
  readonly head_age_seconds: Figure;
  readonly index: string | null;
  readonly index_lag_seconds: Figure;
  readonly index_blocks_per_second: Figure;
  readonly index_transactions_per_second: Figure;
  readonly fill_missing_blocks: Figure;
  readonly fill_seconds_left: Figure;
  readonly actions_left: Figure;
  readonly contracts_queued: Figure;
  readonly servers: Figure;
  readonly healthy_servers: Figure;
  readonly quarantines: Figure;
}

interface ApiFigures {
  readonly api: string;
  readonly requests_per_second: Figure;
  readonly median_seconds: Figure;
  readonly p99_seconds: Figure;
}

/** The figures of `tern top`, as `--json` prints them. */
export interface TopFigures {
  readonly networks: readonly NetworkFigures[];
  readonly apis: readonly ApiFigures[];
  readonly requests_per_second: Figure;
  readonly in_flight: Figure;
  readonly connections: Figure;
  readonly cache_hit_share: Figure;
  readonly refused_per_second: Figure;
  readonly memory_bytes: Figure;
  readonly cpu_share: Figure;
  readonly event_loop_p99_seconds: Figure;
}

const DURATION = 'tern_http_request_duration_seconds';

/** Figures from two looks: rates are those between them. */
export function topFigures(now: ServerLook, before: ServerLook): TopFigures {
  const { samples } = now;
  const seconds = (now.atMs - before.atMs) / 1_000;
  const rate = (name: string, labels: Readonly<Record<string, string>> = {}): Figure => {
    const later = sampleSum(samples, name, labels);
    if (later === null || seconds <= 0) return null;
    // A counter that was not there had counted nothing; one that fell began anew.
    const earlier = sampleSum(before.samples, name, labels) ?? 0;
    return Math.max(0, later - earlier) / seconds;
  };
  const hits = rate('tern_http_cache_hits_total');
  const misses = rate('tern_http_cache_misses_total');
  const asked = (hits ?? 0) + (misses ?? 0);
  const apis = [
    ...new Set(samples.flatMap(({ name, labels }) => (name === `${DURATION}_count` ? [labels.api ?? ''] : []))),
  ];
  return {
    networks: Object.entries(now.networks).map(([name, health]) => networkFigures(name, health, samples, rate)),
    apis: apis.sort().map((api) => ({
      api,
      requests_per_second: rate(`${DURATION}_count`, { api }),
      median_seconds: histogramQuantile(samples, DURATION, 0.5, { api }),
      p99_seconds: histogramQuantile(samples, DURATION, 0.99, { api }),
    })),
    requests_per_second: rate(`${DURATION}_count`),
    in_flight: sampleSum(samples, 'tern_http_in_flight_requests'),
    connections: sampleSum(samples, 'tern_http_connections'),
    cache_hit_share: asked === 0 ? null : (hits ?? 0) / asked,
    refused_per_second: rate('tern_http_rejected_total'),
    memory_bytes: sampleSum(samples, 'process_resident_memory_bytes'),
    cpu_share: rate('process_cpu_seconds_total'),
    event_loop_p99_seconds: sampleSum(samples, 'nodejs_eventloop_lag_p99_seconds'),
  };
}

function networkFigures(
  name: string,
  { ready, problem, head_seqno, head_age_ms, details = {} }: NetworkReadiness,
  samples: readonly PrometheusSample[],
  rate: (name: string, labels: Readonly<Record<string, string>>) => Figure,
): NetworkFigures {
  const labels = { network: name };
  const number = (value: unknown): Figure => (typeof value === 'number' ? value : null);
  const missing = sampleSum(samples, 'tern_index_fill_missing_blocks', labels);
  const blocks = rate('tern_index_written_masterchain_blocks_total', labels);
  return {
    ...{ name, ready, problem, head_seqno, head_age_seconds: head_age_ms === null ? null : head_age_ms / 1_000 },
    index: typeof details.index === 'string' ? details.index : null,
    index_lag_seconds: number(details.index_lag_seconds),
    index_blocks_per_second: blocks,
    index_transactions_per_second: rate('tern_index_written_transactions_total', labels),
    fill_missing_blocks: missing,
    fill_seconds_left: missing === null || blocks === null || blocks === 0 ? null : missing / blocks,
    actions_left: sampleSum(samples, 'tern_index_actions_left', labels),
    contracts_queued: sampleSum(samples, 'tern_index_contracts_queued', labels),
    servers: number(details.servers),
    healthy_servers: number(details.healthy_servers),
    quarantines: sampleSum(samples, 'tern_lite_server_quarantines_total', labels),
  };
}

const NAME = 24;

/** The figures as lines of text. */
export function topScreen(url: string, figures: TopFigures): string {
  const lines: string[] = [`Tern at ${url}`, ''];
  const line = (name: string, value: string) => lines.push(`  ${name.padEnd(NAME)}${value}`);
  for (const network of figures.networks) {
    lines.push(`network ${network.name}: ${network.ready ? 'ready' : `not ready: ${network.problem ?? ''}`}`);
    line('newest block', `${network.head_seqno}, ${secondsText(network.head_age_seconds)} old`);
    line('index', `${network.index ?? '-'}, ${secondsText(network.index_lag_seconds)} behind`);
    const written = `${rateText(network.index_blocks_per_second)} blocks, ${rateText(network.index_transactions_per_second)} transactions`;
    line('written per second', written);
    if ((network.fill_missing_blocks ?? 0) > 0) {
      line('filling', `${network.fill_missing_blocks} blocks left, ${secondsText(network.fill_seconds_left)}`);
    }
    line('to classify, to detect', `${network.actions_left ?? '-'}, ${network.contracts_queued ?? '-'}`);
    const bad = (network.quarantines ?? 0) > 0 ? `, ${network.quarantines} quarantines` : '';
    line('liteservers', `${network.healthy_servers ?? '-'} healthy of ${network.servers ?? '-'}${bad}`);
    lines.push('');
  }
  lines.push('answers');
  line(
    'requests per second',
    `${rateText(figures.requests_per_second)}, refused ${rateText(figures.refused_per_second)}`,
  );
  line('in flight, connections', `${figures.in_flight ?? '-'}, ${figures.connections ?? '-'}`);
  line('from the cache', figures.cache_hit_share === null ? '-' : `${(figures.cache_hit_share * 100).toFixed(1)} %`);
  for (const { api, requests_per_second, median_seconds, p99_seconds } of figures.apis) {
    line(
      api.slice(0, NAME - 1),
      `${rateText(requests_per_second)}/s, half within ${secondsText(median_seconds)}, 99 % within ${secondsText(p99_seconds)}`,
    );
  }
  lines.push('', 'process');
  const memory = figures.memory_bytes === null ? '-' : `${(figures.memory_bytes / 2 ** 20).toFixed(0)} MiB`;
  const cpu = figures.cpu_share === null ? '-' : `${(figures.cpu_share * 100).toFixed(0)} %`;
  line('memory, CPU', `${memory}, ${cpu}`);
  line('event loop, 99 %', secondsText(figures.event_loop_p99_seconds));
  return `${lines.join('\n')}\n`;
}

function rateText(value: Figure): string {
  return value === null ? '-' : value.toFixed(value < 10 ? 1 : 0);
}

function secondsText(value: Figure): string {
  if (value === null) return '-';
  if (!Number.isFinite(value)) return 'more than measured';
  if (value < 1) return `${Number((value * 1_000).toFixed(1))} ms`;
  return value < 120 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
}
