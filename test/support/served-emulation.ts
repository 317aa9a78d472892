import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { emulateDescription } from '#api/v3/emulate-api.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { networkEmulation } from '#app/service/apis.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { WorkSlices } from '#kernel/work-slices.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { TraceRequest } from '#services/emulation/emulated-trace.js';
import type { ContractOptions } from '#services/emulation/options.js';
import { openAccess } from '#test/support/fake-http-api.js';
import { FakeIndex } from '#test/support/fake-index.js';
import { replayedContracts } from '#test/support/replayed-contracts.js';

/** The emulation API over a recorded chain, with an index that knows nothing. */
export interface ServedEmulation {
  readonly url: string;
  /** Changes the requests to come: the time and seed that a recording had. */
  as: Partial<TraceRequest>;
  close(): Promise<void>;
}

const DEADLINE_MS = 60_000;

interface ServedEmulationOptions {
  /** False: the server has no index, not even one that knows nothing. */
  readonly hasIndex?: boolean;
  /** Bounds in place of such that no recorded message reaches. */
  readonly bounds?: ContractOptions;
  /** Reads in place of those of the chain. */
  readonly account?: (chain: ChainReads) => ChainReads['account'];
}

export async function serveEmulation(
  folder: string,
  tvm: TvmPool,
  { hasIndex = true, bounds = {}, account }: ServedEmulationOptions = {},
): Promise<ServedEmulation> {
  const replayed = replayedContracts(folder, tvm);
  const changes = account === undefined ? {} : { account: account(replayed.chain) };
  const contracts = replayed.serviceOver(
    { cpuMs: DEADLINE_MS, traceCpuMs: DEADLINE_MS, runTimeoutMs: DEADLINE_MS, deadlineMs: DEADLINE_MS, ...bounds },
    changes,
  );
  const chain = {
    account: changes.account ?? ((address, options) => replayed.chain.account(address, options)),
    head: (options) => replayed.chain.head(options),
  } satisfies Pick<ChainReads, 'account' | 'head'>;
  const { emulateTrace, meaningOf } = networkEmulation({ chain, contracts }, []);
  const served = { as: {} as Partial<TraceRequest> };
  const network = {
    ...{ chain, contracts },
    emulation: {
      emulateTrace: (request: TraceRequest, options: object) => emulateTrace({ ...request, ...served.as }, options),
    },
    meanings: { meaningOf },
  };
  const own = { timeoutMs: null, noAddressBook: false, noMetadata: false, debug: false };
  const api = {
    ...emulateDescription,
    context: (request: Parameters<typeof v3Context>[1]) => ({
      ...{ ...request, network, slices: new WorkSlices(systemClock, request.read.signal) },
      index: hasIndex
        ? v3Context(
            { index: new FakeIndex({}), isTestnet: false },
            { ...request, switches: { ...own, ...request.switches } },
          )
        : null,
    }),
  };
  const server = await startHttpServer(
    { host: '127.0.0.1', port: 0, version: '2.2.0', requestLog: 'none', deadlineMs: DEADLINE_MS },
    {
      ...systemEnvironment(silentLogger),
      access: openAccess,
      metrics: new Registry(),
      networks: [
        {
          name: 'recorded',
          hosts: [],
          apis: [api],
          health: () => ({ ready: true, problem: null, headSeqno: 1, headAgeMs: 0 }),
          headSeqno: () => 1,
        },
      ],
    },
  );
  return Object.assign(served, { url: server.url, close: () => server.close() });
}
