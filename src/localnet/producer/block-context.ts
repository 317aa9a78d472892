import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type PrevMcBlocks, prevMcBlocks } from '#formats/proofs/shard-state.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import type { BlockLimits, ParamLimits } from '#formats/tlb/config/limits-and-prices.js';
import type { GlobalVersion } from '#formats/tlb/config/network.js';
import { findShard } from '#formats/tlb/shard-hashes.js';
import type { McStateExtra, ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { ProducerModules } from '#localnet/producer/block-request.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';
import type { ValidatorKey } from '#localnet/producer/sign-block.js';
import { type MessageFaults, TransactionRunner } from '#localnet/producer/transaction-runner.js';

/** What all blocks of a round are made with. */
export interface ProductionContext {
  readonly modules: ProducerModules;
  readonly key: ValidatorKey;
  readonly view: MasterchainView;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly full: () => boolean;
  readonly faults: MessageFaults;
  readonly foreignAccount: ((address: Address) => Promise<Cell | null>) | null;
}

/** lt of blocks are multiples of it. */
const LT_STEP = 1_000_000n;

/** Where a block begins: after all of these. */
export function startLt(...ends: readonly bigint[]): bigint {
  const latest = ends.reduce((a, b) => (a > b ? a : b), 1n);
  return ((latest + LT_STEP - 1n) / LT_STEP) * LT_STEP;
}

/** The rules of a workchain's blocks on the newest masterchain block. */
export function rulesOf({ view }: ProductionContext, workchain: number): BlockRules {
  return blockRules(view.extra.config.config, workchain);
}

/** What runs the transactions of a block. */
export function runnerOf(
  { modules, view, gen_utime }: ProductionContext,
  rules: BlockRules,
  start_lt: bigint,
  rand_seed: Uint8Array,
): TransactionRunner {
  const { foreignLibrary } = modules;
  return new TransactionRunner(
    modules.emulation,
    {
      config: rules.root,
      gen_utime,
      start_lt,
      rand_seed,
      prev_blocks_info: view.previousBlocks(rules.version.version),
      libraries: view.state.totals.value.libraries.root,
      ...(foreignLibrary === undefined
        ? {}
        : { resolveLibrary: (hashes) => Promise.all(hashes.map((hash) => foreignLibrary(hash))) }),
    },
    modules.now,
  );
}

/** What a configuration says about the blocks of a workchain. */
export interface BlockRules {
  readonly config: ConfigDictionary;
  /** Root of `config`. */
  readonly root: Cell;
  readonly version: GlobalVersion;
  /** Parameter 22 or 23. */
  readonly limits: BlockLimits | null;
  /** `next_frac` of parameter 24 or 25: which part of a forwarding fee, in 2^-16, a shard on the way takes. */
  readonly nextFrac: bigint;
  /** Accounts of the masterchain that tick and tock (parameter 31). */
  readonly specialAccounts: readonly Uint8Array[];
}

/** Of a version before parameter 8. */
const NO_VERSION: GlobalVersion = { version: 0, capabilities: 0n };

/** Bits of `capabilities`. */
export const CAPABILITY = { createStats: 0x2n, reportVersion: 0x8n, storeOutQueueSize: 0x40n } as const;

/** @throws what decoding a parameter throws */
export function blockRules(config: ConfigDictionary, workchain: number): BlockRules {
  const masterchain = workchain === MASTERCHAIN;
  return {
    config,
    root: config.root as Cell,
    version: configParam(config, 8) ?? NO_VERSION,
    limits: configParam(config, masterchain ? 22 : 23) ?? null,
    nextFrac: BigInt(configParam(config, masterchain ? 24 : 25)?.next_frac ?? 0),
    specialAccounts: [...(configParam(config, 31) ?? [])].map(([id]) => id),
  };
}

/** The masterchain as a block sees it that is made on its newest block. */
export class MasterchainView {
  readonly id: BlockId;
  readonly state: ShardStateUnsplit;
  readonly extra: McStateExtra;

  constructor(id: BlockId, state: ShardStateUnsplit, extra: McStateExtra) {
    this.id = id;
    this.state = state;
    this.extra = extra;
  }

  get end_lt(): bigint {
    return this.state.gen_lt;
  }

  /**
   * Up to which lt (excluded) the messages of the shard at a place were seen by a block that was made on the masterchain
   * block `seqno`: the end of the shard's block that was registered there.
   *
   * The newest state says so of itself and of the masterchain. Of the state before: each round registers exactly one new
   * block of a shard, and all that came before it ended at its `start_lt` at the latest, while its messages came after.
   */
  endLt(seqno: number, place: RoutingPrefix): bigint {
    if (place.workchain === MASTERCHAIN) {
      if (seqno >= this.id.seqno) return this.end_lt;
      return this.extra.info.value.prev_blocks.get(seqno)?.blk_ref.end_lt ?? 0n;
    }
    const entry = findShard(this.extra.shard_hashes, place.workchain, place.prefix);
    if (entry === null) return 0n;
    return entry.descr.reg_mc_seqno <= seqno ? entry.descr.end_lt : entry.descr.start_lt;
  }

  /** What contracts may know of earlier blocks. */
  previousBlocks(globalVersion: number): PrevMcBlocks {
    return prevMcBlocks(this.id, this.extra, globalVersion);
  }
}

/** How much is in a block. */
export interface BlockLoad {
  readonly bytes: number;
  readonly gas: bigint;
  readonly lt_delta: bigint;
}

/** How full a block is by the greatest of its measures, see {@link ParamLimits}. */
export type Fill = 'underload' | 'normal' | 'soft' | 'hard';

const FILLS: readonly Fill[] = ['underload', 'normal', 'soft', 'hard'];

/** @param limits null: of a network without limits every block is `normal` */
export function fillOf(load: BlockLoad, limits: BlockLimits | null): Fill {
  if (limits === null) return 'normal';
  const { bytes, gas, lt_delta } = limits;
  const level = Math.max(
    levelOf(load.bytes, bytes),
    levelOf(Number(load.gas), gas),
    levelOf(Number(load.lt_delta), lt_delta),
  );
  return FILLS[level] as Fill;
}

function levelOf(value: number, { underload, soft_limit, hard_limit }: ParamLimits): number {
  if (value >= hard_limit) return 3;
  if (value >= soft_limit) return 2;
  return value >= underload ? 1 : 0;
}

/** How the last 64 blocks of a shard were filled: a bit for each, the newest one last. */
export interface LoadHistory {
  readonly overload: bigint;
  readonly underload: bigint;
}

export const NO_HISTORY: LoadHistory = { overload: 0n, underload: 0n };

/** The history with a block more. */
export function withBlock({ overload, underload }: LoadHistory, fill: Fill): LoadHistory {
  const over = fill === 'soft' || fill === 'hard';
  return {
    overload: shifted(overload, over),
    underload: shifted(underload, fill === 'underload'),
  };
}

/** Whether the newest blocks, which count for more than older ones, were filled so often enough. */
export function isFrequent(history: bigint): boolean {
  const weight =
    count(history & 0xffffn) * 3 + count((history >> 16n) & 0xffffn) * 2 + count((history >> 32n) & 0xffffn);
  return weight >= FREQUENT;
}

/** Two thirds of what 48 blocks weigh. */
const FREQUENT = ((3 + 2 + 1) * 16 * 2) / 3;

function shifted(history: bigint, bit: boolean): bigint {
  return BigInt.asUintN(64, history << 1n) | (bit ? 1n : 0n);
}

function count(bits: bigint): number {
  let ones = 0;
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) ones++;
  return ones;
}
