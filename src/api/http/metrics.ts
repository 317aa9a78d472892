import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BodyReader } from '#api/http/body-reader.js';
import type { Connections } from '#api/http/connections.js';
import type { EarlyRefusals } from '#api/http/early-refusals.js';
import type { EndpointCalls } from '#api/http/endpoint-calls.js';
import type { ReceivedBytes } from '#api/http/received-bytes.js';
import type { Turns } from '#api/http/turns.js';

/** Upper bounds in seconds, from cached responses to the deadline. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type RequestLabels = 'network' | 'api' | 'endpoint' | 'status_class';

/** What the metrics are read from. */
interface MeasuredServer {
  readonly calls: EndpointCalls;
  readonly connections: Connections;
  readonly bodies: BodyReader;
  readonly received: ReceivedBytes;
  readonly turns: Turns;
  readonly refusals: EarlyRefusals;
}

/** The metrics of the HTTP server. */
export class HttpMetrics {
  readonly #duration: Histogram<RequestLabels>;
  readonly #rejected: Counter<'network' | 'reason'>;
  readonly #work: Counter<'network' | 'api' | 'endpoint'>;

  constructor(registry: Registry, { calls, connections, bodies, received, turns, refusals }: MeasuredServer) {
    const registers = [registry];
    this.#duration = new Histogram({
      name: 'tern_http_request_duration_seconds',
      help: 'Time from the headers of a request to its answer',
      labelNames: ['network', 'api', 'endpoint', 'status_class'],
      buckets: BUCKETS,
      registers,
    });
    this.#rejected = new Counter({
      name: 'tern_http_rejected_total',
      help: 'Requests that were not let in, by the code of the error',
      labelNames: ['network', 'reason'],
      registers,
    });
    this.#work = new Counter({
      name: 'tern_http_work_units_total',
      help: 'Work done for requests, in work units of about 1 ms of CPU time',
      labelNames: ['network', 'api', 'endpoint'],
      registers,
    });
    const gauges: readonly [string, string, () => number][] = [
      [
        'tern_http_in_flight_requests',
        'Requests being worked on, answers from the cache not counted',
        () => calls.inFlight,
      ],
      ['tern_http_connections', 'Open connections', () => connections.size],
      ['tern_http_unbegun_requests', 'Requests that wait to be begun in a later turn', () => turns.waiting],
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
        'Requests that got 503 because too many waited to be begun',
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
    this.#duration.observe(
      { network, api, endpoint, status_class: STATUS_CLASSES[Math.floor(status / 100)] ?? 'other' },
      seconds,
    );
  }

  /** @param units work units */
  worked(network: string, api: string, endpoint: string, units: number): void {
    this.#work.inc({ network, api, endpoint }, units);
  }

  /** @param reason an error code */
  reject(network: string, reason: string): void {
    this.#rejected.inc({ network, reason });
  }
}

const STATUS_CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx'];
