import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { isMasterchain, type Shard } from '#formats/proofs/block-id.js';
import { type Account, ShardAccount } from '#formats/tlb/account.js';
import { MASTERCHAIN, shardPrefixLength } from '#formats/tlb/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { type ConfigDictionary, configParam } from '#formats/tlb/config/config-params.js';
import {
  addCurrency,
  type CurrencyCollection,
  ExtraCurrencyCollection,
  NO_CURRENCY,
  onlyGrams,
} from '#formats/tlb/currency.js';
import { type CommonMsgInfo, Message } from '#formats/tlb/message.js';
import type { ShardFees } from '#formats/tlb/shard-hashes.js';
import type { BlockAccount } from '#localnet/producer/block-accounts.js';

/** Nanotons; smaller amounts are left for a later block. */
const LEAST_RECOVERED = 1_000_000_000n;

/** `created` of a block's value flow, from parameter 14. Zero outside workchain 0 and the masterchain. */
export function createdValue(config: ConfigDictionary, shard: Shard): CurrencyCollection {
  const fees = configParam(config, 14);
  if (fees === undefined) return NO_CURRENCY;
  if (isMasterchain(shard)) return onlyGrams(fees.masterchain_block_fee);
  if (shard.workchain !== 0) return NO_CURRENCY;
  return onlyGrams(fees.basechain_block_fee >> BigInt(shardPrefixLength(shard.shard)));
}

/**
 * The part of fees that is burned (parameter 5): of a masterchain block's own fees (transactions and message imports),
 * and of the fees that its shards send, less what they created. Each part is rounded down separately; shard blocks burn
 * nothing. In nanotons; extra currencies are not burned.
 */
export function burnedOfFees(config: ConfigDictionary, fees: bigint): bigint {
  const burning = configParam(config, 5);
  if (burning === undefined || fees <= 0n) return 0n;
  return (fees * BigInt(burning.fee_burn_num)) / BigInt(burning.fee_burn_denom);
}

/** Fees that a masterchain block imports from its shards. */
export interface ImportedFees {
  /** `fees_imported` of the value flow. */
  readonly fees_imported: CurrencyCollection;
  /** The part that counts as `burned`; the rest counts as `fees_collected`. */
  readonly burned: CurrencyCollection;
}

/** @param shard_fees of the block: see `registerShards` */
export function importedFees(config: ConfigDictionary, shard_fees: ShardFees): ImportedFees {
  const { fees, create } = shard_fees.extra;
  return { fees_imported: fees, burned: onlyGrams(burnedOfFees(config, fees.grams - create.grams)) };
}

/** Values that a masterchain block sends to accounts by special messages. */
export interface SpecialValues {
  /** `recovered` of the value flow; zero when there is no fee collector, or too little for a message. */
  readonly recovered: CurrencyCollection;
  /** Account id (32 bytes) in the masterchain; `null` when nothing is recovered. */
  readonly collector: Uint8Array | null;
  /** `minted` of the value flow: extra currencies up to the amounts of parameter 7. */
  readonly minted: CurrencyCollection;
  readonly minter: Uint8Array | null;
}

/**
 * Each block recovers all fees that the masterchain has: those left for the validators before, what this block creates,
 * and what its shards send. The fees of its own transactions are not known yet and left for the next block.
 *
 * @param config in the previous state, as are `total_validator_fees` and `global_balance`
 * @param shard_fees of the block: see `registerShards`
 */
export function specialValues(
  config: ConfigDictionary,
  before: { readonly total_validator_fees: CurrencyCollection; readonly global_balance: CurrencyCollection },
  shard_fees: ShardFees,
): SpecialValues {
  const created = configParam(config, 14)?.masterchain_block_fee ?? 0n;
  const { fees_imported, burned } = importedFees(config, shard_fees);
  const all = [before.total_validator_fees, onlyGrams(created - burned.grams), fees_imported].reduce(addCurrency);
  const collector = configParam(config, 3) ?? configParam(config, 1) ?? null;
  const recovers = collector !== null && all.grams >= LEAST_RECOVERED;
  const minter = configParam(config, 2) ?? null;
  const minted = minter === null ? NO_CURRENCY : mintedValue(config, before.global_balance);
  return {
    recovered: recovers ? all : NO_CURRENCY,
    collector: recovers ? collector : null,
    minted,
    minter: minted.other.isEmpty ? null : minter,
  };
}

/** For each currency in parameter 7, the amount that the global balance lacks. */
function mintedValue(config: ConfigDictionary, existing: CurrencyCollection): CurrencyCollection {
  const missing: (readonly [number, bigint])[] = [];
  for (const [id, amount] of configParam(config, 7) ?? []) {
    const more = amount - (existing.other.get(id) ?? 0n);
    if (more > 0n) missing.push([id, more]);
  }
  return { grams: 0n, other: ExtraCurrencyCollection.of(missing) };
}

/**
 * The message that recovers fees or mints (`Message`): from account 0 of the masterchain, with the block's `start_lt`
 * as `created_lt`. Its transaction follows the ticks; `recover_create_msg` and `mint_msg` refer to its `InMsg`.
 */
export function specialMessage(dest: Uint8Array, value: CurrencyCollection, start_lt: bigint, gen_utime: number): Cell {
  const info: CommonMsgInfo = {
    kind: 'int_msg_info',
    ihr_disabled: true,
    bounce: true,
    bounced: false,
    src: Address.ofParts(MASTERCHAIN, new Uint8Array(32)),
    dest: Address.ofParts(MASTERCHAIN, dest),
    value,
    extra_flags: 0n,
    fwd_fee: 0n,
    created_lt: start_lt,
    created_at: gen_utime,
  };
  const body = { kind: 'left', value: openCell(new Builder().endCell()) } as const;
  return encodeCell(Message, { info, init: null, body });
}

/** `global_balance` after a masterchain block; burned value stays counted. */
export function globalBalanceAfter(
  before: CurrencyCollection,
  block: {
    readonly created: CurrencyCollection;
    readonly minted: CurrencyCollection;
    readonly shard_fees: ShardFees;
  },
): CurrencyCollection {
  const { created, minted, shard_fees } = block;
  return [before, created, minted, shard_fees.extra.create].reduce(addCurrency);
}

/** The difference per currency; `a` has at least as much of each. */
export function subtractCurrency(a: CurrencyCollection, b: CurrencyCollection): CurrencyCollection {
  let { other } = a;
  for (const [id, amount] of b.other) {
    const left = (other.get(id) ?? 0n) - amount;
    other = left === 0n ? other.delete(id) : other.set(id, left);
  }
  return { grams: a.grams - b.grams, other };
}

/** Whether the amounts are equal; currencies with amount zero are ignored. */
export function sameCurrency(a: CurrencyCollection, b: CurrencyCollection): boolean {
  if (a.grams !== b.grams) return false;
  if (a.other.isEmpty && b.other.isEmpty) return true;
  const left = new Map(a.other);
  for (const [id, amount] of b.other) {
    if ((left.get(id) ?? 0n) !== amount) return false;
    left.delete(id);
  }
  return [...left.values()].every((amount) => amount === 0n);
}

/** For error messages: `12 nanotons, 5 of currency 239`. */
export function printCurrency({ grams, other }: CurrencyCollection): string {
  return [`${grams} nanotons`, ...[...other].map(([id, amount]) => `${amount} of currency ${id}`)].join(', ');
}

/**
 * Nanotons that vanished in an account during a block: balance before and received value, less balance after, sent
 * value and fees. At the blackhole address (parameter 5) that is everything it receives, elsewhere zero.
 */
export function blackholeCoins({ before, current, transactions }: BlockAccount): bigint {
  let vanished = gramsOf(decodeCell(ShardAccount, before).account.value);
  vanished -= gramsOf(decodeCell(ShardAccount, current).account.value);
  for (const { value } of transactions) {
    const received = value.in_msg?.value.info;
    if (received?.kind === 'int_msg_info') vanished += received.value.grams;
    vanished -= value.total_fees.grams;
    for (const [, { value: sent }] of value.out_msgs)
      if (sent.info.kind === 'int_msg_info') vanished -= sent.info.value.grams + sent.info.fwd_fee;
  }
  return vanished;
}

function gramsOf(account: Account): bigint {
  return account.kind === 'account' ? account.storage.balance.grams : 0n;
}
