/**
 * Liteservers: ADNL connections, a pool that chooses servers and survives bad ones, and verified reads of a network.
 *
 * @module lite
 */
import { randomBytes } from 'node:crypto';
import type { GlobalConfig } from '#drivers/lite/global-config.js';
import type { LitePoolModules, PoolSettings } from '#drivers/lite/options.js';
import { LitePool } from '#drivers/lite/pool.js';
import { systemClock } from '#kernel/clock.js';
import { type Logger, silentLogger } from '#kernel/logger.js';
import { Chain, type ChainOptions } from '#services/chain/chain.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { KeyBlockFile, KeyBlockMemory } from '#services/chain/key-blocks.js';

export { type AdnlClient, connectAdnl, type QueryOptions } from '#drivers/adnl/client.js';
export { adnlErrors } from '#drivers/adnl/errors.js';
export type { RandomBytes } from '#drivers/adnl/keys.js';
export { type AdnlMetrics, createAdnlMetrics } from '#drivers/adnl/metrics.js';
export type { AdnlClientOptions, AdnlModules, ConnectionOptions } from '#drivers/adnl/options.js';
export { liteErrors } from '#drivers/lite/errors.js';
export {
  type GlobalConfig,
  type LiteServerAddress,
  type MasterchainRange,
  parseGlobalConfig,
  type ServerSlice,
  type SliceShard,
} from '#drivers/lite/global-config.js';
export type { LiteRequest, LiteSource, Need } from '#drivers/lite/lite-source.js';
export type { PoolMetrics, ServerMetrics } from '#drivers/lite/metrics.js';
export type { LitePoolModules, LitePoolOptions, PoolSettings } from '#drivers/lite/options.js';
export { LitePool } from '#drivers/lite/pool.js';
export type { ServerHealthState } from '#drivers/lite/server-health.js';
export { type CancelSchedule, type Clock, systemClock } from '#kernel/clock.js';
export { type Logger, silentLogger } from '#kernel/logger.js';
export * from '#kernel/tern-error.js';
export type { AccountStateOptions, AccountStateRead, HistoryOptions, HistoryRead } from '#services/chain/accounts.js';
export type { FoundBlockRead } from '#services/chain/block-lookup.js';
export type { BlockDataRead, BlockFileRead, HeaderRead, ZerostateRead } from '#services/chain/blocks.js';
export { Chain, type ChainModules, type ChainOptions } from '#services/chain/chain.js';
export type { ChainReads } from '#services/chain/chain-reads.js';
export { chainErrors } from '#services/chain/errors.js';
export {
  KeyBlockFile,
  type KeyBlockFileOptions,
  KeyBlockMemory,
  type KeyBlockStore,
} from '#services/chain/key-blocks.js';
export type {
  ConfigParamsRead,
  ConfigRead,
  LibrariesRead,
  QueueSizeRead,
  QueueSizesRead,
  ShardOptions,
  ShardRead,
  ShardsRead,
} from '#services/chain/masterchain-state.js';
export type {
  BlockProofOptions,
  BlockProofRead,
  ShardBlockProofRead,
  SignaturesRead,
} from '#services/chain/proofs.js';
export type { ProvenBlock } from '#services/chain/proven-blocks.js';
export type { BlockAt, ReadAt, ReadOptions, ReadResult } from '#services/chain/read-context.js';
export type { SentExternalMessage } from '#services/chain/send.js';
export type {
  AllTransactionsRead,
  BlockTransactionEntry,
  BlockTransactionId,
  TransactionIdsRead,
  TransactionListRead,
  TransactionPageOptions,
  TransactionPageRead,
  TransactionRead,
  TransactionsRead,
} from '#services/chain/transactions.js';
export type { ChainHead } from '#services/chain/trust.js';

/** Dependencies of {@link LitePool} and {@link connectAdnl}: the clocks and the randomness of this machine. */
export const systemModules: Pick<LitePoolModules, 'clock' | 'unixTimeMs' | 'random' | 'randomBytes'> = {
  clock: systemClock,
  unixTimeMs: Date.now,
  random: Math.random,
  randomBytes,
};

/** Options of {@link openChain}. */
export interface OpenChainOptions extends Partial<PoolSettings> {
  /**
   * File for the proven key blocks, so that the next start continues from the last one. It is used by one process at a
   * time. Default: in memory only.
   */
  readonly keyBlockFile?: string;
  readonly chain?: Omit<ChainOptions, 'zero_state' | 'init_block'>;
  readonly logger?: Logger;
}

/** Verified reads of a network, and the pool of liteservers that they use. */
export interface OpenedChain {
  readonly chain: ChainReads;
  readonly pool: LitePool;
  /** Closes all connections; reads in flight fail. */
  close(): Promise<void>;
}

/**
 * Opens verified reads of the network of a global config. Returns before the first connection is established: reads wait
 * for it.
 *
 * @throws chain/key-block-network, chain/key-block-file, lite/bad-option, chain/parameter
 */
export async function openChain(config: GlobalConfig, options: OpenChainOptions = {}): Promise<OpenedChain> {
  const { keyBlockFile, chain: chainOptions, logger = silentLogger, ...settings } = options;
  const { zeroState: zero_state, initBlock: init_block } = config;
  const pool = new LitePool({ ...settings, servers: config.servers }, { ...systemModules, logger });
  const keyBlocks =
    keyBlockFile === undefined
      ? new KeyBlockMemory()
      : new KeyBlockFile({ path: keyBlockFile, zero_state }, { logger });
  const chain = new Chain(
    { ...chainOptions, zero_state, init_block },
    { source: pool, clock: systemClock, keyBlocks, logger },
  );
  await chain.start();
  pool.start();
  return {
    chain,
    pool,
    async close() {
      await pool.close();
      await chain.close();
    },
  };
}
