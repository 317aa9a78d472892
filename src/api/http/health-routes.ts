import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import type { AddressLimit } from '#api/http/address-limit.js';
import { JSON_TYPE } from '#api/http/api-style.js';
import type { HttpNetwork, NetworkHealth } from '#api/http/http-api.js';
import { PrecompressedText } from '#api/http/replies.js';
import type { Clock } from '#kernel/clock.js';
import { WorkSlices } from '#kernel/work-slices.js';

/** What the health routes report. */
interface HealthSubjects {
  readonly networks: readonly HttpNetwork[];
  readonly metricsPage: MetricsPage;
  /** Of `/metrics`. */
  readonly limit: AddressLimit;
  readonly apiVersion: string;
  /** Whether the server is shutting down. */
  isClosing(): boolean;
}

/**
 * `/healthz`: the process runs. `/readyz`, `/readyz/NETWORK`: it can serve requests. `/metrics`: for Prometheus. They wait for
 * nothing that requests to APIs wait for, and are under none of their limits.
 */
export function addHealthRoutes(app: FastifyInstance, subjects: HealthSubjects): void {
  const { networks, metricsPage, limit, apiVersion } = subjects;
  const route = (url: string, handler: (reply: FastifyReply, network: string | null) => unknown) =>
    app.route<{ Params: { network?: string } }>({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => {
        reply.header('Cache-Control', 'no-store');
        return handler(reply, request.params.network ?? null);
      },
    });

  route('/healthz', (reply) => sendJson(reply, 200, { ok: true, version: apiVersion }));
  const ready = (reply: FastifyReply, name: string | null) => {
    const asked = name === null ? networks : networks.filter((network) => network.name === name);
    if (asked.length === 0) return sendJson(reply, 404, { ready: false, problem: 'there is no such network' });
    const health = asked.map((network) => [network.name, network.health()] as const);
    const isClosing = subjects.isClosing();
    const isReady = !isClosing && health.every(([, { ready }]) => ready);
    const problems = health.filter(([, { ready }]) => !ready).map(([name, { problem }]) => `${name}: ${problem}`);
    if (isClosing) problems.unshift('the server is shutting down');
    return sendJson(reply, isReady ? 200 : 503, {
      ready: isReady,
      problem: problems.length === 0 ? null : problems.join('; '),
      version: apiVersion,
      networks: Object.fromEntries(health.map(([network, each]) => [network, healthJson(each)])),
    });
  };
  route('/readyz', ready);
  route('/readyz/:network', ready);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/metrics',
    handler: async (request, reply) => {
      limit.take(request.ip);
      reply.header('Cache-Control', 'no-store');
      return (await metricsPage.current()).send(request, reply);
    },
  });
}

/** A network in the answer of `/readyz`. All names are in snake case, those of `details` as well. */
export interface NetworkReadiness extends Pick<NetworkHealth, 'ready' | 'problem' | 'details'> {
  readonly head_seqno: NetworkHealth['headSeqno'];
  readonly head_age_ms: NetworkHealth['headAgeMs'];
}

function healthJson({ ready, problem, headSeqno, headAgeMs, details }: NetworkHealth): NetworkReadiness {
  return {
    ready,
    problem,
    head_seqno: headSeqno,
    head_age_ms: headAgeMs,
    ...(details === undefined ? {} : { details }),
  };
}

function sendJson(reply: FastifyReply, status: number, value: unknown): FastifyReply {
  return reply.code(status).header('Content-Type', JSON_TYPE).send(JSON.stringify(value));
}

/** How long one reading of the metrics is served at least. */
const METRICS_MS = 1_000;

/** Most of the time that is spent with reading them: with thousands of connections it takes 100 ms. */
const METRICS_SHARE = 0.02;

/** The page of the metrics: read at most once per second, less often when that takes long, however many ask. */
export class MetricsPage {
  readonly #registry: Registry;
  readonly #clock: Clock;
  #readAt = Number.NEGATIVE_INFINITY;
  #lastsMs = METRICS_MS;
  #page: Promise<PrecompressedText> | null = null;

  constructor(registry: Registry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  current(): Promise<PrecompressedText> {
    const now = this.#clock.now();
    if (this.#page !== null && now - this.#readAt < this.#lastsMs) return this.#page;
    this.#readAt = now;
    const page = this.#read();
    this.#page = page;
    page.catch(() => {
      if (this.#page === page) this.#page = null;
    });
    return page;
  }

  async #read(): Promise<PrecompressedText> {
    // As `metrics()` of the registry writes it, but other requests get their turn between the metrics.
    const slices = new WorkSlices(this.#clock, null);
    const began = this.#clock.now();
    const parts: string[] = [];
    slices.begin();
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (slices.isOver) await slices.next();
      parts.push(await this.#registry.getSingleMetricAsString(name));
    }
    this.#lastsMs = Math.max(METRICS_MS, (this.#clock.now() - began) / METRICS_SHARE);
    const text = `${parts.join('\n\n')}\n`;
    return new PrecompressedText(() => text, this.#registry.contentType);
  }
}
