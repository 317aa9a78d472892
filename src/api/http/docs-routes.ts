import type { FastifyInstance } from 'fastify';
import type { HttpNetwork } from '#api/http/http-api.js';
import type { NetworkChoice } from '#api/http/network-choice.js';

export function addDocsRoutes(
  _app: FastifyInstance,
  _subjects: { networks: readonly HttpNetwork[]; choice: NetworkChoice; apiVersion: string },
): void {}
