import { emulatorKnows } from '#drivers/tvm/emulator-binary.js';
import type { ResolveLibrary } from '#drivers/tvm/request-fields.js';
import type { RunOptions } from '#drivers/tvm/tvm-pool.js';
import type { Address } from '#formats/address/address.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, printPosition } from '#formats/proofs/block-id.js';
import { inPart } from '#formats/proofs/proof-part.js';
import { masterchainExtra, type PrevMcBlocks, prevMcBlocks, verifyConfig } from '#formats/proofs/shard-state.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerGetConfigParams } from '#formats/tl/lite-api.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { type ConfigDictionary, configDictionary, configParam } from '#formats/tlb/config/config-params.js';
import { toHex } from '#kernel/bytes.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { SingleFlight } from '#kernel/single-flight.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { chainErrors } from '#services/chain/errors.js';
import { expectBlock } from '#services/chain/proven-blocks.js';
import type { BlockAt, ReadContext } from '#services/chain/read-context.js';
import { contractsErrors } from '#services/emulation/errors.js';
import type { ContractModules, ContractSettings } from '#services/emulation/options.js';

/** Dependencies of a run. */
export interface EmulationModules extends ContractModules {
  readonly configs: NetworkConfigCache;
  readonly libraries: MasterchainLibraryCache;
  readonly prevBlocks: PrevBlocksCache;
}

/** The network state that a contract sees: a masterchain block and its configuration. */
export interface NetworkView {
  readonly block: BlockId;
  readonly config: NetworkConfig;
}

/** Account state at the start of a run. */
export interface AccountView extends AccountStateRead {
  /** Unix seconds: time of the account's shard block, the `now` of the contract. */
  readonly shard_utime: number;
}

/**
 * Resolves the requested block with its configuration. Contracts see the configuration of that block. The reference
 * implementations use the newest configuration also for past blocks, a combination that never existed on chain.
 *
 * @throws chain/*, lite/*
 */
export async function networkView(
  context: ReadContext,
  at: BlockAt = 'head',
  { chain, configs }: Pick<EmulationModules, 'chain' | 'configs'>,
): Promise<NetworkView> {
  if (at === 'head') {
    const { block, header } = await chain.head(context.remaining());
    return { block, config: await configs.at(context, block, header) };
  }
  if (typeof at === 'object') {
    if (!isMasterchain(at)) throw chainErrors['masterchain-only']({ block: printPosition(at) });
    const block = await chain.blockId(at, context.remaining());
    return { block, config: await configs.at(context, block, null) };
  }
  const known = configs.covers(at);
  if (known !== null) return { block: await chain.blockId(at, context.remaining()), config: known };
  const { block, header } = await chain.findBlock(
    { ...MASTERCHAIN_SHARD, by: 'seqno', seqno: at },
    context.remaining(),
  );
  return { block, config: await configs.at(context, block, header) };
}

/** Checks that the workchain of an address exists. @throws contracts/no-workchain */
export function checkWorkchain({ workchain }: Address, { block, config }: NetworkView): void {
  if (config.workchains.has(workchain)) return;
  throw contractsErrors['no-workchain']({ workchain, block: printPosition(block) });
}

/** Reads the account at the block of a network view. @throws contracts/no-workchain, chain/*, lite/* */
export async function accountView(
  context: ReadContext,
  address: Address,
  view: NetworkView,
  chain: ChainReads,
): Promise<AccountView> {
  checkWorkchain(address, view);
  const read = await chain.account(address, { at: view.block, ...context.remaining() });
  const { shard_utime } = read;
  if (shard_utime !== null) return { ...read, shard_utime };
  throw contractsErrors['no-workchain']({ workchain: address.workchain, block: printPosition(view.block) });
}

/** Limits, client and abort signal of a run. @throws chain/deadline, chain/aborted */
export function runOptions(context: ReadContext, settings: ContractSettings): RunOptions {
  const { runTimeoutMs, cpuMs, keyCpuMs } = settings;
  const { deadlineMs = runTimeoutMs, signal, client } = context.remaining();
  return {
    timeoutMs: Math.ceil(Math.min(runTimeoutMs, deadlineMs)),
    cpuMs: client?.hasKey === true ? keyCpuMs : cpuMs,
    ...(signal === undefined ? {} : { signal }),
    ...(client === undefined ? {} : { client: client.id }),
    ...(client?.onTvmCost === undefined ? {} : { onCost: client.onTvmCost }),
  };
}

/** The configuration after a masterchain block. */
export interface NetworkConfig {
  /** The key block of the configuration; 0 for the zerostate. */
  readonly key_block_seqno: number;
  /** Root of `Hashmap 32 ^Cell`, complete. The same cell for all runs, so that derived data is computed once. */
  readonly root: Cell;
  readonly params: ConfigDictionary;
  /** Parameter 8; 0 when there is none. */
  readonly global_version: number;
  /** Whether the emulator supports this version. */
  readonly emulator_knows: boolean;
  /** All workchains, including the masterchain. */
  readonly workchains: ReadonlySet<number>;
}

interface CachedConfig {
  readonly config: NetworkConfig;
  /** The newest block known to have this configuration. */
  upTo: number;
}

/**
 * Cache of proven configurations by key block. Parameters only change in key blocks, so each configuration is fetched once
 * for all blocks up to the next key block. The proven header of a block determines its key block.
 */
export class NetworkConfigCache {
  readonly #maxEntries: number;
  readonly #chain: ChainReads;
  readonly #flights: SingleFlight<NetworkConfig>;
  /** By key block seqno, in order of use. */
  readonly #cached = new Map<number, CachedConfig>();
  #fetches = 0;
  #newest: NetworkConfig | null = null;

  constructor(maxEntries: number, { chain, clock }: Pick<ContractModules, 'chain' | 'clock'>) {
    this.#maxEntries = maxEntries;
    this.#chain = chain;
    this.#flights = new SingleFlight(clock);
  }

  /** Number of fetches. */
  get fetches(): number {
    return this.#fetches;
  }

  /** The configuration of the newest requested key block; `null` before the first. */
  get newest(): NetworkConfig | null {
    return this.#newest;
  }

  /** The cached configuration of the masterchain block with this seqno; `null` when unknown. */
  covers(seqno: number): NetworkConfig | null {
    for (const [key, entry] of this.#cached) {
      if (key <= seqno && seqno <= entry.upTo) return this.#used(key, entry, seqno);
    }
    return null;
  }

  /**
   * The configuration after a masterchain block.
   *
   * @param header of the block, if known
   * @throws chain/*, lite/*
   */
  async at(context: ReadContext, block: BlockId, header: BlockHeader | null): Promise<NetworkConfig> {
    const { seqno } = block;
    const covered = this.covers(seqno);
    if (covered !== null) return covered;
    const { info } = header ?? (await this.#chain.header({ at: block, ...context.remaining() })).header;
    const key = info.key_block ? seqno : info.prev_key_block_seqno;
    const entry = this.#cached.get(key);
    if (entry !== undefined) return this.#used(key, entry, seqno);
    const fetch = (signal: AbortSignal) => this.#fetch(context, key, block, signal);
    const config = await this.#flights.do(`${key}`, ({ signal }) => fetch(signal), context.deadline);
    return this.#used(key, this.#cached.get(key) ?? { config, upTo: seqno }, seqno);
  }

  async #fetch(context: ReadContext, key: number, block: BlockId, signal: AbortSignal): Promise<NetworkConfig> {
    this.#fetches++;
    // Most servers may not have the state of the key block itself any more.
    const { root } = await this.#chain.config({ at: block, deadlineMs: context.remainingMs(), signal });
    const config = parseNetworkConfig(key, root);
    if (this.#newest === null || this.#newest.key_block_seqno <= key) this.#newest = config;
    return config;
  }

  #used(key: number, entry: CachedConfig, seqno: number): NetworkConfig {
    if (seqno > entry.upTo) entry.upTo = seqno;
    if (this.#cached.size > 1 || !this.#cached.has(key)) {
      this.#cached.delete(key);
      for (const oldest of this.#cached.keys()) {
        if (this.#cached.size < this.#maxEntries) break;
        this.#cached.delete(oldest);
      }
      this.#cached.set(key, entry);
    }
    return entry.config;
  }
}

/** @param root of `Hashmap 32 ^Cell` */
function parseNetworkConfig(key_block_seqno: number, root: Cell): NetworkConfig {
  const params = configDictionary(root);
  const global_version = configParam(params, 8)?.version ?? 0;
  const workchains = new Set<number>([MASTERCHAIN]);
  for (const [workchain] of configParam(params, 12) ?? []) workchains.add(workchain);
  return { key_block_seqno, root, params, global_version, emulator_knows: emulatorKnows(global_version), workchains };
}

interface CachedLibrary {
  readonly cell: Cell;
  /** A masterchain block whose state proves the publication. */
  readonly seqno: number;
}

/**
 * A proof that a library is published holds for one block. Libraries are rarely removed, so it is considered valid for this
 * number of following blocks. The content is identified by its hash and never changes.
 */
const VALID_FOR_BLOCKS = 100;

/** LRU cache of proven masterchain libraries. */
export class MasterchainLibraryCache {
  readonly #chain: ChainReads;
  readonly #cached: LruByBytes<CachedLibrary>;
  #fetches = 0;

  constructor(maxBytes: number, chain: ChainReads) {
    this.#chain = chain;
    this.#cached = new LruByBytes(maxBytes);
  }

  /** Number of fetched libraries. */
  get fetches(): number {
    return this.#fetches;
  }

  /** Resolves libraries as published after a masterchain block. */
  resolver(context: ReadContext, block: BlockId): ResolveLibrary {
    return (hashes) => this.#resolve(context, block, hashes);
  }

  async #resolve(context: ReadContext, block: BlockId, hashes: readonly Uint8Array[]): Promise<(Cell | null)[]> {
    const found = new Map<string, Cell>();
    const missing: Uint8Array[] = [];
    for (const hash of hashes) {
      const key = toHex(hash);
      const known = this.#cached.get(key);
      const age = known === undefined ? -1 : block.seqno - known.seqno;
      if (known !== undefined && age >= 0 && age <= VALID_FOR_BLOCKS) found.set(key, known.cell);
      else missing.push(hash);
    }
    if (missing.length > 0) {
      this.#fetches += missing.length;
      const { libraries } = await this.#chain.libraries(missing, { at: block, ...context.remaining() });
      for (const [key, cell] of libraries) {
        found.set(key, cell);
        const newest = this.#cached.get(key)?.seqno ?? -1;
        if (newest < block.seqno) this.#cached.set(key, { cell, seqno: block.seqno }, serializeBoc(cell).length);
      }
    }
    return hashes.map((hash) => found.get(toHex(hash)) ?? null);
  }
}

/** Mode bit: include the previous blocks of the masterchain state. */
const WITH_PREVIOUS_BLOCKS = 128;

/** Maximum number of cached answers, one per block. */
const MAX_PREV_BLOCKS = 16;

/** Cache of proven previous-blocks infos, read from masterchain states. */
export class PrevBlocksCache {
  /** By root hash of the block. */
  readonly #cached = new Map<string, PrevMcBlocks>();
  #fetches = 0;

  /** Number of fetches. */
  get fetches(): number {
    return this.#fetches;
  }

  /** @throws chain/*, lite/* */
  async at(context: ReadContext, block: BlockId, { global_version }: NetworkConfig): Promise<PrevMcBlocks> {
    const key = toHex(block.root_hash);
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    this.#fetches++;
    const { value } = await context.query({
      fn: LiteServerGetConfigParams,
      query: { mode: WITH_PREVIOUS_BLOCKS, id: blockIdToTl(block), param_list: [] },
      need: { kind: 'state', seqno: block.seqno },
      immutable: true,
      verify: (answer) => {
        expectBlock(answer.id, block);
        const state = verifyConfig(block, answer.state_proof, answer.config_proof);
        return inPart('config_proof', () => prevMcBlocks(block, masterchainExtra(state), global_version));
      },
    });
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size < MAX_PREV_BLOCKS) break;
      this.#cached.delete(oldest);
    }
    this.#cached.set(key, value);
    return value;
  }
}
