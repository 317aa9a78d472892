import type { AnyHttpApi, HttpNetwork, NetworkHealth } from '#api/http/http-api.js';
import { isTestnet } from '#app/config/networks.js';
import { startTogether } from '#app/service/closers.js';
import type { NetworkIndexOptions } from '#app/service/index-options.js';
import { localnetApi } from '#app/service/localnet-api.js';
import { type NetworkIndex, openNetworkIndex } from '#app/service/network-index.js';
import { type NetworkOptions, type OpenNetwork, openNetwork, PUBLIC } from '#app/service/open-network.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { TouchedAccounts } from '#app/service/touched-accounts.js';
import { v2Api } from '#app/service/v2-api.js';
import { v3Api } from '#app/service/v3-api.js';
import { withField } from '#app/service/with-field.js';
import type { Address } from '#formats/address/address.js';
import type { LocalNode } from '#localnet/node/local-node.js';
import type { RoundCounts } from '#localnet/node/node-messages.js';

/** How the index of a network is used; its network is told otherwise. */
export type IndexPlan = Omit<NetworkIndexOptions, 'config'>;

export interface ServedNetworkOptions extends NetworkOptions {
  /** `null` for a network without an index, or why there is none, to be told. */
  readonly index: IndexPlan | string | null;
  readonly hosts: readonly string[];
  /** `null` for a network that runs elsewhere. */
  readonly localNode: ServedLocalNode | null;
}

/** A network that runs in this process. */
export interface ServedLocalNode {
  readonly node: LocalNode;
  /** What was made since it started. */
  readonly counts: () => RoundCounts;
  /** Whether it is a fork, the accounts of which come when they are needed. */
  readonly isFork: boolean;
}

/** A network with everything that is served of it. */
export interface ServedNetwork {
  readonly open: OpenNetwork;
  /** `null` where there is none. */
  readonly index: NetworkIndex | null;
  readonly http: HttpNetwork;
  close(): Promise<void>;
}

const NO_DATABASE = 'no database was given';

/**
 * Opens a network, and its index if it has one.
 *
 * @throws as {@link openNetwork} and {@link openNetworkIndex}
 */
export function openServedNetwork(options: ServedNetworkOptions, modules: Surroundings): Promise<ServedNetwork> {
  return startTogether(async (closers) => {
    const { network, index: plan, hosts, localNode } = options;
    const accounts = localNode?.isFork === true ? new TouchedAccounts(localNode.node) : null;
    const brought = accounts === null ? {} : { bringAccount: (address: Address) => accounts.bring(address) };
    const open = await openNetwork({ ...options, ...brought }, modules);
    closers.add(() => open.close());
    const logger = withField(modules.logger, 'network', network.name);
    let index: NetworkIndex | null = null;
    if (plan === null || typeof plan === 'string') {
      logger.info('there is no index, so API v3 is not served', { reason: plan ?? NO_DATABASE });
    } else {
      const source = open.pools.get(PUBLIC)!;
      const { config } = network;
      index = await openNetworkIndex({ ...plan, config, isFork: accounts !== null }, { ...modules, logger, source });
      closers.add(() => index?.close());
    }
    const apis: AnyHttpApi[] = index?.role === 'indexer' ? [] : [v2Api(open)];
    if (index !== null && index.role !== 'indexer') apis.push(v3Api(open, index, await isTestnet(network.config)));
    if (localNode !== null) apis.push(localnetApi(localNode.node, open));
    const reason = typeof plan === 'string' ? plan : NO_DATABASE;
    return {
      open,
      index,
      http: {
        name: network.name,
        hosts,
        apis,
        health: () => (index === null ? withoutIndex(open.health(), reason) : withIndex(open.health(), index)),
        headSeqno: () => open.poolOf(null).lite.headSeqno,
      },
      close: () => closers.close(),
    };
  });
}

function withoutIndex(health: NetworkHealth, reason: string): NetworkHealth {
  return { ...health, details: { ...health.details, index: `none: ${reason}` } };
}

/** An index that cannot be read does not keep API v2 from answering; a process that only indexes has nothing else to do. */
function withIndex(health: NetworkHealth, index: NetworkIndex): NetworkHealth {
  const { readable, head_seqno, lag_seconds, missing_blocks } = index.figures();
  const indexProblem = index.problem();
  const problem =
    health.problem ?? (index.role === 'indexer' && indexProblem !== null ? `the index: ${indexProblem}` : null);
  const details = {
    index: readable ? 'readable' : 'unreadable',
    index_role: index.role,
    index_head_seqno: head_seqno,
    index_lag_seconds: lag_seconds,
    index_missing_blocks: missing_blocks,
    index_problem: indexProblem,
    ...writingDetails(index),
  };
  return { ...health, ready: problem === null, problem, details: { ...health.details, ...details } };
}

/** What a process tells that writes the index, or would. */
function writingDetails(index: NetworkIndex): Readonly<Record<string, string | number | null>> {
  const writing = index.writing();
  if (writing === null) return {};
  const { leader, fill_left } = writing;
  return { index_writer: leader ? 'leader' : 'stand-by', index_fill_missing_blocks: fill_left };
}
