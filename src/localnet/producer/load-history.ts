import type { BlockLimits, ParamLimits } from '#formats/tlb/config/limits.js';

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
