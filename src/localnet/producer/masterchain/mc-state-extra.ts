import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { validatorConfigOf } from '#formats/proofs/validator-config.js';
import { computeValidatorGroup } from '#formats/proofs/validator-set.js';
import type { ExtBlkRef } from '#formats/tlb/block-ref.js';
import { hashmapE } from '#formats/tlb/codec/dictionary.js';
import { uintKey } from '#formats/tlb/codec/dictionary-key.js';
import { Lazy } from '#formats/tlb/codec/lazy.js';
import { type ConfigDictionary, type ConfigParams, configParam } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import { type McBlockExtra, McBlockMessages } from '#formats/tlb/mc-block-extra.js';
import { type McStateExtra, McStateInfo, type ValidatorInfo } from '#formats/tlb/mc-state-extra.js';
import type { ShardHashes } from '#formats/tlb/shard-hashes.js';
import { CryptoSignaturePair } from '#formats/tlb/signature.js';
import { bytesEqual } from '#kernel/bytes/bytes.js';
import { adjustShards } from '#localnet/producer/masterchain/adjust-shards.js';
import { type Creators, countBlocks } from '#localnet/producer/masterchain/create-stats.js';
import { passesMultiple, sessionLifetimes } from '#localnet/producer/masterchain/session-lifetimes.js';
import type { RegisteredShards } from '#localnet/producer/masterchain/shard-config.js';

/** The masterchain block, or with seqno 0 the zerostate, before the one that is made. */
export interface PreviousMasterchainBlock {
  readonly id: BlockId;
  /** Of a zerostate: `gen_lt` of the state. */
  readonly end_lt: bigint;
  readonly gen_utime: number;
}

/** What the extra of the next masterchain state is made of. */
export interface McStateStep {
  /** Of the state before. */
  readonly before: McStateExtra;
  readonly previous: PreviousMasterchainBlock;
  /** See `registerShards`. */
  readonly registered: ShardHashes;
  /** After the block's transactions: see `configOfAccounts`. */
  readonly config: ConfigParams;
  readonly gen_utime: number;
  /** After the block: see `globalBalanceAfter`. */
  readonly global_balance: CurrencyCollection;
  /** `created_by` of this block and of all blocks of shards that it newly commits, for the statistics. */
  readonly creators: Creators;
}

export interface NextMcState {
  readonly extra: McStateExtra;
  /** Whether the block is a key block: then it carries `extra.config`. */
  readonly key_block: boolean;
}

/** Bit of `capabilities` (parameter 8): statistics of who made blocks are kept. */
const CAPABILITY_CREATE_STATS = 2n;

/** The extra of the state after a masterchain block. It is a key block when any parameter of the configuration changes. */
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
 * Validators of the masterchain: a new session begins with a key block, when the clock passes a multiple of
 * `mc_catchain_lifetime`, and when the validators are others. The hash that is kept is that of session 0.
 */
function nextValidatorInfo(
  before: ValidatorInfo,
  config: ConfigDictionary,
  key_block: boolean,
  { prev_utime, gen_utime }: { readonly prev_utime: number; readonly gen_utime: number },
): ValidatorInfo {
  const { hash } = computeValidatorGroup(validatorConfigOf(config), MASTERCHAIN_SHARD, 0);
  const ends = passesMultiple(sessionLifetimes(config).mc_catchain_lifetime, prev_utime, gen_utime);
  const updated = key_block || ends || hash !== before.validator_list_hash_short;
  return {
    validator_list_hash_short: hash,
    catchain_seqno: before.catchain_seqno + (updated ? 1 : 0),
    nx_cc_updated: updated,
  };
}

/** The extra of a masterchain block. @param messages as made by the block's special transactions */
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

/** `prev_key_block_seqno` of a block's header. @param before of the masterchain state that the block is made on */
export function prevKeyBlockSeqno(before: McStateExtra, masterchain: Pick<BlockId, 'seqno'>): number {
  const { after_key_block, last_key_block } = before.info.value;
  return after_key_block ? masterchain.seqno : (last_key_block?.seq_no ?? 0);
}
