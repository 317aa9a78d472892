import type { HttpApi } from '#api/http/http-api.js';
import type { V2Context } from '#api/v2/context.js';
import { v2Endpoints, v2Tags } from '#api/v2/endpoints.js';
import { V2_TYPE_NAMES } from '#api/v2/type-names.js';
import type { OpenNetwork } from '#app/service/open-network.js';

/** The published document that this API follows. */
const DOCUMENT_VERSION = '2.1.1';

const DESCRIPTION = `The state of a TON network over HTTP: accounts, transactions, blocks, get-methods, messages.

Everything is read from liteservers and proven before it is answered. Reads take GET with a query or POST with a JSON object;
the same methods are there as JSON-RPC. Each answer has \`ok\`, and \`result\` or \`error\` with \`code\`.`;

/** API v2 as its document describes it. */
export const v2Description = {
  prefix: '/api/v2',
  title: 'TON HTTP API v2',
  version: DOCUMENT_VERSION,
  description: DESCRIPTION,
  tags: v2Tags,
  endpoints: v2Endpoints,
  typeNames: V2_TYPE_NAMES,
} as const;

/** API v2 of a network. */
export function v2Api(network: OpenNetwork): HttpApi<V2Context> {
  return {
    ...v2Description,
    context: ({ group, read, header }) => ({ network: network.poolOf(group).v2, read, header }),
  };
}
