import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';

const WorkerState = Type.Object(
  {
    ls_index: Type.Integer({ description: 'Number of the server in the configuration.' }),
    id: Type.String({ description: 'Name of the server.' }),
    is_working: Type.Boolean({ description: 'It answers, and its newest block is not old.' }),
    is_archival: Type.Boolean({ description: 'It has the history from the start.' }),
    is_enabled: Type.Boolean({ description: 'It is asked at all.' }),
    last_block: Type.Integer({ description: 'Number of its newest masterchain block.' }),
  },
  { additionalProperties: false },
);

const getWorkerState = v2Endpoint({
  name: 'getWorkerState',
  verbs: ['GET', 'POST'],
  tag: 'Nodes',
  unpublished: true,
  summary: 'The servers behind this one',
  description: 'For each liteserver, by its number: whether it answers, and how far it is.',
  params: Type.Object({}, { additionalProperties: false }),
  result: Type.Record(Type.String(), WorkerState),
  statuses: [],
  freshness: 'none',
  handle: async (_params, { network }) =>
    Object.fromEntries(
      network.servers().map(({ name, alive, archival, seqno }, index) => [
        String(index),
        {
          ls_index: index,
          id: name,
          is_working: alive,
          is_archival: archival,
          is_enabled: true,
          last_block: seqno,
        },
      ]),
    ),
});

/** Methods about the servers of the network. */
export const nodeEndpoints: readonly AnyEndpoint<V2Context>[] = [getWorkerState];
