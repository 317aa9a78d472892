import type { HttpApi } from '#api/http/http-api.js';
import type { V2Context } from '#api/v2/context.js';
import { accountEndpoints } from '#api/v2/routes/accounts.js';
import { blockEndpoints } from '#api/v2/routes/blocks.js';
import { configurationEndpoints } from '#api/v2/routes/configuration.js';
import { locateEndpoints } from '#api/v2/routes/locate.js';
import { nodeEndpoints } from '#api/v2/routes/nodes.js';
import { runMethodEndpoints } from '#api/v2/routes/run-method.js';
import { sendEndpoints } from '#api/v2/routes/send.js';
import { transactionEndpoints } from '#api/v2/routes/transactions.js';
import { utilityEndpoints } from '#api/v2/routes/utilities.js';
import { V2_TYPE_NAMES } from '#api/v2/type-names.js';
import type { OpenNetwork } from '#app/service/open-network.js';

/** API v2 of a network. */
export function v2Api(network: OpenNetwork): HttpApi<V2Context> {
  return {
    prefix: '/api/v2',
    title: 'TON HTTP API v2',
    version: '2.1.1',
    description: '',
    endpoints: [
      ...accountEndpoints,
      ...blockEndpoints,
      ...configurationEndpoints,
      ...locateEndpoints,
      ...nodeEndpoints,
      ...runMethodEndpoints,
      ...sendEndpoints,
      ...transactionEndpoints,
      ...utilityEndpoints,
    ],
    typeNames: V2_TYPE_NAMES,
    context: ({ group, read, header }) => ({ network: network.poolOf(group).v2, read, header }),
  };
}
