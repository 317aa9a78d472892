import type { NamedNetwork } from '#app/config/networks.js';
import { type Environment, withClosers } from '#app/service/environment.js';
import { parseGlobalConfig } from '#drivers/lite/global-config.js';
import { TvmPool } from '#drivers/tvm/tvm-pool.js';
import type { RunGetMethod } from '#localnet/liteserver/lite-handler.js';
import { globalConfig, startLiteserver } from '#localnet/liteserver/server.js';
import { openReplay, type ReplayLedger } from '#localnet/replay/replay-ledger.js';

/** A recorded chain, served by a liteserver in this process. */
export interface ReplayedNetwork {
  readonly network: NamedNetwork;
  readonly lastSeqno: number;
  /** Unix time of the last block in seconds. */
  readonly lastTime: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/**
 * Serves the chain in a folder as a liteserver on a free local port.
 * @throws replay/*, adnl/listen-failed
 */
export async function startReplayedNetwork(
  options: { readonly name: string; readonly folder: string },
  modules: Environment,
): Promise<ReplayedNetwork> {
  return startLedgerNetwork(openReplay(options.folder, { to: null, head: null }), options, modules);
}

/**
 * Serves a chain that was read from a folder before; see {@link startReplayedNetwork}.
 *
 * @throws adnl/listen-failed
 */
export function startLedgerNetwork(
  ledger: ReplayLedger,
  { name, folder }: { readonly name: string; readonly folder: string },
  modules: Environment,
): Promise<ReplayedNetwork> {
  return withClosers(async (closers) => {
    const { clock, unixTimeMs, randomBytes } = modules;
    const methods = onDemand(modules);
    closers.add(() => methods.close());
    const server = await startLiteserver(
      { host: HOST, port: 0, seed: randomBytes(32) },
      {
        ledger,
        clock,
        unixTime: () => Math.floor(unixTimeMs() / 1000),
        randomBytes,
        runGetMethod: methods.run,
      },
    );
    closers.add(() => server.close());
    const config = globalConfig({ host: HOST, port: server.port, publicKey: server.publicKey }, ledger.zerostate);
    return {
      network: { name, source: folder, config: parseGlobalConfig(config, folder) },
      lastSeqno: ledger.lastSeqno,
      lastTime: ledger.timeOf(ledger.lastSeqno),
      close: () => closers.close(),
    };
  });
}

/** A TVM pool that starts with the first get-method: with default settings there is none. */
function onDemand(modules: Environment): { readonly run: RunGetMethod; close(): Promise<void> } {
  let pool: Promise<TvmPool> | null = null;
  const start = async (): Promise<TvmPool> => {
    const made = new TvmPool({ workers: 1 }, modules);
    await made.start();
    return made;
  };
  return {
    run: async (run) => {
      pool ??= start();
      return (await pool).runInContext(run);
    },
    close: async () => (await pool)?.close(),
  };
}
