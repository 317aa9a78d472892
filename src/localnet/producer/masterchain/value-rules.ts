import type { Cell } from '#formats/cells/cell.js';
import type { Shard } from '#formats/proofs/block-id.js';
import type { ConfigDictionary } from '#formats/tlb/config/config-params.js';
import type { CurrencyCollection } from '#formats/tlb/currency.js';
import type { ShardFees } from '#formats/tlb/shard-fees.js';

/** `created` of a block's value flow: what parameter 14 gives for it. Zero in other workchains than 0 and the masterchain. */
export declare function createdValue(config: ConfigDictionary, shard: Shard): CurrencyCollection;

/** What a masterchain block is to bring to accounts by messages that no account sends. */
export interface SpecialValues {
  /** `recovered` of the value flow; zero when there is no collector, or too little for a message. */
  readonly recovered: CurrencyCollection;
  /** Account id (32 bytes) in the masterchain; `null` when nothing is recovered. */
  readonly collector: Uint8Array | null;
  /** `minted` of the value flow: extra currencies up to parameter 7. */
  readonly minted: CurrencyCollection;
  readonly minter: Uint8Array | null;
}

/**
 * @param before `total_validator_fees` and `global_balance` of the masterchain state before
 * @param shard_fees of the block: see `registerShards`
 */
export declare function specialValues(
  config: ConfigDictionary,
  before: { readonly total_validator_fees: CurrencyCollection; readonly global_balance: CurrencyCollection },
  shard_fees: ShardFees,
): SpecialValues;

/**
 * The message that recovers fees or mints (`Message`): from account 0 of the masterchain, with the block's `start_lt` as
 * `created_lt`. Its transaction is the next after the ticks; `recover_create_msg` and `mint_msg` take its `InMsg`.
 */
export declare function specialMessage(
  dest: Uint8Array,
  value: CurrencyCollection,
  start_lt: bigint,
  gen_utime: number,
): Cell;

/** `global_balance` after a masterchain block. */
export declare function globalBalanceAfter(
  before: CurrencyCollection,
  block: {
    readonly created: CurrencyCollection;
    readonly minted: CurrencyCollection;
    readonly burned: CurrencyCollection;
    readonly shard_fees: ShardFees;
  },
): CurrencyCollection;
