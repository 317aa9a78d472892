import type { BlockId } from '#formats/proofs/block-id.js';
import type { ConfigParams } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import type { McBlockExtra, McBlockMessages } from '#formats/tlb/mc-block-extra.js';
import type { McStateExtra } from '#formats/tlb/mc-state-extra.js';
import type { ShardAccounts } from '#formats/tlb/shard-account.js';
import type { ShardHashes } from '#formats/tlb/shard-hashes.js';
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
  /** After the block's transactions: see {@link configOfAccounts}. */
  readonly config: ConfigParams;
  readonly gen_utime: number;
  /** `global_balance` after the block: see `globalBalanceAfter`. */
  readonly global_balance: CurrencyCollection;
  /** Public keys (`created_by`) of this block and of all blocks of shards that it newly commits, for the statistics. */
  readonly created_by: Uint8Array;
  readonly shards_created_by: readonly Uint8Array[];
}

export interface NextMcState {
  readonly extra: McStateExtra;
  /** Whether the block is a key block: then it carries `extra.config`. */
  readonly key_block: boolean;
}

/** The extra of the state after a masterchain block. It is a key block when the configuration is another one. */
export declare function nextMcStateExtra(step: McStateStep): NextMcState;

/**
 * The configuration after the transactions of a block: what the configuration contract has in the first reference of its
 * data. A configuration that is no valid one is passed over, as nodes do; `before` then stays.
 *
 * @param accounts the accounts of the masterchain after the block
 */
export declare function configOfAccounts(accounts: ShardAccounts, before: ConfigParams): ConfigParams;

/** The extra of a masterchain block. @param messages as made by the block's special transactions */
export declare function mcBlockExtra(
  next: NextMcState,
  registered: RegisteredShards,
  messages: Pick<McBlockMessages, 'recover_create_msg' | 'mint_msg'>,
): McBlockExtra;

/** `prev_key_block_seqno` of a block's header. @param before of the masterchain state that the block is made on */
export declare function prevKeyBlockSeqno(before: McStateExtra, masterchain: Pick<BlockId, 'seqno'>): number;
