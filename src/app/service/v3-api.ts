import type { HttpApi } from '#api/http/http-api.js';
import { type V3Context, v3Context } from '#api/v3/context.js';
import { v3Description } from '#api/v3/description.js';
import type { V3Switches } from '#api/v3/switches.js';
import type { NetworkIndex } from '#app/service/network-index.js';
import type { OpenNetwork } from '#app/service/open-network.js';

/** API v3 of a network that has an index. */
export function v3Api(network: OpenNetwork, index: NetworkIndex, isTestnet: boolean): HttpApi<V3Context, V3Switches> {
  return {
    ...v3Description,
    headSeqno: () => index.version,
    freshness: () => index.freshness(),
    context: (request) => {
      const { chain, contracts } = network.poolOf(request.group).v2;
      const timeoutMs = request.switches.timeoutMs ?? index.queryTimeoutMs;
      return v3Context(
        { index: index.reads, chain, contracts, isTestnet },
        { ...request, switches: { ...request.switches, timeoutMs } },
      );
    },
  };
}
