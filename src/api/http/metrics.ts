import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BodyAdmission, BodyReader } from '#api/http/body-reader.js';
import type { Connections } from '#api/http/connections.js';
import type { EarlyRefusals } from '#api/http/early-refusals.js';
import type { EndpointCalls } from '#api/http/endpoint-calls.js';
import type { ReceivedBytes } from '#api/http/received-bytes.js';
import type { Turns } from '#api/http/turns.js';

/** Upper bounds in seconds, from cached responses to the deadline. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The classes of statuses, by their first digit. */
const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

const DURATION = 'tern_http_request_duration_seconds';
const DURATION_HELP = 'Time from the headers of a request to its answer';

/** What the metrics are read from. */
interface MeasuredServer {
  readonly calls: EndpointCalls;
  readonly connections: Connections;
  readonly admission: BodyAdmission;
  readonly bodies: BodyReader;
  readonly received: ReceivedBytes;
  readonly turns: Turns;
  readonly refusals: EarlyRefusals;
}

type Labels = Readonly<Record<'network' | 'api' | 'endpoint', string>>;

/** A sample of a metric, as prom-client writes it. */
interface MetricValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A histogram whose values are counted elsewhere: finding those of four labels takes it 7 % of the time of a cached answer. */
class Durations extends Histogram<keyof Labels | 'status_class'> {
  readonly #values: () => Iterable<MetricValue>;

  constructor(registry: Registry, values: () => Iterable<MetricValue>) {
    super({
      name: DURATION,
      help: DURATION_HELP,
      labelNames: ['network', 'api', 'endpoint', 'status_class'],
      buckets: BUCKETS,
      registers: [registry],
    });
    this.#values = values;
  }

  /** What the registry, and `get`, take for the values. */
  async getForPromString() {
    return { name: DURATION, help: DURATION_HELP, type: 'histogram', aggregator: 'sum', values: [...this.#values()] };
  }
}

/** The durations of requests with the same labels. */
class DurationCounts {
  /** Of those within each bound of {@link BUCKETS} and beyond the one before it; the last: longer than all. */
  readonly #counts = new Array<number>(BUCKETS.length + 1).fill(0);
  #sum = 0;

  add(seconds: number): void {
    let at = 0;
    while (at < BUCKETS.length && seconds > BUCKETS[at]!) at++;
    this.#counts[at]!++;
    this.#sum += seconds;
  }

  *values(labels: MetricValue['labels']): Generator<MetricValue> {
    let count = 0;
    for (const [at, own] of this.#counts.entries()) {
      count += own;
      yield { metricName: `${DURATION}_bucket`, labels: { le: BUCKETS[at] ?? '+Inf', ...labels }, value: count };
    }
    yield { metricName: `${DURATION}_sum`, labels, value: this.#sum };
    yield { metricName: `${DURATION}_count`, labels, value: count };
  }
}

/** Requests to one endpoint. */
interface EndpointCounts {
  readonly durations: Partial<Record<(typeof STATUS_CLASSES)[number], DurationCounts>>;
  /** Work units; null: none were counted. */
  work: number | null;
}

/** The metrics of the HTTP server. */
export class HttpMetrics {
  readonly #rejected: Counter<'network' | 'reason'>;
  /** By network, API and endpoint. */
  readonly #counts = new Map<string, Map<string, Map<string, EndpointCounts>>>();

  constructor(
    registry: Registry,
    { calls, connections, admission, bodies, received, turns, refusals }: MeasuredServer,
  ) {
    const registers = [registry];
    new Durations(registry, () => this.#durations());
    this.#rejected = new Counter({
      name: 'tern_http_rejected_total',
      help: 'Requests that were not let in, by the code of the error',
      labelNames: ['network', 'reason'],
      registers,
    });
    const works = (): Iterable<readonly [Labels, number]> => this.#works();
    new Counter({
      name: 'tern_http_work_units_total',
      help: 'Work done for requests, in work units of about 1 ms of CPU time',
      labelNames: ['network', 'api', 'endpoint'],
      registers,
      collect() {
        this.reset();
        for (const [labels, units] of works()) this.inc(labels, units);
      },
    });
    const gauges: readonly [string, string, () => number][] = [
      [
        'tern_http_in_flight_requests',
        'Requests being worked on, answers from the cache not counted',
        () => calls.inFlight,
      ],
      ['tern_http_connections', 'Open connections', () => connections.size],
      ['tern_http_unbegun_requests', 'Requests that wait to be begun in a later turn', () => turns.waiting],
      ['tern_http_unread_bodies', 'Large request bodies that wait to be read', () => admission.waiting],
      ['tern_http_open_bodies', 'Request bodies that are being received', () => bodies.open],
      ['tern_http_held_body_bytes', 'Bytes held of bodies and messages that are not parsed yet', () => received.held],
      [
        'tern_http_work_under_way_units',
        'Price of the requests being worked on that are not small',
        () => calls.queue.underWay,
      ],
      ['tern_http_waiting_requests', 'Requests waiting for room because of their price', () => calls.queue.waiting],
      ['tern_http_held_answer_bytes', 'Large answers that clients have not received yet', () => calls.heldBytes],
      ['tern_http_cache_bytes', 'Memory that cached answers take', () => calls.cache.bytes],
      [
        'tern_http_cache_compressed_bytes',
        'Memory of those that are kept compressed',
        () => calls.cache.compressedBytes,
      ],
      ['tern_http_cache_entries', 'Cached answers', () => calls.cache.size],
    ];
    for (const [name, help, read] of gauges) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    }
    new Counter({
      name: 'tern_http_closed_connections_total',
      help: 'Connections that the server closed because of a bound, by reason',
      labelNames: ['reason'],
      registers,
      collect() {
        this.reset();
        for (const [reason, count] of connections.closed) this.inc({ reason }, count);
      },
    });
    const totals: readonly [string, string, () => number][] = [
      ['tern_http_cache_hits_total', 'Requests answered from the cache', () => calls.cache.hits],
      [
        'tern_http_cache_misses_total',
        'Requests whose answer might have been in the cache and was not',
        () => calls.cache.misses,
      ],
      [
        'tern_http_unbegun_refused_total',
        'Requests that got 503 because too many waited to be begun, or they themselves for too long',
        () => turns.refused,
      ],
      [
        'tern_http_early_refusals_total',
        'Requests beyond a rate that got the same 429 again before they were read',
        () => refusals.count,
      ],
      ['tern_http_shared_total', 'Requests that shared the work of an equal one', () => calls.joined],
    ];
    for (const [name, help, read] of totals) {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    }
  }

  /** @param status of HTTP */
  observe(network: string, api: string, endpoint: string, status: number, seconds: number): void {
    const counts = this.#countsOf(network, api, endpoint);
    const statusClass = STATUS_CLASSES[Math.floor(status / 100)] ?? 'other';
    counts.durations[statusClass] ??= new DurationCounts();
    counts.durations[statusClass].add(seconds);
  }

  /** @param units work units */
  worked(network: string, api: string, endpoint: string, units: number): void {
    const counts = this.#countsOf(network, api, endpoint);
    counts.work = (counts.work ?? 0) + units;
  }

  /** @param reason an error code */
  reject(network: string, reason: string): void {
    this.#rejected.inc({ network, reason });
  }

  #countsOf(network: string, api: string, endpoint: string): EndpointCounts {
    const ofNetwork = within(this.#counts, network, () => new Map<string, Map<string, EndpointCounts>>());
    const ofApi = within(ofNetwork, api, () => new Map<string, EndpointCounts>());
    return within(ofApi, endpoint, () => ({ durations: {}, work: null }));
  }

  *#endpoints(): Generator<readonly [Labels, EndpointCounts]> {
    for (const [network, ofNetwork] of this.#counts) {
      for (const [api, ofApi] of ofNetwork) {
        for (const [endpoint, counts] of ofApi) yield [{ network, api, endpoint }, counts];
      }
    }
  }

  *#works(): Generator<readonly [Labels, number]> {
    for (const [labels, { work }] of this.#endpoints()) if (work !== null) yield [labels, work];
  }

  *#durations(): Generator<MetricValue> {
    for (const [ofEndpoint, { durations }] of this.#endpoints()) {
      for (const [status_class, counts] of Object.entries(durations)) {
        yield* counts.values({ ...ofEndpoint, status_class });
      }
    }
  }
}

/** The value of a key, which is made when there is none. */
function within<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
