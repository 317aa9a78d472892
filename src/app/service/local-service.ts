import type { ForkSpec } from '#app/config/fork-spec.js';
import { startTogether } from '#app/service/closers.js';
import { type RunningLocalNetwork, startLocalNetwork } from '#app/service/local-network.js';
import { openFork } from '#app/service/open-fork.js';
import { Restartable, type Running } from '#app/service/restartable.js';
import type { IndexPlan } from '#app/service/served-network.js';
import { type RunningService, type ServicePlan, startService } from '#app/service/start-service.js';
import type { Surroundings } from '#app/service/surroundings.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { chainOrigin } from '#localnet/ledger/chain-origin.js';
import { requireSnapshot, resetChain, restoreSnapshot } from '#localnet/ledger/snapshots.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LocalNode, RunningNode } from '#localnet/node/local-node.js';

/** Which chain an index follows. */
export interface FollowedChain {
  readonly zerostate: BlockId;
  readonly incarnation: string;
}

export interface LocalServiceOptions {
  readonly name: string;
  readonly version: string;
  /** Where chain and snapshots are kept. */
  readonly folder: string;
  readonly blockTimeMs: number;
  readonly paused: boolean;
  readonly liteserverPort: number;
  readonly signatures: 'simplex' | 'ordinary';
  readonly listen: { readonly host: string; readonly port: number };
  readonly settings: ServicePlan['settings'];
  /** What is to be forked; null for a network that stands alone, or goes on as what it is. */
  readonly fork: ForkSpec | null;
  /** The index of a chain, or why there is none. */
  readonly indexOf: (chain: FollowedChain) => IndexPlan | string;
}

/** A network and all that is served of it. */
interface RunningParts extends Running {
  readonly local: RunningLocalNetwork;
  readonly service: RunningService;
  /** Where it listens: the port stays when it is begun anew. */
  readonly url: string;
}

/** A local network with its APIs, which goes on when its chain is exchanged for another. */
export interface LocalService {
  readonly parts: () => RunningParts;
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** @throws as startLocalNetwork and startService */
export async function startLocalService(options: LocalServiceOptions, modules: Surroundings): Promise<LocalService> {
  const { name, folder, blockTimeMs, paused, liteserverPort, signatures, version, settings } = options;
  let { port } = options.listen;
  let restartable: Restartable<RunningParts> | null = null;

  /** Ends everything that follows the chain, and begins anew; the answer to who asked for it goes out before. */
  const change = async (command: string, work: () => void): Promise<void> => {
    if (restartable?.change(async () => work()) !== true) throw localnetErrors['other-command']({ command });
  };

  /** What a new chain forks: what was said at the start, after a reset the same block once more. */
  let given = options.fork;
  let isFirst = true;

  const start = (): Promise<RunningParts> =>
    startTogether(async (closers) => {
      const chain = chainOrigin(folder);
      const wanted = isFirst || chain === null ? given : null;
      const fork = await openFork({ given: wanted, folder, chain, dataFolder: settings.data }, modules);
      closers.add(() => fork?.close());
      isFirst = false;
      given = fork === null ? null : { source: fork.origin.source, seqno: fork.origin.block.seqno };
      const local = await startLocalNetwork(
        { name, folder, blockTimeMs, paused, liteserverPort, signatures, fork },
        modules,
      );
      closers.add(() => local.close());
      const service = await startService(
        {
          version,
          networks: [local.network],
          groups: [],
          listeners: [{ address: { host: options.listen.host, port }, networks: [name] }],
          hostOf: [],
          indexes: new Map([[name, options.indexOf(local.address)]]),
          localNodes: new Map([
            [name, { node: changeableNode(local.node, folder, change), counts: local.counts, isFork: fork !== null }],
          ]),
          keepsKeyBlocks: false,
          settings,
        },
        modules,
      );
      closers.add(() => service.close());
      const [http] = service.servers;
      port = Number(new URL(http!.url).port);
      return { local, service, url: http!.url, ended: local.ended, close: () => closers.close() };
    });

  const running = await Restartable.begin(start);
  restartable = running;
  return { parts: () => running.current, ended: running.ended, close: () => running.close() };
}

/** The node with what takes more than the node: it is ended, its folder changed, and all begun anew. */
function changeableNode(
  node: RunningNode,
  folder: string,
  change: (command: string, work: () => void) => Promise<void>,
): LocalNode {
  const changes: Pick<LocalNode, 'loadSnapshot' | 'reset'> = {
    loadSnapshot: async (name) => {
      requireSnapshot(folder, name);
      await change('the load of a snapshot', () => restoreSnapshot(folder, name));
    },
    reset: () => change('a reset', () => resetChain(folder)),
  };
  return new Proxy(node as LocalNode, {
    get: (target, method) =>
      Object.hasOwn(changes, method) ? Reflect.get(changes, method) : Reflect.get(target, method),
  });
}
