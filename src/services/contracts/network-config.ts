import { emulatorKnows } from '#drivers/tvm/emulator-version.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type ConfigDictionary, configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { MASTERCHAIN } from '#formats/tlb/shard-ident.js';
import { SingleFlight } from '#kernel/async/single-flight.js';
import type { Call } from '#services/chain/call.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ContractModules } from '#services/contracts/contract-modules.js';

/** The configuration in force after a masterchain block. */
export interface NetworkConfig {
  /** The key block that brought it; 0 for the zerostate. */
  readonly key_block_seqno: number;
  /** Root of `Hashmap 32 ^Cell`, whole. One cell for all runs, so that what follows from it is worked out once. */
  readonly root: Cell;
  readonly params: ConfigDictionary;
  /** Parameter 8; 0 when there is none. */
  readonly global_version: number;
  /** Whether the emulator has the rules of this version. */
  readonly emulator_knows: boolean;
  /** All that there are, the masterchain included. */
  readonly workchains: ReadonlySet<number>;
}

interface Kept {
  readonly config: NetworkConfig;
  /** The newest block known to have it. */
  upTo: number;
}

/**
 * Configurations by the key block that brought them: the parameters change in key blocks only, so each is fetched once,
 * with proof, for all blocks up to the next key block. Which key block that is, the proven header of a block tells.
 */
export class NetworkConfigs {
  readonly #most: number;
  readonly #chain: ChainReads;
  readonly #flights: SingleFlight<NetworkConfig>;
  /** By seqno of the key block; a map keeps the order of insertion, and what is used is inserted anew. */
  readonly #kept = new Map<number, Kept>();
  #fetches = 0;
  #newest: NetworkConfig | null = null;

  constructor(most: number, { chain, clock }: Pick<ContractModules, 'chain' | 'clock'>) {
    this.#most = most;
    this.#chain = chain;
    this.#flights = new SingleFlight(clock);
  }

  /** How many were fetched. */
  get fetches(): number {
    return this.#fetches;
  }

  /** That of the newest key block of all that were asked for; `null` before the first. */
  get newest(): NetworkConfig | null {
    return this.#newest;
  }

  /** That of the masterchain block with this number, if it follows from what is known; `null` if not. */
  covers(seqno: number): NetworkConfig | null {
    for (const [key, kept] of this.#kept) {
      if (key <= seqno && seqno <= kept.upTo) return this.#used(key, kept, seqno);
    }
    return null;
  }

  /**
   * The configuration after a masterchain block.
   *
   * @param header of the block, where it is known already
   * @throws chain/*, lite/*
   */
  async at(call: Call, block: BlockId, header: BlockHeader | null): Promise<NetworkConfig> {
    const { seqno } = block;
    const covered = this.covers(seqno);
    if (covered !== null) return covered;
    const { info } = header ?? (await this.#chain.header({ at: block, ...call.rest() })).header;
    const key = info.key_block ? seqno : info.prev_key_block_seqno;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return this.#used(key, kept, seqno);
    const fetch = (signal: AbortSignal) => this.#fetch(call, key, block, signal);
    const config = await this.#flights.do(`${key}`, ({ signal }) => fetch(signal), call.patience);
    return this.#used(key, this.#kept.get(key) ?? { config, upTo: seqno }, seqno);
  }

  async #fetch(call: Call, key: number, block: BlockId, signal: AbortSignal): Promise<NetworkConfig> {
    this.#fetches++;
    // The state of the key block itself may be too old for most servers.
    const { root } = await this.#chain.config({ at: block, deadlineMs: call.left(), signal });
    const config = networkConfig(key, root);
    if (this.#newest === null || this.#newest.key_block_seqno <= key) this.#newest = config;
    return config;
  }

  #used(key: number, kept: Kept, seqno: number): NetworkConfig {
    if (seqno > kept.upTo) kept.upTo = seqno;
    if (this.#kept.size > 1 || !this.#kept.has(key)) {
      this.#kept.delete(key);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size < this.#most) break;
        this.#kept.delete(oldest);
      }
      this.#kept.set(key, kept);
    }
    return kept.config;
  }
}

/** @param root of `Hashmap 32 ^Cell` */
export function networkConfig(key_block_seqno: number, root: Cell): NetworkConfig {
  const params = configDictionary(root);
  const global_version = configParam(params, 8)?.version ?? 0;
  const workchains = new Set<number>([MASTERCHAIN]);
  for (const [workchain] of configParam(params, 12) ?? []) workchains.add(workchain);
  return { key_block_seqno, root, params, global_version, emulator_knows: emulatorKnows(global_version), workchains };
}
