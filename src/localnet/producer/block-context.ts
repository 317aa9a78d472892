import { TransactionRunner } from '#drivers/tvm/transaction-runner.js';
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
import type { BlockIsFull, ProducerModules } from '#localnet/producer/block-request.js';
import type { MessageFaults } from '#localnet/producer/message-receiver.js';
import type { RoutingPrefix } from '#localnet/producer/routing.js';
import type { ValidatorKey } from '#localnet/producer/sign-block.js';

/** What all blocks of a bundle are produced with. */
export interface ProductionContext {
  readonly modules: ProducerModules;
  readonly key: ValidatorKey;
  readonly view: MasterchainView;
  /** Unix seconds. */
  readonly gen_utime: number;
  readonly full: BlockIsFull;
  readonly faults: MessageFaults;
  readonly forkedAccount: ((address: Address) => Promise<Cell | null>) | null;
}

/** Start lts of blocks are multiples of it. */
const LT_STEP = 1_000_000n;

/** `start_lt` of a block that comes after all of these lts. */
export function startLt(...ends: readonly bigint[]): bigint {
  const latest = ends.reduce((a, b) => (a > b ? a : b), 1n);
  return ((latest + LT_STEP - 1n) / LT_STEP) * LT_STEP;
}

/** The rules of a workchain's blocks, from the newest masterchain block. */
export function rulesOf({ view }: ProductionContext, workchain: number): BlockRules {
  return blockRules(view.extra.config.config, workchain);
}

/** The runner of a block's transactions. */
export function runnerOf(
  { modules, view, gen_utime }: ProductionContext,
  rules: BlockRules,
  start_lt: bigint,
  rand_seed: Uint8Array,
): TransactionRunner {
  const { forkedLibrary } = modules;
  return new TransactionRunner(
    modules.emulation,
    {
      config: rules.root,
      gen_utime,
      start_lt,
      rand_seed,
      prev_blocks_info: view.previousBlocks(rules.version.version),
      libraries: view.state.totals.value.libraries.root,
      ...(forkedLibrary === undefined
        ? {}
        : { resolveLibrary: (hashes) => Promise.all(hashes.map((hash) => forkedLibrary(hash))) }),
    },
    modules.now,
  );
}

/** What the configuration says about the blocks of a workchain. */
export interface BlockRules {
  readonly config: ConfigDictionary;
  /** Root of `config`. */
  readonly root: Cell;
  readonly version: GlobalVersion;
  /** Parameter 22 or 23. */
  readonly limits: BlockLimits | null;
  /** `next_frac` of parameter 24 or 25: the part of a forwarding fee, in 2^-16, that an intermediate shard takes. */
  readonly nextFrac: bigint;
  /** Masterchain accounts with tick-tock transactions (parameter 31). */
  readonly specialAccounts: readonly Uint8Array[];
}

/** Used without parameter 8. */
const NO_VERSION: GlobalVersion = { version: 0, capabilities: 0n };

/** Bits of `capabilities`. */
export const CAPABILITY = { createStats: 0x2n, reportVersion: 0x8n, storeOutQueueSize: 0x40n } as const;

/** @throws what decoding a parameter throws */
function blockRules(config: ConfigDictionary, workchain: number): BlockRules {
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

/** The newest masterchain block and its state, as blocks that refer to it see them. */
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
   * The lt (exclusive) up to which a block that refers to masterchain block `seqno` has seen the messages of the shard
   * that contains `place`: the end lt of the shard block that was registered there.
   *
   * For the newest masterchain block its state has the value. For the one before: each bundle registers exactly one new
   * block per shard, all earlier blocks of the shard end at its `start_lt` at the latest, and its messages come after
   * that.
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

  /** Previous blocks as contracts see them. */
  previousBlocks(globalVersion: number): PrevMcBlocks {
    return prevMcBlocks(this.id, this.extra, globalVersion);
  }
}

/** How much a block contains. */
export interface BlockLoad {
  readonly bytes: number;
  readonly gas: bigint;
  readonly lt_delta: bigint;
}

/** Load of a block by its highest measure, see {@link ParamLimits}. */
export type Fill = 'underload' | 'normal' | 'soft' | 'hard';

const FILLS: readonly Fill[] = ['underload', 'normal', 'soft', 'hard'];

/** @param limits null: in a network without limits every block is `normal` */
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

/** Load of the last 64 blocks of a shard: one bit per block, the newest one lowest. */
export interface LoadHistory {
  readonly overload: bigint;
  readonly underload: bigint;
}

export const NO_HISTORY: LoadHistory = { overload: 0n, underload: 0n };

/** Adds a block to the history. */
export function withBlock({ overload, underload }: LoadHistory, fill: Fill): LoadHistory {
  const over = fill === 'soft' || fill === 'hard';
  return {
    overload: shifted(overload, over),
    underload: shifted(underload, fill === 'underload'),
  };
}

/** Whether the weighted number of set bits is high enough; newer blocks weigh more. */
export function isFrequent(history: bigint): boolean {
  const weight =
    count(history & 0xffffn) * 3 + count((history >> 16n) & 0xffffn) * 2 + count((history >> 32n) & 0xffffn);
  return weight >= FREQUENT;
}

/** Two thirds of the weight of 48 set bits. */
const FREQUENT = ((3 + 2 + 1) * 16 * 2) / 3;

function shifted(history: bigint, bit: boolean): bigint {
  return BigInt.asUintN(64, history << 1n) | (bit ? 1n : 0n);
}

function count(bits: bigint): number {
  let ones = 0;
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) ones++;
  return ones;
}
