import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import type { Chain } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { ContractService } from '#services/emulation/contract-service.js';
import type { ContractOptions } from '#services/emulation/options.js';
import type { DirectSource } from '#test/support/direct-source.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { chainOver } from '#test/support/replayed-chain.js';

/** Contracts of a recorded chain, over a server that runs get methods, too. */
export interface ReplayedContracts {
  readonly ledger: ReplayLedger;
  readonly chain: Chain;
  readonly source: DirectSource;
  /** A service over the chain, some reads of which are others. */
  serviceOver(options?: ContractOptions, changes?: Partial<ChainReads>, unixTimeMs?: () => number): ContractService;
}

/** @param head the newest block that the server knows; null for the last one of the recording */
export function replayedContracts(folder: string, tvm: TvmPool, head: number | null = null): ReplayedContracts {
  const ledger = keptReplay(folder, { to: null, head });
  const context = {
    ledger,
    clock: new FakeClock(),
    unixTime: () => 1_800_000_000,
    runGetMethod: (run: Parameters<TvmPool['runInContext']>[0]) => tvm.runInContext(run),
  };
  const { chain, source } = chainOver(ledger.zerostate, [async (query) => (await answerLiteQuery(query, context))!]);
  return {
    ledger,
    chain,
    source,
    serviceOver(options = {}, changes = {}, unixTimeMs = Date.now) {
      const random = { randomBytes: (size: number) => new Uint8Array(size) };
      const modules = { tvm, lite: source, clock: systemClock, unixTimeMs, logger: silentLogger, ...random };
      return new ContractService(options, { ...modules, chain: changedReads(chain, changes) });
    },
  };
}

function changedReads(chain: Chain, changes: Partial<ChainReads>): ChainReads {
  return new Proxy<ChainReads>(chain, {
    get(_, name) {
      const changed: unknown = Reflect.get(changes, name);
      if (changed !== undefined) return changed;
      const read: unknown = Reflect.get(chain, name, chain);
      return typeof read === 'function' ? read.bind(chain) : read;
    },
  });
}

/** The small recorded chain of this repository: 380 masterchain blocks, the zerostate the only key block. */
export const DEV_CHAIN = new URL('../../vectors/dev-chain', import.meta.url).pathname;
