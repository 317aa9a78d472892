import type { FastifyReply } from 'fastify';
import type { AnyHttpApi } from '#api/http/http-api.js';

/**
 * Says how new the data of an answer are, where the API knows.
 *
 * @param mcSeqno of the data of the answer; null: as new as all of the API
 */
export function addFreshness(reply: FastifyReply, api: AnyHttpApi | null, mcSeqno: number | null): void {
  const freshness = api?.freshness?.();
  if (freshness === undefined) return;
  reply.header('X-Tern-Mc-Seqno', String(mcSeqno ?? freshness.mcSeqno));
  if (freshness.lagMs !== null) reply.header('X-Tern-Lag-Ms', String(Math.round(freshness.lagMs)));
}
