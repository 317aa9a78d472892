import type { V2Network } from '#api/v2/context.js';
import {
  type ChainSource,
  type ChainSourceModules,
  type ChainSourceOptions,
  openChainSource,
} from '#app/service/chain-source.js';
import { startTogether } from '#app/service/closers.js';
import { ForkedContracts } from '#app/service/forked-contracts.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { Contracts } from '#services/contracts/contracts.js';
import { ContractService } from '#services/contracts/contracts-service.js';
import type { GetMethodsMode } from '#services/contracts/options.js';

/** How a group of liteservers is used. */
export interface LiteserverPoolOptions extends ChainSourceOptions {
  readonly getMethods: GetMethodsMode;
}

export interface LiteserverPoolModules extends ChainSourceModules {
  readonly tvm: TvmPool;
}

/** Liteservers of a network, and verified reads through them. */
export interface LiteserverPool extends ChainSource {
  readonly contracts: ContractService;
  /** As API v2 sees the network through these servers. */
  readonly v2: V2Network;
}

/**
 * Connects to liteservers and begins to prove the head; does not wait for either.
 *
 * @throws chain/key-block-file, chain/key-block-network, lite/bad-option, contracts/option
 */
export function openLiteserverPool(
  options: LiteserverPoolOptions,
  modules: LiteserverPoolModules,
): Promise<LiteserverPool> {
  return startTogether(async (closers) => {
    const { getMethods, deadlineMs } = options;
    const { clock, unixTimeMs, logger, tvm } = modules;
    const source = await openChainSource(options, modules);
    closers.add(() => source.close());
    const { lite, chain } = source;
    const contracts = new ContractService({ getMethods, deadlineMs }, { chain, tvm, askNode: lite, clock, logger });
    const servers = () =>
      lite.metrics().servers.map(({ server, state, is_archive, seqno }) => ({
        name: server,
        alive: state === 'healthy',
        archival: is_archive,
        seqno,
      }));
    const v2 = { chain, contracts: forked(contracts, chain, modules), servers, now: unixTimeMs };
    return { ...source, contracts, v2, close: () => closers.close() };
  });
}

/** Contracts as API v2 asks them: of a fork, they may have to be brought. */
function forked(contracts: Contracts, chain: ChainReads, { bringAccount }: LiteserverPoolModules): Contracts {
  if (bringAccount === undefined) return contracts;
  return new ForkedContracts(contracts, bringAccount, (seqno, { deadlineMs, signal }) =>
    chain.waitForHead(seqno, {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}
