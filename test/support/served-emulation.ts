import { Registry } from 'prom-client';
import { startHttpServer } from '#api/http/server.js';
import { v3Context } from '#api/v3/context.js';
import { emulateDescription } from '#api/v3/emulate-api.js';
import { systemEnvironment } from '#app/cli/environment.js';
import { networkEmulation } from '#app/service/emulation.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { silentLogger } from '#kernel/logger.js';
import type { TraceRequest } from '#services/emulation/emulated-trace.js';
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

export async function serveEmulation(folder: string, tvm: TvmPool): Promise<ServedEmulation> {
  const { chain, serviceOver } = replayedContracts(folder, tvm);
  const contracts = serviceOver({ cpuMs: DEADLINE_MS, traceCpuMs: DEADLINE_MS, deadlineMs: DEADLINE_MS });
  const { emulateTrace, meaningOf } = networkEmulation({ chain, contracts }, []);
  const served = { as: {} as Partial<TraceRequest> };
  const network = {
    ...{ index: new FakeIndex({}), chain, contracts, isTestnet: false },
    emulation: {
      emulateTrace: (request: TraceRequest, options: object) => emulateTrace({ ...request, ...served.as }, options),
    },
    meanings: { meaningOf },
  };
  const own = { timeoutMs: null, noAddressBook: false, noMetadata: false, debug: false };
  const api = {
    ...emulateDescription,
    context: (request: Parameters<typeof v3Context>[1]) =>
      v3Context(network, { ...request, switches: { ...own, ...request.switches } }),
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
