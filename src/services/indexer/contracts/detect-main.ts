// The detection thread: detects contracts, over database connections and with TVM workers of its own.
import { DNS_ROOTS } from '#domain/contracts/dns-domain.js';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { Database } from '#drivers/store/database.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { parseAddress } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { BEHIND, lowerPriority, ownThreadCpuTime } from '#kernel/os-thread.js';
import type { PlainError } from '#kernel/tern-error.js';
import { plainError } from '#kernel/worker-channel.js';
import { forwardedLogger, WorkerSide } from '#kernel/worker-side.js';
import { ContractCodes, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import { ConfigsAtBlock, ContractMethodRunner } from '#services/indexer/contracts/contract-methods.js';
import type { DetectContract, DetectionChain } from '#services/indexer/contracts/detect-protocol.js';
import { ContractDetector, DetectLoop, PastContractReader } from '#services/indexer/contracts/detector.js';
import { indexerErrors } from '#services/indexer/errors.js';

lowerPriority(ownThreadCpuTime(), BEHIND.worker);

const side = new WorkerSide<DetectContract>({
  unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
});
const { url, pollMs, tvmWorkers, selected, dnsRoots } = side.start;
const { notify } = side;
const chain: DetectionChain = side.host;

/** Queue timeout of the TVM pool: a run may wait for long behind others; each run has its own time limit. */
const QUEUE_MS = 3_600_000;

/**
 * Get-methods of interfaces take a few milliseconds. What takes long is limited, and waits in a lane of its own for no longer than
 * this, because a batch is written when all of its contracts are detected or postponed.
 */
const CPU_MS = 500;
const SLOW_QUEUE_MS = 2_000;
const REMEMBER_MS = 600_000;

let tvm: Promise<TvmPool> | null = null;

/** Started on demand: 60 MB per worker, not needed while no code must be run. */
function startTvm(): Promise<TvmPool> {
  tvm ??= (async () => {
    const limits = {
      queueTimeoutMs: QUEUE_MS,
      slowQueueTimeoutMs: SLOW_QUEUE_MS,
      rememberMs: REMEMBER_MS,
      cpuMs: CPU_MS,
    };
    const pool = new TvmPool({ workers: tvmWorkers, slowWorkers: 1, ...limits }, { clock: systemClock });
    await pool.start();
    return pool;
  })();
  tvm.catch(() => {
    tvm = null;
  });
  return tvm;
}

const plainOf = (error: unknown): PlainError =>
  plainError(error, (problem, cause) => indexerErrors.unexpected({ problem }, cause));
const clock = systemClock;
const unixTime = () => Math.floor(Date.now() / 1000);
const logger = forwardedLogger(notify);

void side.serve(async () => {
  // The database need not be available when the thread starts: connections are opened when they are used.
  const database = await Database.open({ url, writeConnections: 3, readConnections: 1 }, { clock });
  const libraries = new PublishedLibraryCache(chain, clock);
  const codes = new ContractCodes(libraries);
  const configs = new ConfigsAtBlock(database, chain, clock);
  const runs = new ContractMethodRunner({ tvm: startTvm, libraries, configAt: (state) => configs.at(state) });
  const roots = dnsRoots.map(({ collection, zone }) => ({ zone, collection: parseAddress(collection).address }));
  const kinds = new CandidateInterfaces(contractInterfaces([...DNS_ROOTS, ...roots]));
  const modules = {
    ...{ database, clock, unixTime, chain, codes, libraries, runs, logger },
    kindsOf: (codeHash: string, methodIds: readonly number[] | null) => kinds.of(codeHash, methodIds),
    storesUnindexed: !selected,
    onPostponed: (error: unknown) => notify.postponed(plainOf(error)),
  };
  const loop = new DetectLoop({
    ...{ database, clock, unixTime, pollMs },
    detector: new ContractDetector(modules),
    past: new PastContractReader(modules),
    onDetected: (sums) => notify.detected(sums),
    onQueued: (queued) => notify.queued(queued),
    onIdle: (number, queued, soon) => notify.idle(number, queued, soon),
    onTrouble: (error) => notify.trouble(plainOf(error)),
  });
  const running = loop.run();
  return {
    ready: undefined,
    methods: { setPace: (pace) => loop.setPace(pace), wake: (number) => loop.wake(number) },
    close: async () => {
      loop.stop();
      await running;
      await Promise.all([database.close(), tvm?.then((pool) => pool.close()).catch(() => {})]);
    },
  };
});
