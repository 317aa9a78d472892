import { useEffect, useRef, useState } from 'preact/hooks';
import { histogramQuantile, type PrometheusSample, prometheusSamples, sampleSum } from '#kernel/prometheus-text.js';
import type { Readiness } from '../api/answers.js';
import { requestHeaders } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { durationText } from '../format/time.js';
import { useLoad } from '../live/use-load.js';
import { ApiKeyForm } from '../parts/api-key.js';
import { Fact, Facts, Section } from '../parts/facts.js';
import { Loading, Notice } from '../parts/notice.js';
import { TableFrame } from '../parts/table-frame.js';
import { KeyUsage } from './status/key-usage.js';

interface Look {
  /** Milliseconds. */
  readonly at: number;
  readonly readiness: Readiness;
  readonly samples: readonly PrometheusSample[];
}

/** The figures of this server are public pages of it: `/readyz` and `/metrics`. */
async function look(signal: AbortSignal): Promise<Look> {
  const [ready, metrics] = await Promise.all([
    fetch('/readyz', { signal, headers: requestHeaders(false) }),
    fetch('/metrics', { signal, headers: requestHeaders(false) }),
  ]);
  return {
    at: performance.now(),
    readiness: (await ready.json()) as Readiness,
    samples: metrics.ok ? prometheusSamples(await metrics.text()) : [],
  };
}

/** How often the page looks. */
const LOOK_MS = 3_000;
/** Looks from which rates are taken. */
const LOOKS = 20;

/** How this server is: its networks, index, liteservers, caches and answers. */
export function StatusPage() {
  const { value, problem, reload } = useLoad('status', look);
  const [looks, setLooks] = useState<readonly Look[]>([]);
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (value !== null) setLooks((before) => [...before, value].slice(-LOOKS));
  }, [value]);
  if (value === null)
    return problem === null ? (
      <Loading what="the status" />
    ) : (
      <Notice kind="error" title="The server does not answer." />
    );
  const { readiness } = value;
  const [first] = looks;
  return (
    <>
      <header class="page-head">
        <h1>
          Status{' '}
          <span class={`badge ${readiness.ready ? 'badge-good' : 'badge-bad'}`}>
            {readiness.ready ? 'ready' : 'not ready'}
          </span>
        </h1>
        <span class="muted">Tern {readiness.version}</span>
      </header>
      {readiness.problem !== null && <Notice kind="warning" title={readiness.problem} />}
      {Object.entries(readiness.networks).map(([name, health]) => (
        <NetworkStatus key={name} name={name} health={health} now={value} before={first ?? value} />
      ))}
      <AnswerStatus now={value} before={first ?? value} />
      <KeyUsage />
      <Section title="API key">
        <p class="muted">For servers that limit requests without a key. It is sent as X-API-Key to this server only.</p>
        <ApiKeyForm />
      </Section>
    </>
  );
}

interface NetworkStatusProps {
  readonly name: string;
  readonly health: Readiness['networks'][string];
  readonly now: Look;
  readonly before: Look;
}

function NetworkStatus({ name, health, now, before }: NetworkStatusProps) {
  const details = health.details ?? {};
  const labels = { network: name };
  const number = (metric: string) => sampleSum(now.samples, metric, labels);
  const perSecond = (metric: string) => rateOf(metric, labels, now, before);
  const missing = number('tern_index_fill_missing_blocks') ?? 0;
  const rate = perSecond('tern_index_written_masterchain_blocks_total');
  return (
    <Section
      title={`Network ${name}`}
      side={
        <span class={`badge ${health.ready ? 'badge-good' : 'badge-bad'}`}>{health.ready ? 'ready' : 'not ready'}</span>
      }
    >
      {health.problem !== null && <Notice kind="warning" title={health.problem} />}
      <Facts>
        <Fact name="Newest block">{countText(health.head_seqno)}</Fact>
        <Fact name="Its age">
          {health.head_age_ms === null ? '–' : durationText(Math.max(0, health.head_age_ms) / 1000)}
        </Fact>
        <Fact name="Index">
          {String(details.index ?? '–')}
          {typeof details.index_role === 'string' && <span class="muted"> (role {details.index_role})</span>}
        </Fact>
        {typeof details.index_lag_seconds === 'number' && (
          <Fact name="Behind the chain">{durationText(details.index_lag_seconds)}</Fact>
        )}
        {typeof details.index_coverage === 'string' && (
          <Fact name="Coverage">
            <span class="mono wrap">{details.index_coverage}</span>
          </Fact>
        )}
        {typeof details.index_missing_blocks === 'number' && (
          <Fact name="Missing blocks">{countText(details.index_missing_blocks)}</Fact>
        )}
        {missing > 0 && (
          <Fact name="Filling">
            {countText(missing)} masterchain blocks left
            {rate !== null && rate > 0 && `, ${rate.toFixed(1)} per second, about ${durationText(missing / rate)}`}
          </Fact>
        )}
        <Fact name="Actions to classify">{countOr(number('tern_index_actions_left'))}</Fact>
        <Fact name="Contracts to detect">{countOr(number('tern_index_contracts_queued'))}</Fact>
        <Fact name="Liteservers">
          {String(details.healthy_servers ?? '–')} healthy of {String(details.servers ?? '–')}
        </Fact>
        <Fact name="Get-methods run">{String(details.get_methods_run ?? '–')}</Fact>
      </Facts>
      <LiteServers network={name} samples={now.samples} />
    </Section>
  );
}

/** Liteservers with what was counted of each of them. */
function LiteServers({
  network,
  samples,
}: {
  readonly network: string;
  readonly samples: readonly PrometheusSample[];
}) {
  const servers = new Map<string, Map<string, number>>();
  for (const { name, labels, value } of samples) {
    const { server } = labels;
    if (!name.startsWith('tern_lite_') || labels.network !== network || server === undefined) continue;
    const own = servers.get(server) ?? new Map<string, number>();
    const what = labels.reason === undefined ? name : `${name} ${labels.reason}`;
    own.set(what, (own.get(what) ?? 0) + value);
    servers.set(server, own);
  }
  if (servers.size === 0) return null;
  return (
    <details class="raw">
      <summary>Liteservers one by one</summary>
      {[...servers].map(([server, figures]) => (
        <div key={server} class="message">
          <h4 class="mono wrap">{server}</h4>
          <Facts>
            {[...figures].map(([what, value]) => (
              <Fact
                key={what}
                name={what
                  .replace(/^tern_lite_(server_)?/, '')
                  .replace(/_total/, '')
                  .replaceAll('_', ' ')}
              >
                {Number.isInteger(value) ? countText(value) : value.toFixed(3)}
              </Fact>
            ))}
          </Facts>
        </div>
      ))}
    </details>
  );
}

function countOr(value: number | null): string {
  return value === null ? '–' : countText(value);
}

/** How much a counter rises in a second; null while that is not known. */
function rateOf(metric: string, labels: Readonly<Record<string, string>>, now: Look, before: Look): number | null {
  const [later, earlier] = [sampleSum(now.samples, metric, labels), sampleSum(before.samples, metric, labels)];
  const seconds = (now.at - before.at) / 1000;
  return later === null || earlier === null || seconds < 1 ? null : Math.max(0, later - earlier) / seconds;
}

const DURATION = 'tern_http_request_duration_seconds';

function AnswerStatus({ now, before }: { readonly now: Look; readonly before: Look }) {
  const { samples } = now;
  if (samples.length === 0) return <Notice title="The metrics of this server could not be read." />;
  const hits = sampleSum(samples, 'tern_http_cache_hits_total') ?? 0;
  const misses = sampleSum(samples, 'tern_http_cache_misses_total') ?? 0;
  const apis = [
    ...new Set(samples.flatMap(({ name, labels }) => (name === `${DURATION}_count` ? (labels.api ?? []) : []))),
  ];
  return (
    <Section title="Answers">
      <Facts>
        <Fact name="Requests per second">{rateOf(`${DURATION}_count`, {}, now, before)?.toFixed(1) ?? '–'}</Fact>
        <Fact name="In progress">{countOr(sampleSum(samples, 'tern_http_in_flight_requests'))}</Fact>
        <Fact name="Connections">{countOr(sampleSum(samples, 'tern_http_connections'))}</Fact>
        <Fact name="From the cache">
          {hits + misses === 0 ? '–' : `${((hits / (hits + misses)) * 100).toFixed(1)}\u00a0%`}
        </Fact>
        <Fact name="Refused">{countOr(sampleSum(samples, 'tern_http_rejected_total') ?? 0)}</Fact>
        <Fact name="Memory">{memoryText(sampleSum(samples, 'process_resident_memory_bytes'))}</Fact>
      </Facts>
      <TableFrame>
        <table class="table">
          <thead>
            <tr>
              <th scope="col">API</th>
              <th scope="col" class="number">
                Requests
              </th>
              <th scope="col" class="number">
                Half within
              </th>
              <th scope="col" class="number">
                99 % within
              </th>
            </tr>
          </thead>
          <tbody>
            {apis.map((api) => (
              <tr key={api}>
                <td class="mono">{api}</td>
                <td class="number">{countOr(sampleSum(samples, `${DURATION}_count`, { api }))}</td>
                <td class="number">{quantileText(histogramQuantile(samples, DURATION, 0.5, { api }))}</td>
                <td class="number">{quantileText(histogramQuantile(samples, DURATION, 0.99, { api }))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Section>
  );
}

function quantileText(seconds: number | null): string {
  if (seconds === null) return '–';
  if (!Number.isFinite(seconds)) return 'longer than measured';
  return seconds < 1 ? `${Number((seconds * 1000).toFixed(1))} ms` : durationText(seconds);
}

function memoryText(bytes: number | null): string {
  return bytes === null ? '–' : `${countText(bytes / 2 ** 20)} MiB`;
}
