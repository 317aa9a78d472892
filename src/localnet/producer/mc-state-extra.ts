import type { Cell } from '#formats/cells/cell.js';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { computeValidatorGroup, validatorConfigOf } from '#formats/proofs/validators.js';
import type { ShardAccounts } from '#formats/tlb/account.js';
import { type McBlockExtra, McBlockMessages } from '#formats/tlb/block.js';
import type { ExtBlkRef } from '#formats/tlb/block-id.js';
import { CryptoSignaturePair } from '#formats/tlb/block-proof.js';
import { Lazy } from '#formats/tlb/codec/codec.js';
import { bytesKey, hashmapE, uintKey } from '#formats/tlb/codec/dictionary.js';
import {
  type ConfigDictionary,
  type ConfigParams,
  configDictionary,
  configParam,
  decodeConfigParam,
  isConfigParamIndex,
} from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import type { ShardHashes } from '#formats/tlb/shard-hashes.js';
import {
  type BlockCreateStats,
  type Counters,
  CreatorStats,
  type McStateExtra,
  McStateInfo,
  type ValidatorInfo,
} from '#formats/tlb/shard-state.js';
import { bytesEqual, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import {
  adjustShards,
  catchainLifetimes,
  passesMultiple,
  type RegisteredShards,
} from '#localnet/producer/shard-config.js';

/** The previous masterchain block; with seqno 0, the zerostate. */
interface PreviousMasterchainBlock {
  readonly id: BlockId;
  /** For a zerostate: `gen_lt` of the state. */
  readonly end_lt: bigint;
  readonly gen_utime: number;
}

/** Inputs of the next `McStateExtra`. */
export interface McStateStep {
  /** Of the previous state. */
  readonly before: McStateExtra;
  readonly previous: PreviousMasterchainBlock;
  /** See `registerShards`. */
  readonly registered: ShardHashes;
  /** After the block's transactions: see `configOfAccounts`. */
  readonly config: ConfigParams;
  readonly gen_utime: number;
  /** After the block: see `globalBalanceAfter`. */
  readonly global_balance: CurrencyCollection;
  /** `created_by` of this block and of all newly committed shard blocks, for the statistics. */
  readonly creators: Creators;
}

export interface NextMcState {
  readonly extra: McStateExtra;
  /** Whether the block is a key block, which carries `extra.config`. */
  readonly key_block: boolean;
}

/** Bit of `capabilities` (parameter 8): block creation statistics. */
const CAPABILITY_CREATE_STATS = 2n;

/** `McStateExtra` after a masterchain block. The block is a key block when any configuration parameter changes. */
export function nextMcStateExtra(step: McStateStep): NextMcState {
  const { before, previous, config, gen_utime, global_balance } = step;
  const key_block = !sameConfig(before.config, config);
  const times = { prev_utime: previous.gen_utime, gen_utime };
  const shard_hashes = adjustShards(step.registered, { config: config.config, key_block, ...times });
  const info = before.info.value;
  const { id, end_lt } = previous;
  const reference: ExtBlkRef = { end_lt, seq_no: id.seqno, root_hash: id.root_hash, file_hash: id.file_hash };
  const keepsStats = hasCapability(before.config.config, CAPABILITY_CREATE_STATS);
  const next: McStateInfo = {
    flags: keepsStats ? 1 : 0,
    validator_info: nextValidatorInfo(info.validator_info, config.config, key_block, times),
    prev_blocks: info.prev_blocks.set(id.seqno, { key: info.after_key_block, blk_ref: reference }),
    after_key_block: key_block,
    last_key_block: info.after_key_block ? reference : info.last_key_block,
    block_create_stats: keepsStats ? countBlocks(info.block_create_stats, step.creators, gen_utime) : null,
  };
  const extra = { shard_hashes, config, info: Lazy.ofValue(McStateInfo, next), global_balance };
  return { extra, key_block };
}

function sameConfig(a: ConfigParams, b: ConfigParams): boolean {
  return bytesEqual(a.config_addr, b.config_addr) && bytesEqual(a.config.root!.hash(0), b.config.root!.hash(0));
}

function hasCapability(config: ConfigDictionary, capability: bigint): boolean {
  return ((configParam(config, 8)?.capabilities ?? 0n) & capability) !== 0n;
}

/**
 * Validator info of the masterchain: a new validator session starts with a key block, when the time passes a multiple
 * of `mc_catchain_lifetime`, and when the validator set changes. The stored hash is that of session 0.
 */
function nextValidatorInfo(
  before: ValidatorInfo,
  config: ConfigDictionary,
  key_block: boolean,
  { prev_utime, gen_utime }: { readonly prev_utime: number; readonly gen_utime: number },
): ValidatorInfo {
  const { hash } = computeValidatorGroup(validatorConfigOf(config), MASTERCHAIN_SHARD, 0);
  const ends = passesMultiple(catchainLifetimes(config).mc_catchain_lifetime, prev_utime, gen_utime);
  const updated = key_block || ends || hash !== before.validator_list_hash_short;
  return {
    validator_list_hash_short: hash,
    catchain_seqno: before.catchain_seqno + (updated ? 1 : 0),
    nx_cc_updated: updated,
  };
}

/** `McBlockExtra` of a masterchain block. @param messages created by its special transactions */
export function mcBlockExtra(
  next: NextMcState,
  registered: RegisteredShards,
  messages: Pick<McBlockMessages, 'recover_create_msg' | 'mint_msg'>,
): McBlockExtra {
  const { extra, key_block } = next;
  const { recover_create_msg, mint_msg } = messages;
  return {
    key_block,
    shard_hashes: extra.shard_hashes,
    shard_fees: registered.shard_fees,
    messages: Lazy.ofValue(McBlockMessages, { prev_blk_signatures: NO_SIGNATURES, recover_create_msg, mint_msg }),
    config: key_block ? extra.config : null,
  };
}

const NO_SIGNATURES: McBlockMessages['prev_blk_signatures'] = hashmapE(uintKey(16), CryptoSignaturePair).of([]);

/** `prev_key_block_seqno` of a block header. @param before of the masterchain state that the block refers to */
export function prevKeyBlockSeqno(before: McStateExtra, masterchain: Pick<BlockId, 'seqno'>): number {
  const { after_key_block, last_key_block } = before.info.value;
  return after_key_block ? masterchain.seqno : (last_key_block?.seq_no ?? 0);
}

/**
 * The configuration after the transactions of a block: the first reference in the data of the config contract, and its
 * address. When parameter 0 names another contract that has a configuration, that one is used.
 *
 * An invalid configuration is ignored, as nodes do, and `before` stays: all parameters with a TL-B type must decode,
 * others must have a negative index, and those listed in parameter 9 (old and new) must exist.
 *
 * @param accounts the accounts of the masterchain after the block
 */
export function configOfAccounts(accounts: ShardAccounts, before: ConfigParams): ConfigParams {
  const config = configOfAccount(accounts, before.config_addr, before.config);
  if (config === null) return before;
  const successor = configParam(config, 0);
  if (successor === undefined || bytesEqual(successor, before.config_addr))
    return { config_addr: before.config_addr, config };
  const next = configOfAccount(accounts, successor, before.config);
  const isReady = next !== null && bytesEqual(configParam(next, 0) ?? before.config_addr, successor);
  return isReady ? { config_addr: successor, config: next } : { config_addr: before.config_addr, config };
}

function configOfAccount(accounts: ShardAccounts, id: Uint8Array, before: ConfigDictionary): ConfigDictionary | null {
  const account = accounts.get(id)?.account.value;
  const state = account?.kind === 'account' ? account.storage.state : null;
  const data = state?.kind === 'account_active' ? state.state_init.data : null;
  if (data === null || data.refCount === 0) return null;
  const root = data.ref(0);
  if (bytesEqual(root.hash(0), before.root!.hash(0))) return before;
  const config = configDictionary(root);
  return configProblem(config, before) === null ? config : null;
}

/**
 * Why masterchain blocks ignore a configuration, by the rules of {@link configOfAccounts}; null when they take it over.
 * @param before the configuration in force
 */
export function configProblem(config: ConfigDictionary, before: ConfigDictionary): string | null {
  try {
    for (const [index, cell] of config) {
      const problem = paramProblem(index, cell);
      if (problem !== null) return problem;
    }
    const mandatory = [configParam(before, 9), configParam(config, 9)].flatMap((list) => [...(list ?? [])]);
    const missing = mandatory.find(([index]) => !config.has(index));
    return missing === undefined ? null : `parameter 9 requires parameter ${missing[0]}, which would be missing`;
  } catch (error) {
    if (isTernError(error)) return error.message;
    throw error;
  }
}

function paramProblem(index: number, cell: Cell): string | null {
  if (index < 0) return null;
  if (!isConfigParamIndex(index)) return `there is no parameter ${index}; those of your own have negative numbers`;
  try {
    decodeConfigParam(index, cell);
    return null;
  } catch (error) {
    if (isTernError(error)) return `parameter ${index} cannot be read: ${error.message}`;
    throw error;
  }
}

/** Who created the blocks of a bundle, by public key (32 bytes); zeros stand for nobody. */
export interface Creators {
  readonly masterchain: Uint8Array;
  /** Of all newly committed shard blocks. */
  readonly shards: readonly Uint8Array[];
}

type Counts = Extract<BlockCreateStats, { readonly kind: 'block_create_stats' }>['counters'];

const counts = hashmapE(bytesKey(32), CreatorStats);
const NO_COUNTS: Counts = counts.of([]);

/** The key under which all blocks are counted. */
const ALL = new Uint8Array(32);
const NO_COUNTERS: Counters = { last_updated: 0, total: 0n, cnt2048: 0n, cnt65536: 0n };
const NO_BLOCKS: CreatorStats = { mc_blocks: NO_COUNTERS, shard_blocks: NO_COUNTERS };

/**
 * Counts the blocks of a bundle. Validators whose slower average has dropped to zero are removed.
 * @param now of the masterchain block, unix seconds
 */
export function countBlocks(before: BlockCreateStats | null, creators: Creators, now: number): BlockCreateStats {
  let counters: Counts =
    before === null ? NO_COUNTS : before.kind === 'block_create_stats' ? before.counters : counts.of(before.counters);
  const counted = new Map<string, { readonly key: Uint8Array; mc: bigint; shard: bigint }>();
  const count = (key: Uint8Array, mc: bigint, shard: bigint): void => {
    const name = toHex(key);
    const sum = counted.get(name) ?? { key, mc: 0n, shard: 0n };
    counted.set(name, { key, mc: sum.mc + mc, shard: sum.shard + shard });
  };
  const isSomebody = (key: Uint8Array): boolean => key.some((byte) => byte !== 0);
  for (const key of creators.shards.filter(isSomebody)) {
    count(key, 0n, 1n);
    count(ALL, 0n, 1n);
  }
  if (isSomebody(creators.masterchain)) {
    count(creators.masterchain, 1n, 0n);
    count(ALL, 1n, 0n);
  }
  for (const { key, mc, shard } of counted.values()) {
    const { mc_blocks, shard_blocks } = counters.get(key) ?? NO_BLOCKS;
    counters = counters.set(key, {
      mc_blocks: mc === 0n ? mc_blocks : increased(mc_blocks, mc, now),
      shard_blocks: shard === 0n ? shard_blocks : increased(shard_blocks, shard, now),
    });
  }
  for (const [key, { mc_blocks, shard_blocks }] of counters) {
    const left = increased(mc_blocks, 0n, now).cnt65536 | increased(shard_blocks, 0n, now).cnt65536;
    if (left === 0n) counters = counters.delete(key);
  }
  return { kind: 'block_create_stats', counters };
}

/** The counters at a later time, increased by `count`. */
function increased({ last_updated, total, cnt2048, cnt65536 }: Counters, count: bigint, now: number): Counters {
  const scaled = count << 32n;
  if (total === 0n) return { last_updated: now, total: count, cnt2048: scaled, cnt65536: scaled };
  const passed = Math.max(0, now - last_updated);
  return {
    last_updated: now,
    total: total + count,
    cnt2048: faded(cnt2048, passed * 32) + scaled,
    cnt65536: faded(cnt65536, passed) + scaled,
  };
}

/** Fraction bits; enough to round 64-bit amounts correctly. */
const PRECISION = 192n;
const ONE = 1n << PRECISION;

/** After such a `time` nothing is left of any 64-bit amount. */
const FOREVER = 48 * 65_536;

/** exp(-1 / 65536), by its power series. */
const STEP = ((): bigint => {
  let term = ONE;
  let sum = 0n;
  for (let n = 1n; term !== 0n; n++) {
    sum += term;
    term = -term / (65_536n * n);
  }
  return sum;
})();

/** amount · exp(-time / 65536), rounded. */
function faded(amount: bigint, time: number): bigint {
  if (time === 0 || amount === 0n) return amount;
  if (time >= FOREVER) return 0n;
  let factor = ONE;
  let power = STEP;
  for (let left = time; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) factor = (factor * power) >> PRECISION;
    power = (power * power) >> PRECISION;
  }
  return (amount * factor + (ONE >> 1n)) >> PRECISION;
}
