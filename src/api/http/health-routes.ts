import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import type { HttpNetwork } from '#api/http/http-api.js';
import { JSON_TYPE } from '#api/http/json-type.js';

/** What the routes of health tell about. */
export interface HealthSubjects {
  readonly networks: readonly HttpNetwork[];
  readonly metrics: Registry;
  readonly apiVersion: string;
  /** Whether the server is about to end. */
  isClosing(): boolean;
}

/** `/healthz`: the process runs. `/readyz`, `/readyz/NETWORK`: it can answer. `/metrics`: for Prometheus. */
export function addHealthRoutes(app: FastifyInstance, subjects: HealthSubjects): void {
  const { networks, metrics, apiVersion } = subjects;
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
      networks: Object.fromEntries(health),
    });
  };
  route('/readyz', ready);
  route('/readyz/:network', ready);
  route('/metrics', async (reply) => {
    const text = await metrics.metrics();
    return reply.header('Content-Type', metrics.contentType).send(text);
  });
}

function sendJson(reply: FastifyReply, status: number, value: unknown): FastifyReply {
  return reply.code(status).header('Content-Type', JSON_TYPE).send(JSON.stringify(value));
}
