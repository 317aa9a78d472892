import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { configParam } from '#formats/tlb/config/config-params.js';
import type { Clock } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import { isNotAvailable } from '#services/chain/read-context.js';
import type { ChainHead } from '#services/chain/trust.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { fetchOptions } from '#services/indexer/options.js';
import { RetryingReads } from '#services/indexer/retries.js';
import type { ZerostateFile } from '#services/indexer/write/batch-writer.js';

export interface ChainFactsModules {
  readonly chain: Pick<
    ChainReads,
    'head' | 'waitForHead' | 'blockId' | 'findBlock' | 'blockFile' | 'zerostate' | 'header' | 'shards'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
}

const WHOLE_WORKCHAIN = 1n << 63n;

/** Chain data that the indexer needs besides block bundles: head, zerostates, configuration. Every read is retried until it succeeds. */
export class ChainFacts {
  readonly #zerostate: BlockId;
  readonly #modules: ChainFactsModules;
  readonly #reads: RetryingReads;
  readonly #headWaitMs: number;
  readonly #versions = new Map<number, number>();

  constructor(zerostate: BlockId, modules: ChainFactsModules) {
    this.#zerostate = zerostate;
    this.#modules = modules;
    const options = fetchOptions({});
    this.#headWaitMs = options.headWaitMs;
    this.#reads = new RetryingReads(options, modules.clock, modules.logger);
  }

  /** The read that keeps failing; null: none. */
  get problem() {
    return this.#reads.problem;
  }

  /** The newest masterchain block. @throws chain/aborted */
  head(signal: AbortSignal): Promise<ChainHead> {
    const wanted = { name: () => 'the newest masterchain block', mc_seqno: 0 };
    return this.#reads.read(wanted, (options) => this.#modules.chain.head(options), signal);
  }

  /** The newest masterchain block, as soon as it has this seqno or a higher one. @throws chain/aborted */
  waitForHead(seqno: number, signal: AbortSignal): Promise<ChainHead> {
    const wanted = { name: () => `masterchain block ${seqno} or a newer one`, mc_seqno: seqno };
    const read = this.#modules.chain.waitForHead.bind(this.#modules.chain);
    return this.#reads.read(wanted, (options) => read(seqno, { ...options, deadlineMs: this.#headWaitMs }), signal);
  }

  /** The proven id of a masterchain block; null when no server has it. @throws chain/aborted, indexer/chain-behind */
  async mcBlockId(mc_seqno: number, signal: AbortSignal): Promise<BlockId | null> {
    const wanted = { name: () => `masterchain block ${mc_seqno}`, mc_seqno };
    return this.#reads.read(
      wanted,
      async (options) => {
        try {
          return await this.#modules.chain.blockId(mc_seqno, options);
        } catch (error) {
          if (isNotAvailable(error)) return null;
          if (!isTernError(error, chainErrors['block-not-found'].code)) throw error;
          throw indexerErrors['chain-behind']({ mc_seqno, reason: String(error.data.reason) }, error);
        }
      },
      signal,
    );
  }

  /** Whether liteservers have the chain from its start: zerostate and first block. @throws chain/aborted */
  async reachesGenesis(signal: AbortSignal): Promise<boolean> {
    const { chain } = this.#modules;
    const wanted = { name: () => 'the start of the chain', mc_seqno: 1 };
    return this.#reads.read(
      wanted,
      async (options) => {
        try {
          await chain.zerostate(this.#zerostate, options);
          const id = await chain.blockId(1, options);
          await chain.blockFile({ id, gen_utime: null, mc_seqno: 1 }, options);
          return true;
        } catch (error) {
          if (isTernError(error) && (isNotAvailable(error) || error.class === 'not-found')) return false;
          throw error;
        }
      },
      signal,
    );
  }

  /** Seqno of the first masterchain block at or after a time (unix seconds); null when there is none yet. @throws chain/aborted */
  async seqnoAt(gen_utime: number, signal: AbortSignal): Promise<number | null> {
    const wanted = { name: () => `the masterchain block at unix time ${gen_utime}`, mc_seqno: 0 };
    return this.#reads.read(
      wanted,
      async (options) => {
        try {
          const query = { ...MASTERCHAIN_SHARD, by: 'utime', utime: gen_utime } as const;
          return (await this.#modules.chain.findBlock(query, options)).block.seqno;
        } catch (error) {
          if (isTernError(error) && (isNotAvailable(error) || error.class === 'not-found')) return null;
          throw error;
        }
      },
      signal,
    );
  }

  /** The global version (config parameter 8) set by a key block. @param key_block masterchain seqno; 0: the zerostate */
  async globalVersion(key_block: number, signal: AbortSignal): Promise<number> {
    const known = this.#versions.get(key_block);
    if (known !== undefined) return known;
    const wanted = { name: () => `the configuration of key block ${key_block}`, mc_seqno: key_block };
    const version = await this.#reads.read(
      wanted,
      async (options) => {
        const { chain } = this.#modules;
        if (key_block === 0) {
          const { state } = await chain.zerostate(this.#zerostate, options);
          return configParam(state.state.custom!.value.config.config, 8)?.version ?? 0;
        }
        const id = await chain.blockId(key_block, options);
        const { header } = await chain.blockFile({ id, gen_utime: null, mc_seqno: key_block }, options);
        const { config } = header.block.extra.value.custom!.value;
        return config === null ? 0 : (configParam(config.config, 8)?.version ?? 0);
      },
      signal,
    );
    this.#versions.set(key_block, version);
    return version;
  }

  /** The zerostates of all workchains that exist from the start of the chain. */
  async zerostates(signal: AbortSignal): Promise<readonly ZerostateFile[]> {
    const { chain } = this.#modules;
    const read = (id: BlockId) => {
      const wanted = { name: () => `the zerostate of workchain ${id.workchain}`, mc_seqno: 1 };
      return this.#reads.read(wanted, (options) => chain.zerostate(id, options), signal);
    };
    const masterchain = await read(this.#zerostate);
    const found = [masterchain];
    const workchains = configParam(masterchain.state.state.custom!.value.config.config, 12);
    const { shards } = await this.#reads.read(
      { name: () => 'the shards of masterchain block 1', mc_seqno: 1 },
      (options) => chain.shards({ ...options, at: 1 }),
      signal,
    );
    for (const [workchain, { zerostate_root_hash, zerostate_file_hash }] of workchains ?? []) {
      const tops = shards.filter(({ block }) => block.workchain === workchain);
      if (tops.length === 0) continue;
      // A zerostate that masterchain block 1 lists as shard top is proven by that.
      if (tops.some(({ block }) => block.seqno > 0)) await this.#proveFirst(workchain, signal);
      const hashes = { root_hash: zerostate_root_hash, file_hash: zerostate_file_hash };
      found.push(await read({ workchain, shard: WHOLE_WORKCHAIN, seqno: 0, ...hashes }));
    }
    return found.map(({ block, gen_utime, data }) => ({ workchain: block.workchain, gen_utime, data: data.slice() }));
  }

  /** The first block of a workchain names its zerostate and thereby proves it. */
  async #proveFirst(workchain: number, signal: AbortSignal): Promise<void> {
    const at = { workchain, shard: WHOLE_WORKCHAIN, seqno: 1 };
    const wanted = { name: () => `the first block of workchain ${workchain}`, mc_seqno: 1 };
    await this.#reads.read(wanted, (options) => this.#modules.chain.header({ ...options, at }), signal);
  }
}
